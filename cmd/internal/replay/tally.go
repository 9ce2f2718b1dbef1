package replay

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

// tally counts the requests of one key.
type tally struct{ requests, denied int }

// Tallies count requests by key.
type Tallies struct {
	names   []string // by key number
	tallies []tally  // by key number
}

// KeyTally is one key's part in a report.
type KeyTally struct {
	Key      string `json:"key"`
	Requests int    `json:"requests"`
	Denied   int    `json:"denied"`
}

// count notes a request.
func (t *Tallies) count(key uint32, allowed bool) {
	for int(key) >= len(t.tallies) {
		t.tallies = append(t.tallies, tally{})
	}
	t.tallies[key].requests++
	if !allowed {
		t.tallies[key].denied++
	}
}

// Keys is how many different keys the requests had.
func (t *Tallies) Keys() int { return len(t.tallies) }

// KeysDenied is how many keys were denied at least once.
func (t *Tallies) KeysDenied() int {
	n := 0
	for _, key := range t.tallies {
		if key.denied > 0 {
			n++
		}
	}
	return n
}

// Top returns the n keys that were denied most often, most first, then by key.
// Keys that were never denied are not among them. It is never nil.
func (t *Tallies) Top(n int) []KeyTally {
	top := []KeyTally{}
	for i, key := range t.tallies {
		if key.denied > 0 {
			top = append(top, KeyTally{t.names[i], key.requests, key.denied})
		}
	}
	slices.SortFunc(top, func(a, b KeyTally) int {
		return cmp.Or(cmp.Compare(b.Denied, a.Denied), cmp.Compare(a.Key, b.Key))
	})
	return top[:min(n, len(top))]
}

// Delays sums up how long requests that passed were told to wait.
type Delays struct {
	Delayed int           // requests that had to wait at all
	Max     time.Duration // the longest wait

	sumHigh, sumLow uint64 // ns; a queue may hold waits of years
}

// count notes a request that passed.
func (d *Delays) count(delay time.Duration) {
	if delay <= 0 {
		return
	}
	d.Delayed++
	d.Max = max(d.Max, delay)
	var carry uint64
	d.sumLow, carry = bits.Add64(d.sumLow, uint64(delay), 0)
	d.sumHigh += carry
}

// Mean is the mean wait of those that had to wait, rounded down; 0 if none
// had.
func (d *Delays) Mean() time.Duration {
	if d.Delayed == 0 {
		return 0
	}
	// The mean is below 2^63, so the quotient fits.
	mean, _ := bits.Div64(d.sumHigh, d.sumLow, uint64(d.Delayed))
	return time.Duration(mean)
}
