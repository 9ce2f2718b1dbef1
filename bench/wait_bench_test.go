package bench_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
	"github.com/penstock-go/penstock/engine"
)

// BenchmarkWait: a Wait that need not wait, with a context that never ends, with one that may, and
// with one that has a deadline, beside Allow and Take. Existing keys, every call admitted.
func BenchmarkWait(b *testing.B) {
	cancellable, cancel := context.WithCancel(b.Context())
	defer cancel()
	timed, cancelTimed := context.WithTimeout(b.Context(), 24*time.Hour)
	defer cancelTimed()
	calls := []call{
		{"allow", allowLoop}, {"take", takeLoop},
		{"wait", waitLoop(context.Background())}, //nolint:usetesting // the context that cannot end is the row
		{"wait-cancel", waitLoop(cancellable)}, {"wait-deadline", waitLoop(timed)},
	}
	for _, count := range []int{1, 1_000} {
		for _, call := range calls {
			callRow(b, call, count, bench.AllowLoad)
		}
	}
}

// callRow measures call on a limiter under load.
func callRow(b *testing.B, call call, count int, load bench.Load) {
	name := fmt.Sprintf("call=%s/limiter=penstock/keys=%s/clock=exact", call.name, bench.FormatCount(count))
	benchtest.DecideRow(b, name, benchtest.Row{
		Subject: bench.PenstockSubject(), Load: load, Count: count, Size: bench.KeySize,
		Loop: func(l bench.Limiter) benchtest.Loop { return call.loop(engineOf(l)) },
	})
}

func waitLoop(ctx context.Context) func(*engine.Limiter[string]) benchtest.Loop {
	return func(l *engine.Limiter[string]) benchtest.Loop {
		return func(k *bench.Keys, n int) (admitted int) {
			for range n {
				if l.Wait(ctx, k.Next(), 1) == nil {
					admitted++
				}
			}
			return admitted
		}
	}
}

// aheadLoad leaves no key a permit for the hour after Fill, so that every reservation is for a time to
// come. Each key may have 1,000 of them.
var aheadLoad = bench.Load{
	Name: "ahead", Tokens: 1, Per: time.Hour,
	Burst: 1_000, Charge: 1_000, Admit: true,
}

// BenchmarkReserve: a reservation that is granted at once, and one that is made ahead of its time and
// given up, beside Take. Existing keys.
func BenchmarkReserve(b *testing.B) {
	for _, count := range []int{1, 1_000} {
		callRow(b, call{"take", takeLoop}, count, bench.AllowLoad)
		callRow(b, call{"reserve", reserveLoop}, count, bench.AllowLoad)
		callRow(b, call{"reserve-ahead-cancel", reserveAheadLoop}, count, aheadLoad)
	}
}

func reserveLoop(l *engine.Limiter[string]) benchtest.Loop {
	return func(k *bench.Keys, n int) (admitted int) {
		for range n {
			if r := l.Reserve(k.Next(), 1); r.OK() && r.Delay() == 0 {
				admitted++
			}
		}
		return admitted
	}
}

func reserveAheadLoop(l *engine.Limiter[string]) benchtest.Loop {
	return func(k *bench.Keys, n int) (admitted int) {
		for range n {
			if r := l.Reserve(k.Next(), 1); r.Delay() > 0 && r.OK() && r.Cancel() {
				admitted++
			}
		}
		return admitted
	}
}
