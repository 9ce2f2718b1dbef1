package sharded

// UsedBy returns the permits of key that count at now under its own limit, or at the latest time
// that it has seen; ok is false if it has no log.
func (g *Logs[K]) UsedBy(key K, now int64) (used int64, ok bool) {
	r, found := g.rings.Load(key)
	if !found {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead() {
		return 0, false
	}
	now = max(now, r.latestNanos)
	return r.used(r.firstLive(now, r.rule.WindowNanos)), true
}
