package fuzz

import (
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/internal/oracle"
)

// promised is a charge of FuzzReserve.
type promised struct {
	oracle.Admission
	cancel func() bool
	refund func(int64) bool
}

// FuzzReserve reads a limit and a sequence of takes, reservations, cancellations, refunds and changes
// of time from bytes; what acts must keep the bound in every interval.
func FuzzReserve(f *testing.F) {
	f.Add([]byte{1, 1, 20, 1, 15, 0, 1, 1, 10, 0, 1, 1, 2, 0, 1, 2, 1})
	f.Add([]byte{1, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 0, 1, 2, 1, 2, 1, 0, 29, 3, 10})
	f.Add([]byte{3, 7, 5, 3, 5, 1, 4, 4, 2, 0, 3, 5, 1, 1, 3, 2, 2, 2, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 3 {
			return
		}
		rate := engine.Rate{Tokens: 1 + int64(data[0]%16), Per: time.Duration(1 + data[1]%32)}
		burst := 1 + int64(data[2]%32)
		clock := enginetest.NewClock()
		m := engine.Must[int](engine.TokenBucket(rate, burst), engine.WithClock(clock))
		defer m.Close()
		var acts []promised
		for data = data[3:]; len(data) >= 2; data = data[2:] {
			acts = stepReserve(m, clock, acts, data[0]%6, int64(data[1]))
		}
		admitted := make([]oracle.Admission, len(acts))
		for i, a := range acts {
			admitted[i] = a.Admission
		}
		if err := oracle.Bound(rate.Tokens, rate.Per, burst, admitted); err != nil {
			t.Fatalf("%v: %v", m.Limit(), err)
		}
	})
}

func stepReserve(m *engine.Limiter[int], clock *enginetest.Clock, acts []promised, op byte, n int64) []promised {
	now := int64(clock.Now())
	switch op {
	case 0:
		clock.Advance(time.Duration(n))
	case 1:
		if r := m.Reserve(1, n); r.OK() && n > 0 {
			return append(acts, promised{oracle.Admission{At: now + int64(r.Delay()), N: n}, r.Cancel, nil})
		}
	case 2:
		i := len(acts) - 1 - int(n)
		if i >= 0 && acts[i].cancel != nil && (acts[i].cancel() || acts[i].At >= now) {
			return slices.Delete(acts, i, i+1)
		}
	case 3:
		if n > 0 && m.AllowN(1, n) {
			return append(acts, promised{oracle.Admission{At: now, N: n}, nil, nil})
		}
	case 4:
		if d, r := m.TakeReceipt(1, n); d.Allowed && n > 0 {
			return append(acts, promised{oracle.Admission{At: now, N: n}, nil, r.Refund})
		}
	case 5:
		if i := len(acts) - 1 - int(n%16); i >= 0 && acts[i].refund != nil {
			part := 1 + n/16%acts[i].N
			acts[i].refund(part)
			if acts[i].N -= part; acts[i].N == 0 {
				return slices.Delete(acts, i, i+1)
			}
		}
	}
	return acts
}
