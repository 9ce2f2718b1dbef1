package sharded

import "sort"

// Refund gives back n permits of a charge to key, made at the effective time at
// to the log of that generation (both from the LogDecision of the charge), and
// reports whether it did. It is exact or nothing: afterwards all is as if the n
// permits had never been taken, and if that cannot be, because the log is another
// one by now or the charge does not count any more at time now, nothing changes.
//
// Charges of one nanosecond share an entry, so the caller must not give back more
// than it took. Cost: O(entries younger than the charge), under the key's lock.
func (g *Logs[K]) Refund(key K, generation uint64, at, n, now int64) bool {
	r, found := g.rings.Load(key)
	if !found || n < 1 || generation == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.generation == generation && r.refund(at, n, max(now, r.latestNanos))
}

// refund removes n permits of the entry of time at, if it counts at now (not
// before latestNanos) and holds as many.
func (r *logRing) refund(at, n, now int64) bool {
	first := r.firstLive(now, r.rule.WindowNanos)
	i := first + sort.Search(r.size-first, func(i int) bool { return r.stamp(first+i) >= at })
	if i == r.size || r.stamp(i) != at || r.end(i)-r.end(i-1) < uint64(n) {
		return false
	}
	r.remove(i, uint64(n))
	return true
}

// remove takes n permits out of the i-th oldest entry, which holds as many. An
// entry that is left with none makes room: younger ones move up, with their times.
func (r *logRing) remove(i int, n uint64) {
	moved := 0
	if r.end(i)-r.end(i-1) == n {
		moved = 1
		r.size--
	}
	for ; i < r.size; i++ {
		to, from := r.position(i), r.position(i+moved)
		r.stamps[to] = r.stamps[from]
		if r.ends != nil {
			r.ends[to] = r.ends[from] - n
		}
	}
}
