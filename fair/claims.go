package fair

import "math"

// claims is the tenants whose last call of Take was refused, in the order of their tags, with the
// sum of what they claim: a treap. Each change, and a sum over all before a tag, cost O(log of the
// claims), on average over the priorities, which are a hash of the tenants' orders.
type claims[T comparable] struct{ root *tenant[T] }

// add adds a tenant; its start, order and claim must not change until it is removed.
func (c *claims[T]) add(t *tenant[T]) { c.root = insert(c.root, t) }

func (c *claims[T]) remove(t *tenant[T]) { c.root = cut(c.root, t) }

// first returns the tenant that comes first, nil if there is none.
func (c *claims[T]) first() *tenant[T] {
	t := c.root
	for t != nil && t.left != nil {
		t = t.left
	}
	return t
}

// before returns how many permits are claimed at tags before at.
func (c *claims[T]) before(at tag) (sum int64) {
	for t := c.root; t != nil; {
		if !t.start.before(at) {
			t = t.left
			continue
		}
		sum = add(sum, add(t.claim, claimed(t.left)))
		t = t.right
	}
	return sum
}

// add returns a + b of numbers that are not negative, the largest if that is too large.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func claimed[T comparable](t *tenant[T]) int64 {
	if t == nil {
		return 0
	}
	return t.claims
}

func (t *tenant[T]) sumUp() { t.claims = add(t.claim, add(claimed(t.left), claimed(t.right))) }

// priority is the finalizer of SplitMix64, over the order in which the claims came.
func (t *tenant[T]) priority() uint64 {
	h := t.order * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// insert adds t to the tree of root and returns its new root.
func insert[T comparable](root, t *tenant[T]) *tenant[T] {
	switch {
	case root == nil || t.priority() > root.priority():
		t.left, t.right = split(root, t)
		root = t
	case earlier(t, root):
		root.left = insert(root.left, t)
	default:
		root.right = insert(root.right, t)
	}
	root.sumUp()
	return root
}

// split parts the tree of root into those before t and those after it.
func split[T comparable](root, t *tenant[T]) (before, after *tenant[T]) {
	if root == nil {
		return nil, nil
	}
	if earlier(root, t) {
		root.right, after = split(root.right, t)
		before = root
	} else {
		before, root.left = split(root.left, t)
		after = root
	}
	root.sumUp()
	return before, after
}

// cut takes t out of the tree of root and returns its new root.
func cut[T comparable](root, t *tenant[T]) *tenant[T] {
	switch {
	case root == nil:
		return nil
	case root == t:
		root = merge(t.left, t.right)
		t.left, t.right = nil, nil
		return root
	case earlier(t, root):
		root.left = cut(root.left, t)
	default:
		root.right = cut(root.right, t)
	}
	root.sumUp()
	return root
}

// merge makes one tree of two, all of a before all of b.
func merge[T comparable](a, b *tenant[T]) *tenant[T] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority() > b.priority():
		a.right = merge(a.right, b)
		a.sumUp()
		return a
	}
	b.left = merge(a, b.left)
	b.sumUp()
	return b
}
