package store

// State is what a key has used, as numbers without an encoding: what an [Applier], which keeps it in
// a form of its own, hands back. The zero State is that of a key that was never seen.
type State struct {
	// Debt is what a bucket owes at the time of the reading, in units, 0 or more.
	Debt int64
	// Window is the number of the window that Curr counts; Prev is the count of the one before.
	Window, Prev, Curr int64
}

// State returns the numbers of a word at now. The window is the one in force: that of now, or a
// later one that the word is of.
func (l *Law) State(word uint64, now int64) (s State) {
	word = l.readable(word, now)
	switch l.numbers.Kind {
	case KindBucket:
		s.Debt = l.bucket.Debt(word, now)
	case KindFixedWindow:
		s.Window, s.Curr = l.fixed.Counted(word, now)
	case KindSlidingWindow:
		s.Window, s.Prev, s.Curr = l.sliding.Counted(word, now)
	}
	return s
}

// Word returns the word of a state read at now. Windows that have passed by count nothing any more.
func (l *Law) Word(s State, now int64) uint64 {
	if s == (State{}) {
		return l.law.Fresh(now)
	}
	switch l.numbers.Kind {
	case KindFixedWindow:
		if s.Window < l.windowOf(now) {
			return l.law.Fresh(now)
		}
		return l.fixed.Word(s.Window, s.Curr)
	case KindSlidingWindow:
		if s.Window < l.windowOf(now)-1 {
			return l.law.Fresh(now)
		}
		return l.sliding.Word(s.Window, s.Prev, s.Curr)
	}
	return l.bucket.Owing(s.Debt, now)
}

// windowOf returns the number of the window that holds now: floor(now/Window).
func (l *Law) windowOf(now int64) int64 {
	w := l.numbers.Window
	index := now / w
	if now < index*w {
		index--
	}
	return index
}

// SettleState is [Law.Settle] of a state.
func (l *Law) SettleState(s State, now int64) State {
	if l.numbers.Kind == KindBucket {
		s.Debt = min(s.Debt, l.numbers.Units)
		return s
	}
	if s != (State{}) {
		s.Window = min(s.Window, l.windowOf(now))
	}
	return s
}

// Apply is the model of [Applier.Apply] for one op: what an op of min to max permits at now makes of a
// state that was settled. Scripts are compared with it.
func (l *Law) Apply(before State, now, least, most int64) (after State, taken int64) {
	next, taken := l.Take(l.Word(before, now), now, least, most)
	return l.State(next, now), taken
}
