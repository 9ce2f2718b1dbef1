package dynamodb

import (
	"math/big"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/penstock-go/penstock/store"
)

// plan is how an op is to be made, given what was seen of its item: how many permits to take, and the
// update whose condition admits exactly the states for which that is right.
type plan struct {
	numbers     *store.Numbers
	seen        *item
	now         int64
	least, most int64 // of the op; both 0: only look

	take      int64 // 0: by what was seen the op is refused, and there is no update
	update    string
	condition string
	values    attributes
	after     func(before *item) item // what the item holds once it was carried out
}

// make fills in the plan.
func (p *plan) make() {
	if p.most == 0 {
		return
	}
	switch p.numbers.Kind {
	case store.KindBucket:
		p.bucket()
	case store.KindFixedWindow:
		p.fixed()
	case store.KindSlidingWindow:
		p.sliding()
	}
}

// part sets how many permits to take where there is room for that many, and reports whether it is
// any. If it is not all that the op wants, exactly it has to be all that there is.
func (p *plan) part(room int64) (takes, exactly bool) {
	n := min(p.most, room)
	if n < max(1, p.least) {
		return false, false
	}
	p.take = n
	return true, n < p.most
}

// bucket plans for TAT = now*Rate + debt.
func (p *plan) bucket() {
	n := p.numbers
	start := new(big.Int).Mul(big.NewInt(p.now), big.NewInt(n.Rate))
	if n.Rate > 0 {
		p.values = attributes{":x": integer(collectAt(p.now, n.Units/n.Rate+1))}
		p.update = ", x = :x"
	} else {
		p.values = attributes{}
	}
	if p.seen.tat == nil || p.seen.tat.Cmp(start) < 0 {
		p.idle(start)
		return
	}
	full := new(big.Int).Add(start, big.NewInt(n.Units))
	room := new(big.Int).Sub(full, p.seen.tat) // Units at most, and below 0 if the limit was used up by a clock ahead
	takes, exactly := p.part(permits(room, n.Unit))
	if !takes {
		return
	}
	added := big.NewInt(p.take * n.Unit)
	high := new(big.Int).Sub(full, added)
	low := start
	if exactly { // with one permit more room, one more would be taken
		if least := new(big.Int).Sub(high, big.NewInt(n.Unit-1)); least.Cmp(low) > 0 {
			low = least
		}
	}
	p.update = "SET t = t + :inc" + p.update
	p.condition = "t BETWEEN :low AND :high"
	p.values[":inc"], p.values[":low"], p.values[":high"] = bigInteger(added), bigInteger(low), bigInteger(high)
	p.after = func(before *item) item { return item{tat: sum(before.tat, added)} }
}

// idle plans for a bucket that owes nothing.
func (p *plan) idle(start *big.Int) {
	p.take = p.most
	after := new(big.Int).Add(start, big.NewInt(p.take*p.numbers.Unit))
	p.update = "SET t = :after" + p.update
	p.values[":after"] = bigInteger(after)
	p.over(bucketForm, "attribute_not_exists(t) OR t < :now", ":now", bigInteger(start))
	p.after = func(*item) item { return item{tat: after} }
}

// over sets the condition for writing over what equals a new item: the one given, with its bound, or that
// what stands there is still what cannot be read.
func (p *plan) over(f form, condition, name string, bound types.AttributeValue) {
	if p.seen.foreign(f) {
		p.condition = p.seen.still(f, p.values)
		return
	}
	p.condition, p.values[name] = condition, bound
}

// permits returns floor(units/unit), 0 for what is less than nothing.
func permits(units *big.Int, unit int64) int64 {
	if units.Sign() <= 0 {
		return 0
	}
	return units.Int64() / unit // at most the capacity
}

// sum adds, nil being 0.
func sum(a, b *big.Int) *big.Int {
	if a == nil {
		return b
	}
	return new(big.Int).Add(a, b)
}

// stateOf returns the state of an item at now, as store.Law.State does of a word.
func stateOf(n *store.Numbers, it *item, now int64) store.State {
	if n.Kind == store.KindBucket {
		return store.State{Debt: debt(n, it, now)}
	}
	window := windowOf(n, now)
	switch {
	case !it.windowed:
		return store.State{}
	case it.index >= window:
		return store.State{Window: it.index, Prev: it.prev, Curr: it.curr}
	case it.index == window-1 && n.Kind == store.KindSlidingWindow:
		return store.State{Window: window, Prev: it.curr}
	}
	return store.State{}
}

// debt returns what a bucket owes at now.
func debt(n *store.Numbers, it *item, now int64) int64 {
	if it.tat == nil {
		return 0
	}
	owed := new(big.Int).Mul(big.NewInt(now), big.NewInt(n.Rate))
	owed.Sub(it.tat, owed)
	switch {
	case owed.Sign() <= 0:
		return 0
	case !owed.IsInt64():
		return 1<<63 - 1
	}
	return owed.Int64()
}
