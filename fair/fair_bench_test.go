package fair

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
)

// plenty never runs out within a benchmark.
var plenty = engine.TokenBucket(engine.PerSecond(1<<30), 1<<20)

// BenchmarkUncontended: a call when nobody asks, beside the engine's.
func BenchmarkUncontended(b *testing.B) {
	ctx := b.Context()
	b.Run("call=engine.take", func(b *testing.B) {
		l := engine.Must[string](plenty)
		defer l.Close()
		b.ReportAllocs()
		for b.Loop() {
			if !l.Take("tenant", 1).Allowed {
				b.Fatal("refused")
			}
		}
	})
	b.Run("call=take", func(b *testing.B) {
		l := Must[string](plenty)
		b.ReportAllocs()
		for b.Loop() {
			if !l.Take("tenant", 1).Allowed {
				b.Fatal("refused")
			}
		}
	})
	b.Run("call=allow", func(b *testing.B) {
		l := Must[string](plenty)
		b.ReportAllocs()
		for b.Loop() {
			if !l.Allow("tenant") {
				b.Fatal("refused")
			}
		}
	})
	b.Run("call=wait", func(b *testing.B) {
		l := Must[string](plenty)
		b.ReportAllocs()
		for b.Loop() {
			if err := l.Wait(ctx, "tenant", 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// crowd is a limiter for which two calls of each of so many tenants wait.
func crowd(b *testing.B, tenants int) (*Limiter[int], *enginetest.Clock) {
	b.Helper()
	clock := enginetest.NewClock()
	l := Must[int](engine.TokenBucket(engine.PerSecond(1000), 1), WithClock(clock))
	l.Allow(0)
	for range 2 {
		for i := range tenants {
			queue(b, l, i)
		}
	}
	return l, clock
}

// queue puts a call of a tenant into its queue.
func queue(b *testing.B, l *Limiter[int], tenant int) *waiter[int] {
	b.Helper()
	w, err := l.join(b.Context(), tenant, 1)
	if w == nil {
		b.Fatal("granted, or refused:", err)
	}
	return w
}

// BenchmarkGrant: a grant, with the clock's move, the timer for the next one, and the arrival of another
// call of the tenant that was granted.
func BenchmarkGrant(b *testing.B) {
	for _, tenants := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			l, clock := crowd(b, tenants)
			b.ReportAllocs()
			for b.Loop() {
				first := l.order.waiting.top()
				clock.Advance(time.Millisecond)
				queue(b, l, first.key)
			}
			if l.Len() != 2*tenants {
				b.Fatal("a grant is missing")
			}
		})
	}
}

// BenchmarkCancel: a call that comes and is cancelled behind all others.
func BenchmarkCancel(b *testing.B) {
	for _, tenants := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			l, _ := crowd(b, tenants)
			b.ReportAllocs()
			for b.Loop() {
				_ = l.leave(queue(b, l, tenants), context.Canceled)
			}
		})
	}
}

// BenchmarkRefusedTake: a Take of a tenant ahead of its share, with so many claims before it.
func BenchmarkRefusedTake(b *testing.B) {
	for _, tenants := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("claims=%d", tenants), func(b *testing.B) {
			clock := enginetest.NewClock()
			l := Must[int](engine.TokenBucket(engine.PerSecond(1000), 1), WithClock(clock), WithHold(time.Hour))
			l.Allow(0)
			for i := range tenants {
				l.Allow(1 + i)
			}
			clock.Advance(time.Millisecond)
			l.Allow(0)
			b.ReportAllocs()
			for b.Loop() {
				if l.Allow(0) {
					b.Fatal("passed")
				}
			}
		})
	}
}
