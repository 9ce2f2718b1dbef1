package fair

// heap is a binary heap of tenants, the first of them on top. A tenant knows its place in it, so
// that it can be taken out wherever it is. Each change costs O(log of the tenants in it).
type heap[T comparable] struct {
	items []*tenant[T]
	less  func(a, b *tenant[T]) bool
	place func(*tenant[T]) *int // where a tenant keeps its place
}

// top returns the first tenant, nil if there is none.
func (h *heap[T]) top() *tenant[T] {
	if len(h.items) == 0 {
		return nil
	}
	return h.items[0]
}

func (h *heap[T]) push(t *tenant[T]) {
	h.items = append(h.items, t)
	*h.place(t) = len(h.items) - 1
	h.up(len(h.items) - 1)
}

func (h *heap[T]) remove(t *tenant[T]) {
	i, end := *h.place(t), len(h.items)-1
	h.swap(i, end)
	h.items[end] = nil
	h.items = h.items[:end]
	if i < end {
		h.fix(h.items[i])
	}
}

// fix puts a tenant in its place after what it is ordered by has changed.
func (h *heap[T]) fix(t *tenant[T]) {
	h.up(*h.place(t))
	h.down(*h.place(t))
}

func (h *heap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.items[i], h.items[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *heap[T]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			return
		}
		if right := child + 1; right < len(h.items) && h.less(h.items[right], h.items[child]) {
			child = right
		}
		if !h.less(h.items[child], h.items[i]) {
			return
		}
		h.swap(i, child)
		i = child
	}
}

func (h *heap[T]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.place(h.items[i]), *h.place(h.items[j]) = i, j
}
