package sharded

import "math"

// A limit may change from a sliding window log to an algorithm whose state lives
// elsewhere, or back. Then the key moves, with what it has used, by Evacuate here
// and by Settle here again. So that it never has two homes, the caller holds a
// lock of its own for the key during the whole move, and lets no take make a log
// outside of it: under that lock by Settle, else by TakeExisting only. Any such
// lock is taken before those of the table, which are held for one call at most.

// Evacuate drops the log of key and returns how many of its permits still count,
// under the limit that the log is under, at now or the latest time that it has
// seen. No take is lost: one that comes later finds no log. ok is false if there
// was no log to drop. A new log of any key starts at that time or later, so that
// time does not move back for a key that returns. key is not kept: nobody can have
// made another log of it meanwhile.
func (g *Logs[K]) Evacuate(key K, now int64) (used int64, ok bool) {
	for {
		r, found := g.rings.Load(key)
		if !found {
			return 0, false
		}
		r.mu.Lock()
		if ok = !r.dead(); ok {
			now = max(now, r.latestNanos)
			used = r.used(r.firstLive(now, r.rule.WindowNanos))
			g.raiseFloor(now)
			g.kill(r)
		}
		r.mu.Unlock()
		g.unlink(key, r, nil)
		if ok {
			return used, true
		}
	}
}

// Settle makes the log of a key that has none and owes used permits, all of them
// charged at now even beyond the limit, and then is Take for n more at now. A key
// that comes with usage had a place before: it gets its log whether or not the n
// are allowed, and the cap does not apply to it. Without usage, Settle is Take. If
// the key has a log all the same, it owes used more.
func (g *Logs[K]) Settle(key K, limit LogLimit, used, n, now int64) LogDecision {
	limit, used = limit.least(), max(used, 0)
	if used == 0 && !limit.charges(n) {
		return g.Peek(key, limit, n, now)
	}
	for {
		r, found := g.rings.Load(key)
		if !found {
			if d, done := g.takeNew(key, limit, used, n, now, nil); done {
				return d
			}
			continue
		}
		if d, alive := r.settle(limit, used, n, now); alive {
			return d
		}
		g.unlink(key, r, nil)
	}
}

// settle charges used permits whatever the limit and then is take, for any n.
func (r *logRing) settle(rule LogLimit, used, n, now int64) (d LogDecision, alive bool) {
	r.mu.Lock()
	if alive = !r.dead(); alive {
		d = r.settleLocked(rule, used, n, now)
	}
	r.mu.Unlock()
	return d, alive
}

// settleLocked is settle for a holder of the lock of a ring that is not dead, or
// for the maker of a ring that nobody else can see yet.
func (r *logRing) settleLocked(rule LogLimit, used, n, now int64) LogDecision {
	if used > 0 {
		now = r.enter(rule, now)
		r.expire(r.firstLive(now, rule.WindowNanos))
		if room := math.MaxInt64 - r.used(0); room > 0 {
			r.push(max(now, r.newest()), min(used, room))
		}
	}
	return r.takeLocked(rule, n, now)
}
