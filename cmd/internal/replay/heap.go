package replay

// minHeap is a binary heap: the first item is one that no other is less than.
type minHeap[T any] struct {
	items []T
	less  func(a, b T) bool
}

// push adds an item.
func (h *minHeap[T]) push(item T) {
	h.items = append(h.items, item)
	for child := len(h.items) - 1; child > 0; {
		parent := (child - 1) / 2
		if !h.less(h.items[child], h.items[parent]) {
			return
		}
		h.items[child], h.items[parent] = h.items[parent], h.items[child]
		child = parent
	}
}

// pop removes the first item, which must exist, and returns it.
func (h *minHeap[T]) pop() T {
	first, last := h.items[0], len(h.items)-1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.settle()
	return first
}

// settle puts the first item in its place after it has become greater.
func (h *minHeap[T]) settle() {
	for parent := 0; ; {
		least := parent
		for child := 2*parent + 1; child <= 2*parent+2 && child < len(h.items); child++ {
			if h.less(h.items[child], h.items[least]) {
				least = child
			}
		}
		if least == parent {
			return
		}
		h.items[parent], h.items[least] = h.items[least], h.items[parent]
		parent = least
	}
}
