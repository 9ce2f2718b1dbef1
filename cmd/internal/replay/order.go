package replay

import "time"

// second holds the requests of one second of the log, in the order in which
// they were read. A request is the numbers of its keys, one a ring.
type second struct {
	unix int64
	keys []uint32
}

// orderer puts the lines of one log in the order of their times. Servers write
// a line when a request ends and stamp it, some of them, with its start, so
// neighbours are out of order by the time a request took.
//
// It holds lines back until one is seen that is a whole window later; lines of
// the same second keep their order. A line earlier than what has been given
// out already is late: it counts at the time that has been reached, since a
// limiter's clock never moves back. Held lines cost 4 bytes a ring of keys each.
type orderer struct {
	windowSecs int64
	maxLines   int // held at once; beyond it the earliest second is given out
	rings      int // numbers that make a request

	bySecond  map[int64]*second
	earliest  minHeap[*second]
	free      []*second
	held      int
	newest    int64 // latest time read; valid once any
	given     int64 // latest time given out; valid once hasGiven
	any       bool
	hasGiven  bool
	reordered int // lines that were behind a later one and were put in place
	late      int // lines that came too late for that
	crowded   int // of those, the ones that the window would have had room for, but maxLines had not
}

func newOrderer(window time.Duration, maxLines, rings int) *orderer {
	secs := int64(window / time.Second)
	if window%time.Second > 0 {
		secs++
	}
	return &orderer{
		windowSecs: secs,
		maxLines:   maxLines,
		rings:      rings,
		bySecond:   map[int64]*second{},
		earliest:   minHeap[*second]{less: func(a, b *second) bool { return a.unix < b.unix }},
	}
}

// add takes in one line with its number in each ring of keys.
func (o *orderer) add(unix int64, keys []uint32) {
	switch {
	case o.hasGiven && unix < o.given:
		o.late++
		if o.newest-unix < o.windowSecs {
			o.crowded++
		}
		unix = o.given
	case o.any && unix < o.newest:
		o.reordered++
	}
	if !o.any || unix > o.newest {
		o.newest, o.any = unix, true
	}
	s := o.bySecond[unix]
	if s == nil {
		s = o.newSecond(unix)
		o.bySecond[unix] = s
		o.earliest.push(s)
	}
	s.keys = append(s.keys, keys...)
	o.held++
}

// next gives out the earliest second if nothing can come before it any more,
// or, with flush, in any case; nil if there is none. Give it back with recycle.
func (o *orderer) next(flush bool) *second {
	if len(o.earliest.items) == 0 {
		return nil
	}
	due := o.newest-o.earliest.items[0].unix >= o.windowSecs
	if !due && !flush && o.held <= o.maxLines {
		return nil
	}
	s := o.earliest.pop()
	delete(o.bySecond, s.unix)
	o.held -= len(s.keys) / o.rings
	o.given, o.hasGiven = s.unix, true
	return s
}

func (o *orderer) newSecond(unix int64) *second {
	if n := len(o.free); n > 0 {
		s := o.free[n-1]
		o.free = o.free[:n-1]
		s.unix, s.keys = unix, s.keys[:0]
		return s
	}
	return &second{unix: unix}
}

// recycle takes back a second that next gave out.
func (o *orderer) recycle(s *second) { o.free = append(o.free, s) }
