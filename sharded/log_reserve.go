package sharded

// Reserve charges n permits of key under limit that act at the time at, which is not before now, and
// reports whether it did: if they may not act then, or the key has no log, nothing is charged. Peek
// tells the first time at which they may. generation is that of the log, for [Logs.Refund]: until it
// has acted a reservation is given up as any other charge, and those after it keep their times. Until
// the newest reservation acts, nothing else passes.
//
// Concurrency and cost are those of [Logs.Take]. A log has room for its reservations besides its
// limit.
func (g *Logs[K]) Reserve(key K, limit LogLimit, n, now, at int64) (generation uint64, ok bool) {
	r, found := g.rings.Load(key)
	if !found || n < 1 {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead() {
		return 0, false
	}
	limit = limit.least()
	now = r.enter(limit, now)
	at = max(at, now)
	if d, _ := r.judge(limit, n, at); !d.Allowed {
		return 0, false
	}
	r.expire(r.firstLive(now, limit.WindowNanos))
	r.push(at, n)
	return r.generation, true
}
