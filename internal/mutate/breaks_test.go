package mutate

// piece is a text of the core, found there once, and what it is replaced by.
type piece struct{ from, to string }

// broken is a rule of the core that is broken, and who catches it.
type broken struct {
	what   string // without the rule
	file   string
	pieces []piece
	by     catcher
}

// catcher is a test. A program is one of docs/interleavings.md.
type catcher struct {
	kind kind
	dir  string
	test string
}

type kind string

const (
	program    kind = "program"
	fuzzing    kind = "fuzz corpus"
	oracles    kind = "oracle"
	properties kind = "property"
	stress     kind = "stress test"
)

func explored(test string) catcher { return catcher{program, "engine", "TestInterleave" + test} }

const (
	grow      = "sharded/grow.go"
	table     = "sharded/table.go"
	insertion = "sharded/insert.go"
	bucket    = "atomicstate/bucket.go"
	swapMoved = "word := s.word.Swap(atomicstate.Moved)\n"
)

// breaks are what did not hold, once, in the core or in a model of it.
var breaks = []broken{
	{
		"a charge is stored, not compared and swapped", "engine/try.go",
		[]piece{{"if slot.CompareAndSwap(word, next) { // 6\n\t\treturn next, now, true, true", "if slot.Store(next); true {\n\t\treturn next, now, true, true"}}, explored("TakeTake"),
	},
	{
		"the lock is taken, and the key not looked up again", insertion,
		[]piece{{"p := l.probe(id)\n", "p := l.probe(id)\n\tp.own = nil\n"}}, explored("NewKey"),
	},
	{
		"a new key is charged before the time at which it was forgotten", insertion,
		[]piece{{"at = max(now, t.clock(), l.floor)", "at = max(now, t.clock())"}}, explored("ClocksApart"),
	},
	{
		"a leaf that was replaced is inserted into", insertion,
		[]piece{{"if l.replaced {\n\t\tt.counters.staleLeaves.Add(1)\n\t\treturn Retry, 0, 0", "if false {\n\t\treturn Retry, 0, 0"}}, explored("TwoSplitOne"),
	},
	{
		"all words are copied, and frozen afterwards", grow,
		[]piece{{swapMoved, "word := s.word.Load()\n"}, {"	t.keys.Add(-int64(dropped))\n", "	for i := range l.slots {\n		if s := &l.slots[i]; s.word.Load() != atomicstate.Empty {\n			s.word.Store(atomicstate.Moved)\n		}\n	}\n	t.keys.Add(-int64(dropped))\n"}},
		explored("TakeSplit"),
	},
	{
		"a word is read, and then frozen", grow,
		[]piece{{swapMoved, "word := s.word.Load()\n\t\ts.word.Store(atomicstate.Moved)\n"}}, explored("TakeSplit"),
	},
	{
		"a word is judged before it is frozen", grow,
		[]piece{
			{swapMoved, "judged := s.word.Load()\n\t\t" + swapMoved},
			{"case t.law(limitOf(s.check)).EqualsNew(word, base, now):", "case atomicstate.IsLive(judged) && t.law(limitOf(s.check)).EqualsNew(judged, base, now):"},
		}, explored("TakeSweepStep"),
	},
	{
		"a leaf is published before the one that it replaces is frozen", grow,
		[]piece{
			{"fresh := newLeaf(l.depth, l.prefix) // before the first word is frozen\n", "fresh := newLeaf(l.depth, l.prefix)\n\tt.publish(fresh)\n"},
			{"fresh.floor = floor\n\tt.publish(fresh)\n", "fresh.floor = floor\n"},
		}, explored("TakeSweepStep"),
	},
	{
		"the directory is written without its lock", "sharded/directory.go",
		[]piece{{"func (t *Table) publish(leaves ...*leaf) {\n\tt.dirMu.Lock()\n\tdefer t.dirMu.Unlock()\n", "func (t *Table) publish(leaves ...*leaf) {\n"}}, explored("TwoSplits"),
	},
	{
		"a doubling copies no entry but those that change", "sharded/directory.go",
		[]piece{{"double.leaves[2*i].Store(l)\n", "double.leaves[2*i].Store(d.leaves[0].Load())\n"}}, explored("TwoSplits"),
	},
	{
		"a call that meets a frozen word does not wait", table,
		[]piece{{"l := t.dir.Load().leafOf(k.Hash)\n\tl.mu.Lock()\n\tl.mu.Unlock() //nolint:gocritic,staticcheck // the wait itself is the purpose\n", "_ = k\n"}}, explored("TakeSplit"),
	},
	{
		"a limit is superseded by a store", insertion,
		[]piece{{"old := other.word.Swap(atomicstate.Superseded)", "old := other.word.Load()\n\tother.word.Store(atomicstate.Superseded)"}}, explored("LimitForthAndBack"),
	},
	{
		"usage carried to a smaller limit is cut at its burst", bucket,
		[]piece{{"min(MaxDebt, scaleUp(", "min(b.capacity, scaleUp("}}, explored("LimitForthAndBack"),
	},
	{
		"a limit is superseded in a leaf without room for the next", insertion,
		[]piece{{"if p.own == nil && int(l.used) >= roomAt(l.depth) {", "if p.own == nil && int(l.used) >= roomAt(l.depth) && p.other == nil {"}}, explored("LimitInAFullLeaf"),
	},
	{
		"a slot is used again for another key", "sharded/leaf.go",
		[]piece{{"if word == atomicstate.Empty {\n\t\t\tp.free = s\n", "if word == atomicstate.Empty || word == atomicstate.Superseded && s.hash != id.hash {\n\t\t\tp.free = s\n"}}, explored("SupersededSlot"),
	},
	{
		"a superseded slot becomes live by anybody's swap", "engine/charge.go",
		[]piece{{"for atomicstate.IsLive(word) {\n\t\t\tvar now", "for atomicstate.IsLive(word) || word == atomicstate.Superseded {\n\t\t\tvar now"}}, explored("TwoLimits"),
	},
	{
		"a call that was refused by one key keeps what it took of the other", "engine/several.go",
		[]piece{{"parts[j].of.giveBack(n, &done[j])", "_ = j"}}, explored("TakeAll"),
	},
	{
		"permits are given back whole, whatever was earned since", bucket,
		[]piece{{"	if now > act.At {\n\t\tdue = min(due, b.units(act.N)-b.earned(act.At, now))\n\t}\n", ""}}, catcher{oracles, "engine", "TestWhatActsKeepsTheBound"},
	},
	{
		"a receipt is counted down by a store", "engine/refund.go",
		[]piece{{"if r.left.CompareAndSwap(held, held-n) {", "if r.left.Store(held - n); true {"}}, explored("OneReceipt"),
	},
	{
		"a promise is given up whole, though others came after it", "sharded/reserve.go",
		[]piece{{"return promise.before, word == promise.after\n", "return promise.before, true\n"}}, explored("ReserveCancel"),
	},
	{
		"a reset is counted before the word is read that it replaces", "sharded/giveback.go",
		[]piece{
			{"		t.epoch.Add(1) // after the load: a charge in between fails the swap, one before it is of an older epoch\n", ""},
			{"	for word := s.word.Load(); atomicstate.IsLive(word); word = s.word.Load() {\n", "	t.epoch.Add(1)\n	for word := s.word.Load(); atomicstate.IsLive(word); word = s.word.Load() {\n"},
		}, explored("Reset"),
	},
	{
		"a reset does not hold the lock under which is given back", "sharded/giveback.go",
		[]piece{{"	l := t.hold(k)\n	defer l.mu.Unlock()\n	s := l.any(k)\n", "	l := t.dir.Load().leafOf(k.Hash)\n	s := l.any(k)\n"}}, explored("Reset"),
	},
	{
		"a promise is looked at, and the lock taken to give it back", "sharded/reserve.go",
		[]piece{
			{"	leaf := t.hold(k)\n	defer leaf.mu.Unlock()\n	known := promise.after != 0 && t.unseen.Load() == promise.unseen // of a word whose changes are known\n",
				"	known := promise.after != 0 && t.unseen.Load() == promise.unseen\n	leaf := t.hold(k)\n	defer leaf.mu.Unlock()\n"},
		}, explored("ReserveReset"),
	},
	{
		"the cap on keys is looked at, and then counted", insertion,
		[]piece{{"if t.keys.CompareAndSwap(n, n+1) {\n\t\t\treturn true\n\t\t}", "t.keys.Add(1)\n\t\treturn true"}}, explored("CapOfTwoLeaves"),
	},
	{
		"a log that was dropped is charged", "sharded/log_ring.go",
		[]piece{{"	if r.dead() {\n\t\tr.mu.Unlock()\n\t\treturn d, false\n\t}\n", ""}}, explored("LogSweep"),
	},
	{
		"a log stays where it is when its key gets a word", "engine/place.go",
		[]piece{{"if g := p.logs.Load(); g != nil && !k.IsOverflow() {\n\t\treturn g.Evacuate(key, now)", "if g := p.logs.Load(); g != nil && !k.IsOverflow() {\n\t\treturn 0, false"}}, explored("LogMoves"),
	},
	{
		"a lost swap is tried again at a time at which the word can not be read", "engine/try.go",
		[]piece{{"if !atomicstate.IsLive(word) || !c.table.Near(now) {\n\t\t\treturn word, false", "if !atomicstate.IsLive(word) {\n\t\t\treturn word, false"}}, explored("LeapAtALostSwap"),
	},
	{
		"a call is refused at the time of a lost swap", "engine/try.go",
		[]piece{{"c.contended.Store(true)\n\t}\n\tword, ok = c.tryWordAgain(r, slot, now, n)\n\treturn word, now, ok, ok\n", "c.contended.Store(true)\n\t}\n\tword, ok = c.tryWordAgain(r, slot, now, n)\n\treturn word, now, ok, true\n"}}, explored("TimePassesAtALostSwap"),
	},
	{
		"a batch is charged at a time at which its words can not be read", "engine/batch.go",
		[]piece{{"if !atomicstate.IsLive(word) || !c.table.Near(now) {\n", "if !atomicstate.IsLive(word) {\n"}}, catcher{properties, "engine", "TestABatchThatWasHeldUp"},
	},
	{
		"a leaf of which a key was reset does not look for what can be forgotten", "sharded/giveback.go",
		[]piece{{"\t\t\tledger.forget(k)\n\t\t}\n\t\tl.lookAgain()\n", "\t\t\tledger.forget(k)\n\t\t}\n"}}, catcher{properties, "sharded", "TestALeafLooksInTime"},
	},
	{
		"a leaf to which a key has moved does not look sooner", "sharded/move.go",
		[]piece{{"\tl.retryForget = min(l.retryForget, until(law, word, now))\n", ""}}, catcher{properties, "sharded", "TestALeafLooksInTime"},
	},
	{
		"the sweep goes to rest without a last look", "evict/sweeper.go",
		[]piece{{"if table.Len() > 0 && s.armed.CompareAndSwap(false, true) {", "if false {"}}, catcher{program, "evict", "TestInterleaveKickRun"},
	},
	{
		"a sweep passes a leaf that is being changed", "sharded/sweep.go",
		[]piece{
			{"\tl.mu.Lock()\n\tif l.replaced { // its words", "\tif l.replaced { // its words"},
			{"\t\tl.mu.Unlock()\n\t\treturn at, 0\n", "\t\treturn at, 0\n"},
			{"\t\tdropped = t.rebuild(l, p.base, p.now)\n\t\tc.used -= dropped\n\t}\n\tl.mu.Unlock()\n", "\t\tl.mu.Lock()\n\t\tdropped = t.rebuild(l, p.base, p.now)\n\t\tc.used -= dropped\n\t\tl.mu.Unlock()\n\t}\n"},
		}, catcher{program, "engine", "TestInterleaveInsertStalls"},
	},
	{
		"a sweep drops the keys that owe", grow,
		[]piece{{"case t.law(limitOf(s.check)).EqualsNew(word, base, now):", "case t.law(limitOf(s.check)).EqualsNew(word, base, now+now/1000):"}}, catcher{stress, "sharded", "TestStressBound"},
	},
	{
		"a bucket goes on earning when it is full", bucket,
		[]piece{{"owed := max(tagLive, int64(word-at))", "owed := int64(word-at)"}}, catcher{fuzzing, "fuzz", "FuzzTransition"},
	},
	{
		"what still owes a nanosecond's refill is forgotten", bucket,
		[]piece{{"return high != 0 || earned >= uint64(debt)", "return high != 0 || earned+b.rate >= uint64(debt)"}}, catcher{properties, "atomicstate", "TestRetryAndResetAreTheTruth"},
	},
	{
		"the window before weighs a nanosecond less", "atomicstate/sliding_window.go",
		[]piece{{"wantHigh, wantLow := bits.Mul64(uint64(c.prev), uint64(s.window-c.into))", "wantHigh, wantLow := bits.Mul64(uint64(c.prev), uint64(s.window-c.into-1))"}}, catcher{properties, "atomicstate", "TestRetryAndResetAreTheTruth"},
	},
	{
		"an event counts a nanosecond too short", "sharded/log_ring.go",
		[]piece{{"return stamp > now || logAgeNanos(now, stamp) < window", "return stamp > now || logAgeNanos(now, stamp)+1 < window"}}, catcher{oracles, "sharded", "TestLogEqualsOracle"},
	},
}
