package interleave

import "slices"

// MapOf does what the core asks of an xsync.MapOf. A look-up is one point; what writes holds a lock, that
// of the key's bucket, of which there is one here: so any two keys may meet in a bucket. How the map
// does its part is not explored: it is taken for what its documentation promises, that every look-up
// and every change is one step, and that functions passed in run under the bucket's lock, but for that of
// Range.
type MapOf[K comparable, V any] struct {
	bucket Mutex
	held   map[K]V
	order  []K // of insertion: Range must be the same in each execution
	change Uint64
}

// NewMapOf returns an empty map.
func NewMapOf[K comparable, V any]() *MapOf[K, V] { return &MapOf[K, V]{held: map[K]V{}} }

// Load is a point.
func (m *MapOf[K, V]) Load(key K) (value V, ok bool) {
	m.change.Load()
	value, ok = m.held[key]
	return value, ok
}

// Size is a point.
func (m *MapOf[K, V]) Size() int {
	m.change.Load()
	return len(m.held)
}

// Store is a point at the lock, and one at the change.
func (m *MapOf[K, V]) Store(key K, value V) {
	m.Compute(key, func(V, bool) (V, bool) { return value, false })
}

// Delete is a point at the lock, and one at the change.
func (m *MapOf[K, V]) Delete(key K) {
	m.Compute(key, func(old V, _ bool) (V, bool) { return old, true })
}

// LoadOrTryCompute returns the value of key; if there is none it calls compute under the lock and, unless
// that says to cancel, stores what it returned.
func (m *MapOf[K, V]) LoadOrTryCompute(key K, compute func() (value V, cancel bool)) (value V, loaded bool) {
	if value, loaded = m.Load(key); loaded {
		return value, true
	}
	m.bucket.Lock()
	defer m.bucket.Unlock()
	if value, loaded = m.held[key]; loaded {
		return value, true
	}
	value, cancel := compute()
	if cancel {
		var zero V
		return zero, false
	}
	m.write(key, value)
	return value, false
}

// Compute calls compute under the lock and stores what it returned, or deletes the key.
func (m *MapOf[K, V]) Compute(key K, compute func(old V, loaded bool) (value V, remove bool)) (actual V, ok bool) {
	m.bucket.Lock()
	defer m.bucket.Unlock()
	old, loaded := m.held[key]
	value, remove := compute(old, loaded)
	switch {
	case !remove:
		m.write(key, value)
		return value, true
	case loaded:
		m.change.Add(1)
		delete(m.held, key)
		m.order = slices.DeleteFunc(m.order, func(k K) bool { return k == key })
	}
	return old, false
}

// write stores a value, in one step.
func (m *MapOf[K, V]) write(key K, value V) {
	m.change.Add(1)
	if _, known := m.held[key]; !known {
		m.order = append(m.order, key)
	}
	m.held[key] = value
}

// Range copies the bucket under its lock and visits the copy without it.
func (m *MapOf[K, V]) Range(visit func(key K, value V) bool) {
	m.bucket.Lock()
	keys := slices.Clone(m.order)
	values := make([]V, len(keys))
	for i, key := range keys {
		values[i] = m.held[key]
	}
	m.bucket.Unlock()
	for i, key := range keys {
		if !visit(key, values[i]) {
			return
		}
	}
}
