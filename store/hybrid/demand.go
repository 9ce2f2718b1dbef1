package hybrid

import (
	"math"
	"sync/atomic"
)

// demand estimates how many permits a key admits in a nanosecond, weighted by age: what was admitted a
// life ago weighs 1/e of what is admitted now. That makes the next lease at most half as large again
// as one that was used up at once, and smaller by two thirds than one of which nothing was used.
type demand struct {
	perNano float64
	at      int64
}

// add takes note of n permits admitted since the last note; life is the time constant.
func (d *demand) add(n, now, life int64) {
	elapsed := float64(now - d.at)
	if elapsed <= 0 {
		d.perNano += float64(n) / float64(life)
		return
	}
	old := math.Exp(-elapsed / float64(life))
	d.perNano = d.perNano*old + float64(n)/elapsed*(1-old)
	d.at = now
}

// roundTrip estimates how long calls of the store take. Readings may be lost to each other: it is an
// estimate for speed only.
type roundTrip struct{ mean, deviation atomic.Int64 }

// observe takes note of a call that took nanos.
func (r *roundTrip) observe(nanos int64) {
	mean := r.mean.Load()
	if mean == 0 {
		r.mean.Store(nanos)
		r.deviation.Store(nanos / 2)
		return
	}
	off := nanos - mean
	r.mean.Store(mean + off/8) // the weights of TCP's retransmission timer, RFC 6298
	r.deviation.Store(r.deviation.Load() + (max(off, -off)-r.deviation.Load())/4)
}

// most returns what hardly any call exceeds.
func (r *roundTrip) most() int64 { return r.mean.Load() + 4*r.deviation.Load() }
