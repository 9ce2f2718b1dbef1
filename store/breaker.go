package store

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// breakers are the circuit breakers of a storage's nodes.
type breakers struct {
	store    string
	settings Breaker
	log      *slog.Logger // nil: nothing is written
	nodes    sync.Map     // of *gate by name
}

func (b *breakers) of(node string) *gate {
	if g, ok := b.nodes.Load(node); ok {
		return g.(*gate) //nolint:forcetypeassert // there is nothing else in it
	}
	g, _ := b.nodes.LoadOrStore(node, &gate{breakers: b, node: node})
	return g.(*gate) //nolint:forcetypeassert // the same
}

// open returns how many breakers are open.
func (b *breakers) open() (n int) {
	b.nodes.Range(func(_, g any) bool {
		if g.(*gate).isOpen() { //nolint:forcetypeassert // the same
			n++
		}
		return true
	})
	return n
}

// gate is the breaker of one node. Closed, it lets all calls pass and counts failures. Open, it lets
// none pass until a pause is over, and then one, the probe, whose outcome closes it or begins
// another pause.
type gate struct {
	breakers *breakers
	node     string

	mu       sync.Mutex
	opened   bool
	probing  bool      // a probe is on its way
	until    time.Time // end of the pause
	inARow   int       // failures since the last answer
	started  time.Time // of the window in which calls are counted
	calls    int
	failures int
}

// pass is the leave to make a call.
type pass struct{ probe bool }

func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// enter asks for leave to make a call.
func (g *gate) enter(now time.Time) (pass, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.opened:
		return pass{}, true
	case g.probing || now.Before(g.until):
		return pass{}, false
	}
	g.probing = true
	return pass{probe: true}, true
}

// leave takes note of what became of a call. Calls that entered before the breaker opened do not
// count any more.
func (g *gate) leave(p pass, v verdict, cause error, now time.Time) {
	g.mu.Lock()
	changed := false
	switch {
	case p.probe:
		g.probing = false
		switch v {
		case answered:
			changed = true
			g.opened, g.inARow, g.calls, g.failures = false, 0, 0, 0
		case failed:
			g.until = now.Add(g.pause())
		}
	case !g.opened:
		if changed = g.count(v, now); changed {
			g.opened, g.until = true, now.Add(g.pause())
		}
	}
	opened := g.opened
	g.mu.Unlock()
	if changed {
		g.report(opened, cause)
	}
}

// count counts a call and reports whether the breaker is to open.
func (g *gate) count(v verdict, now time.Time) bool {
	s := g.breakers.settings
	if now.Sub(g.started) >= s.Window {
		g.started, g.calls, g.failures = now, 0, 0
	}
	switch v {
	case answered:
		g.calls++
		g.inARow = 0
	case failed:
		g.calls++
		g.failures++
		g.inARow++
	}
	return g.inARow >= s.Failures || g.calls >= s.MinCalls && float64(g.failures) >= s.Share*float64(g.calls)
}

// pause returns the length of a pause: half to one and a half of the one that was set.
func (g *gate) pause() time.Duration {
	p := g.breakers.settings.Pause
	return p/2 + rand.N(p+1)
}

// report writes the one line of a change.
func (g *gate) report(opened bool, cause error) {
	if g.breakers.log == nil {
		return
	}
	attrs := []slog.Attr{slog.String("store", g.breakers.store), slog.String("node", g.node)}
	if opened {
		attrs = append(attrs, slog.Any("error", cause))
		g.breakers.log.LogAttrs(context.Background(), slog.LevelWarn, "store: circuit breaker opened: limits follow their policy", attrs...)
		return
	}
	g.breakers.log.LogAttrs(context.Background(), slog.LevelInfo, "store: circuit breaker closed: the store decides again", attrs...)
}
