package dynamodb

import (
	"math/bits"

	"github.com/penstock-go/penstock/store"
)

// windowOf returns the number of the window that holds now: floor(now/Window).
func windowOf(n *store.Numbers, now int64) int64 {
	index := now / n.Window
	if now < index*n.Window {
		index--
	}
	return index
}

// fixed plans for a count of the window of now. In one that a clock ahead has begun nothing passes until then.
func (p *plan) fixed() {
	n, window := p.numbers, windowOf(p.numbers, p.now)
	if !p.seen.windowed || p.seen.index < window {
		p.begin(window, window, window+1)
		return
	}
	if p.seen.index > window {
		return
	}
	takes, exactly := p.part(n.Limit - p.seen.curr)
	if !takes {
		return
	}
	p.values = attributes{":i": integer(window)}
	p.condition = "i = :i"
	p.count(n.Limit-p.take, exactly, window+1)
}

// sliding plans for the counts of two windows. The count of the one before is a part of the condition:
// it does not change any more.
func (p *plan) sliding() {
	n, window := p.numbers, windowOf(p.numbers, p.now)
	left := n.Window - (p.now - window*n.Window) // of the window of now, 1 or more
	switch seen := p.seen; {
	case !seen.windowed || seen.index < window-1:
		p.begin(window, window-1, window+2)
		return
	case seen.index == window-1:
		p.next(window, left)
		return
	case seen.index > window: // a clock ahead has begun it: nothing passes until then
		return
	}
	room := n.Limit - weight(p.seen.prev, left, n.Window)
	takes, exactly := p.part(room - p.seen.curr)
	if !takes {
		return
	}
	p.values = attributes{":i": integer(p.seen.index), ":p": integer(p.seen.prev)}
	p.condition = "i = :i AND p = :p"
	p.count(room-p.take, exactly, window+2)
}

// count adds to the count of a window that holds high permits at most; exactly that many if exactly
// the rest is taken. The item equals a new one at the start of the window ends: that is written again, so that
// one to which it was not known can be collected too.
func (p *plan) count(high int64, exactly bool, ends int64) {
	p.update = "SET c = c + :n, x = :x"
	p.condition += " AND c <= :high"
	if exactly {
		p.condition += " AND c >= :high"
	}
	p.values[":n"], p.values[":high"] = integer(p.take), integer(high)
	p.values[":x"] = integer(collectAt(p.now, p.until(ends)))
	p.after = func(before *item) item {
		return item{windowed: true, index: before.index, prev: before.prev, curr: before.curr + p.take}
	}
}

// begin plans for a window that nothing before it weighs on: the item is of a window before the one given,
// or not there. It equals a new one at the start of the window ends.
func (p *plan) begin(window, before, ends int64) {
	p.take = p.most
	p.update = "SET i = :i, p = :none, c = :n, x = :x"
	p.values = attributes{
		":i": integer(window), ":none": integer(0), ":n": integer(p.take),
		":x": integer(collectAt(p.now, p.until(ends))),
	}
	p.over(windowForm, "attribute_not_exists(i) OR i < :before", ":before", integer(before))
	p.after = func(*item) item { return item{windowed: true, index: window, curr: p.take} }
}

// next plans for the first charge in a window that follows one with a count, which slides out: left ticks
// of it weigh yet.
func (p *plan) next(window, left int64) {
	n := p.numbers
	takes, exactly := p.part(n.Limit - weight(p.seen.curr, left, n.Window))
	if !takes {
		return
	}
	p.update = "SET i = :i, p = c, c = :n, x = :x"
	p.condition = "i = :before AND c <= :high"
	p.values = attributes{
		":i": integer(window), ":before": integer(window - 1), ":n": integer(p.take),
		":high": integer(weighing(n.Limit-p.take, left, n.Window)),
		":x":    integer(collectAt(p.now, p.until(window+2))),
	}
	if exactly {
		p.condition += " AND c > :low"
		p.values[":low"] = integer(weighing(n.Limit-p.take-1, left, n.Window))
	}
	p.after = func(before *item) item { return item{windowed: true, index: window, prev: before.curr, curr: p.take} }
}

// until returns the ticks from now to the start of a window.
func (p *plan) until(window int64) int64 {
	high, low := bits.Mul64(uint64(max(0, window)), uint64(p.numbers.Window))
	if high != 0 || int64(low) < 0 {
		return 1<<63 - 1 - max(0, p.now)
	}
	return int64(low) - p.now
}

// weight returns ceil(count*left/window), what a count weighs of which left of window ticks are still in
// force: 0 <= left <= window.
func weight(count, left, window int64) int64 {
	high, low := bits.Mul64(uint64(max(0, count)), uint64(left))
	quotient, rest := bits.Div64(high, low, uint64(window)) // count*left/window <= count
	if rest != 0 {
		quotient++
	}
	return int64(quotient)
}

// weighing returns the largest count that weighs room permits at most, held to 2^53, which no
// count reaches: floor(room*window/left); -1 if room is below 0.
func weighing(room, left, window int64) int64 {
	if room < 0 {
		return -1
	}
	high, low := bits.Mul64(uint64(room), uint64(window))
	if high >= uint64(left) {
		return maxFloat
	}
	quotient, _ := bits.Div64(high, low, uint64(left))
	return int64(min(quotient, uint64(maxFloat)))
}
