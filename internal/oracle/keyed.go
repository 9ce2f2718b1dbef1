package oracle

// Keyed is a model per key: what a limiter with many keys must equal.
type Keyed[K comparable] struct {
	// OneClock makes all keys share the largest time seen, as a limiter does
	// that keeps it once. Otherwise each key knows its own only. Set it before
	// the first call.
	OneClock bool

	fresh  func() Model
	time   latest
	models map[K]Model
}

// NewKeyed returns an empty table; fresh makes the model of a new key.
func NewKeyed[K comparable](fresh func() Model) *Keyed[K] {
	return &Keyed[K]{fresh: fresh, models: make(map[K]Model)}
}

// model returns the model of key; a new one is not put in the table.
func (k *Keyed[K]) model(key K) Model {
	if m, ok := k.models[key]; ok {
		return m
	}
	return k.fresh()
}

// at returns the time that a call at now happens at.
func (k *Keyed[K]) at(now int64) int64 {
	if k.OneClock {
		return k.time.effective(now)
	}
	return now
}

// Take asks for n permits of key. See [Model].
func (k *Keyed[K]) Take(key K, now, n int64) (allowed bool, retryAfterNanos int64) {
	now = k.at(now)
	if n > 0 {
		k.time.see(now)
	}
	m := k.model(key)
	k.models[key] = m
	return m.Take(now, n)
}

// Peek is the answer that Take would give; it changes nothing.
func (k *Keyed[K]) Peek(key K, now, n int64) (allowed bool, retryAfterNanos int64) {
	return k.model(key).Peek(k.at(now), n)
}

// Remaining is the largest n that Peek would allow.
func (k *Keyed[K]) Remaining(key K, now int64) int64 {
	return k.model(key).Remaining(k.at(now))
}

// ResetAfter is the time until key equals a new one. See [Model].
func (k *Keyed[K]) ResetAfter(key K, now int64) int64 {
	return k.model(key).ResetAfter(k.at(now))
}

// Reset makes key a new one.
func (k *Keyed[K]) Reset(key K) {
	delete(k.models, key)
}

// Len is the number of keys that do not equal a new one at time now: the fewest
// that a limiter may hold.
func (k *Keyed[K]) Len(now int64) int {
	n := 0
	for _, m := range k.models {
		if m.ResetAfter(k.at(now)) != 0 {
			n++
		}
	}
	return n
}
