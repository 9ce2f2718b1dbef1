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

	mu    sync.RWMutex
	nodes map[string]*gate
}

// of returns the breaker of a node, made at the first call.
func (b *breakers) of(node string) *gate {
	b.mu.RLock()
	g := b.nodes[node]
	b.mu.RUnlock()
	if g != nil {
		return g
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.nodes == nil {
		b.nodes = map[string]*gate{}
	}
	if b.nodes[node] == nil {
		b.nodes[node] = &gate{breakers: b, node: node}
	}
	return b.nodes[node]
}

// open returns how many breakers are open.
func (b *breakers) open() (n int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, g := range b.nodes {
		if g.isOpen() {
			n++
		}
	}
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
	openings uint64    // how often it has opened
	until    time.Time // end of the pause
	inARow   int       // failures since the last answer
	started  time.Time // of the window in which calls are counted
	calls    int
	failures int
}

// pass is the leave to make a call.
type pass struct {
	probe    bool
	openings uint64 // of the breaker when the call entered
}

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
		return pass{openings: g.openings}, true
	case g.probing || now.Before(g.until):
		return pass{}, false
	}
	g.probing = true
	return pass{probe: true}, true
}

// leave takes note of what became of a call. Calls that entered before the breaker opened do not
// count any more, also when it has closed meanwhile: they tell of a time that is over.
func (g *gate) leave(ctx context.Context, p pass, v verdict, cause error, now time.Time) {
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
	case !g.opened && p.openings == g.openings:
		if changed = g.count(v, now); changed {
			g.opened, g.until = true, now.Add(g.pause())
			g.openings++
		}
	}
	opened := g.opened
	g.mu.Unlock()
	if changed {
		g.report(ctx, opened, cause)
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
func (g *gate) report(ctx context.Context, opened bool, cause error) {
	if g.breakers.log == nil {
		return
	}
	attrs := []slog.Attr{slog.String("store", g.breakers.store)}
	if g.node != "" {
		attrs = append(attrs, slog.String("node", g.node))
	}
	if opened {
		attrs = append(attrs, slog.Any("error", cause))
		g.breakers.log.LogAttrs(ctx, slog.LevelWarn, "store: circuit breaker opened: limits follow their policy", attrs...)
		return
	}
	g.breakers.log.LogAttrs(ctx, slog.LevelInfo, "store: circuit breaker closed: the store decides again", attrs...)
}
