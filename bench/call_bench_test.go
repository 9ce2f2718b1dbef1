package bench_test

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
	"github.com/penstock-go/penstock/engine"
)

// call is one of the engine's calls in a loop that counts what was admitted.
type call struct {
	name string
	loop func(l *engine.Limiter[string]) benchtest.Loop
}

// BenchmarkCall: the engine's calls beside each other, existing keys, every
// call admitted.
func BenchmarkCall(b *testing.B) {
	calls := []call{
		{"allow", allowLoop}, {"allown", allowNLoop}, {"allowbytes", allowBytesLoop},
		{"take", takeLoop}, {"peek", peekLoop},
	}
	for _, count := range counts(b) {
		for _, call := range calls {
			name := fmt.Sprintf("call=%s/limiter=penstock/keys=%s/clock=exact", call.name, bench.FormatCount(count))
			benchtest.DecideRow(b, name, benchtest.Row{
				Subject: bench.PenstockSubject(), Load: bench.AllowLoad, Count: count, Size: bench.KeySize,
				Loop: func(l bench.Limiter) benchtest.Loop { return call.loop(engineOf(l)) },
			})
		}
	}
}

// engineOf returns the engine below the adapter of Penstock.
func engineOf(l bench.Limiter) *engine.Limiter[string] {
	penstock, ok := l.(*bench.Penstock)
	if !ok {
		panic(fmt.Sprintf("bench: the row's limiter is a %T", l))
	}
	return penstock.Engine()
}

func allowLoop(l *engine.Limiter[string]) benchtest.Loop {
	return func(k *bench.Keys, n int) (admitted int) {
		for range n {
			if l.Allow(k.Next()) {
				admitted++
			}
		}
		return admitted
	}
}

func allowNLoop(l *engine.Limiter[string]) benchtest.Loop {
	return func(k *bench.Keys, n int) (admitted int) {
		for range n {
			if l.AllowN(k.Next(), 3) {
				admitted++
			}
		}
		return admitted
	}
}

func allowBytesLoop(l *engine.Limiter[string]) benchtest.Loop {
	return func(k *bench.Keys, n int) (admitted int) {
		for range n {
			k.Next()
			if engine.AllowBytes(l, k.Bytes()) {
				admitted++
			}
		}
		return admitted
	}
}

func takeLoop(l *engine.Limiter[string]) benchtest.Loop {
	return func(k *bench.Keys, n int) (admitted int) {
		for range n {
			if d := l.Take(k.Next(), 1); d.Allowed && d.Remaining > 0 && d.ResetAfter > 0 {
				admitted++ // all of the decision is used, so none of it can be left out
			}
		}
		return admitted
	}
}

func peekLoop(l *engine.Limiter[string]) benchtest.Loop {
	return func(k *bench.Keys, n int) (admitted int) {
		for range n {
			if d := l.Peek(k.Next()); d.Allowed && d.Remaining > 0 && d.ResetAfter > 0 {
				admitted++
			}
		}
		return admitted
	}
}
