package sharded

// takeNew is take for a key that had no log a moment ago and owes used permits.
// It publishes a ring that is charged already, so that no sweep can find it
// unused. done is false if the key has a log by now.
func (g *Logs[K]) takeNew(key K, limit LogLimit, used, n, now int64, own func(K) K) (d LogDecision, done bool) {
	if !sameLogKey(key, key) { // it would never be found again, not even to be dropped
		return newLogRing(limit).settleLocked(limit, used, n, now), true
	}
	if used == 0 && g.full() { // a flood of new keys at the cap makes no garbage
		absent := g.absent(key)
		return LogDecision{Full: absent}, absent
	}
	if own != nil {
		key = own(key)
	}
	return g.insert(key, limit, used, n, now)
}

// peekNew is Peek for a key that had no log a moment ago. done is false if it
// has one by now.
func (g *Logs[K]) peekNew(key K, limit LogLimit, n, now int64) (d LogDecision, done bool) {
	if limit.charges(n) && sameLogKey(key, key) && g.full() {
		absent := g.absent(key)
		return LogDecision{Full: absent}, absent
	}
	var unused logRing
	d, _ = unused.judge(limit, n, now)
	return d, true
}

// sameLogKey is ==, for a comparison of a key with itself that is meant.
func sameLogKey[K comparable](a, b K) bool { return a == b }

// absent tells whether key has no ring and none is being inserted: a place is
// reserved a moment before its ring can be found, and the key that fills the
// table must not be told that it is full. The bucket's lock covers that moment.
func (g *Logs[K]) absent(key K) bool {
	_, found := g.rings.LoadOrTryCompute(key, func() (*logRing, bool) { return nil, true })
	return !found
}

// insert is the part of takeNew that writes to the table.
func (g *Logs[K]) insert(key K, limit LogLimit, used, n, now int64) (d LogDecision, done bool) {
	fresh := newLogRing(limit)
	r, found := g.rings.LoadOrTryCompute(key, func() (*logRing, bool) {
		// The bucket of key is locked: nobody else can insert or drop it.
		if !g.reserve(used > 0) {
			return nil, true
		}
		fresh.generation = g.births.Add(1)
		d = fresh.settleLocked(limit, used, n, max(now, g.floorNanos.Load()))
		return fresh, false
	})
	switch {
	case found:
		return LogDecision{}, false
	case r == nil:
		return LogDecision{Full: true}, true
	}
	return d, true
}

// reserve counts one more key, unless the table is at its cap and the key does
// not move in with usage: to refuse that one would forgive the usage. The count is
// raised before a ring is in the table and lowered when it dies, so new keys never
// make more rings that count than the cap; and a key is never told that the
// table is full because somebody who drops a ring was interrupted half way.
func (g *Logs[K]) reserve(moves bool) bool {
	for {
		keys, most := g.keys.Load(), g.maxKeys.Load()
		if most > 0 && keys >= most && !moves {
			return false
		}
		if g.keys.CompareAndSwap(keys, keys+1) {
			return true
		}
	}
}

// kill marks the ring r, which is alive and locked by the caller, dead.
func (g *Logs[K]) kill(r *logRing) {
	r.generation = 0
	g.keys.Add(-1)
}

// unlink takes the dead ring r of key out of the table, if it is still there.
// Whoever killed it does so, and whoever meets it helps instead of waiting. The map
// stores the key that it is given even if another ring is there and stays, so it
// gets one that may be kept: own makes it, nil if key itself may be.
func (g *Logs[K]) unlink(key K, r *logRing, own func(K) K) {
	if own != nil {
		key = own(key)
	}
	g.rings.Compute(key, func(current *logRing, found bool) (*logRing, bool) {
		return current, !found || current == r
	})
}

// Sweep drops the logs of which every entry has expired at time now under the
// limit that the log is under, and gives back memory that others no longer use. It returns how many it dropped. No take
// is lost: a ring is marked dead under its lock, while it equals a new one,
// before it leaves the table, and a take that meets a dead ring looks its key up
// again. A log that has seen a later time than now is left alone.
//
// budget is asked before each log is looked at, under no lock; false ends the
// sweep, and the next one with a budget goes on about where this one ended. A
// nil budget looks at all logs. A log is locked only while it is looked at.
func (g *Logs[K]) Sweep(now int64, budget func() bool) (dropped int) {
	var skip, seen int64
	if budget != nil {
		skip = g.cursor.Load()
	}
	ended := true
	g.rings.Range(func(key K, r *logRing) bool {
		if seen++; seen <= skip {
			return true
		}
		if budget != nil && !budget() {
			ended = false
			return false
		}
		if g.forget(key, r, now) {
			dropped++
		}
		return true
	})
	if ended {
		g.cursor.Store(0)
	} else {
		g.cursor.Store(seen - 1 - int64(dropped)) // the one refused is next
	}
	return dropped
}

// MakeRoom looks at some logs, always the first of the table, and drops those that
// equal new ones at time now. It reports whether it dropped any. Unlike a sweep that
// goes on where the last one ended, which has to pass by all logs before, it costs
// the same in a table of any size: it is for a new key that found the table full.
func (g *Logs[K]) MakeRoom(now int64, looks int) (made bool) {
	g.rings.Range(func(key K, r *logRing) bool {
		made = g.forget(key, r, now) || made
		looks--
		return looks > 0
	})
	return made
}

// forget drops the ring of key if it equals a new one at time now; if not, it
// trims it.
func (g *Logs[K]) forget(key K, r *logRing, now int64) bool {
	r.mu.Lock()
	if r.dead() || !r.idle(now) {
		if !r.dead() {
			r.trim()
		}
		r.mu.Unlock()
		return false
	}
	g.raiseFloor(now)
	g.kill(r)
	r.mu.Unlock()
	g.unlink(key, r, nil)
	return true
}

// raiseFloor makes now the least time of the next take of a key without a log.
func (g *Logs[K]) raiseFloor(now int64) {
	for {
		floor := g.floorNanos.Load()
		if floor >= now || g.floorNanos.CompareAndSwap(floor, now) {
			return
		}
	}
}
