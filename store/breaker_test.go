package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errAway = errors.New("away")

// gateAt returns a closed breaker, and what it writes.
func gateAt(settings Breaker) (*gate, *bytes.Buffer) {
	var lines bytes.Buffer
	b := &breakers{store: "test", settings: settings.withDefaults(), log: slog.New(slog.NewTextHandler(&lines, nil))}
	return b.of("node-1"), &lines
}

// call makes one call, and reports whether it was let through.
func call(g *gate, now time.Time, v verdict) bool {
	p, ok := g.enter(now)
	if ok {
		g.leave(context.Background(), p, v, errAway, now)
	}
	return ok
}

func TestBreakerOpensOnFailuresInARow(t *testing.T) {
	g, lines := gateAt(Breaker{Failures: 3})
	now := time.Unix(1_700_000_000, 0)
	for _, v := range []verdict{failed, failed, answered, failed, nothing, failed} {
		require.True(t, call(g, now, v))
		require.False(t, g.isOpen())
	}
	require.True(t, call(g, now, failed))
	require.True(t, g.isOpen())
	require.Equal(t, 1, g.breakers.open())
	require.False(t, call(g, now, answered), "nothing passes during the pause")
	require.Equal(t, 1, strings.Count(lines.String(), "\n"))
	require.Contains(t, lines.String(), "circuit breaker opened")
	require.Contains(t, lines.String(), "store=test node=node-1 error=away")
}

// TestBreakerOfAStoreWithoutNodes writes none.
func TestBreakerOfAStoreWithoutNodes(t *testing.T) {
	g, lines := gateAt(Breaker{Failures: 1})
	g.node = ""
	require.True(t, call(g, time.Unix(1_700_000_000, 0), failed))
	require.Contains(t, lines.String(), "store=test error=away\n")
}

func TestBreakerOpensOnAShareOfFailures(t *testing.T) {
	g, _ := gateAt(Breaker{Share: 0.5, MinCalls: 10, Failures: 1000, Window: time.Second})
	now := time.Unix(1_700_000_000, 0)
	for i := range 9 {
		call(g, now, []verdict{answered, failed}[i%2])
	}
	require.False(t, g.isOpen(), "too few calls")
	now = now.Add(time.Second) // another window
	for i := range 10 {
		require.False(t, g.isOpen())
		call(g, now, []verdict{answered, failed}[i%2])
	}
	require.True(t, g.isOpen())
}

// TestBreakerProbes: after the pause one call passes; its outcome closes the breaker or begins another
// pause; one that says nothing makes way for the next. One line for each change of state.
func TestBreakerProbes(t *testing.T) {
	const pause = time.Second
	g, lines := gateAt(Breaker{Failures: 1, Pause: pause})
	now := time.Unix(1_700_000_000, 0)
	early, _ := g.enter(now)
	call(g, now, failed)
	require.False(t, call(g, now.Add(pause/2-1), answered), "not before half a pause")
	now = now.Add(pause * 3 / 2)
	probe, ok := g.enter(now)
	require.True(t, ok)
	require.False(t, call(g, now, answered), "one probe at a time")
	g.leave(t.Context(), early, answered, nil, now)
	require.True(t, g.isOpen(), "a call from before says nothing")
	g.leave(t.Context(), probe, nothing, nil, now)
	require.True(t, call(g, now, failed), "the next probe")
	require.False(t, call(g, now.Add(pause/2-1), answered))
	now = now.Add(pause * 3 / 2)
	require.True(t, call(g, now, answered))
	require.False(t, g.isOpen())
	require.True(t, call(g, now, answered))
	require.Equal(t, 2, strings.Count(lines.String(), "\n"), lines)
	require.Contains(t, lines.String(), "circuit breaker closed")
}

// TestCallsFromBeforeAnOpening do not count, neither while the breaker is open nor when it has closed again.
func TestCallsFromBeforeAnOpening(t *testing.T) {
	g, lines := gateAt(Breaker{Failures: 2, Pause: time.Second})
	now := time.Unix(1_700_000_000, 0)
	var early []pass
	for range 10 {
		p, ok := g.enter(now)
		require.True(t, ok)
		early = append(early, p)
	}
	call(g, now, failed)
	call(g, now, failed)
	require.True(t, g.isOpen())
	g.leave(t.Context(), early[0], failed, errAway, now)
	now = now.Add(2 * time.Second)
	require.True(t, call(g, now, answered), "the probe")
	for _, p := range early[1:] { // they have hung all the while
		g.leave(t.Context(), p, failed, errAway, now)
	}
	require.False(t, g.isOpen(), "the node has answered since")
	require.Equal(t, 2, strings.Count(lines.String(), "\n"), lines)
	call(g, now, failed)
	call(g, now, failed)
	require.True(t, g.isOpen(), "calls from after the closing count")
}

// TestBreakerPausesDiffer: processes that lost the store together do not come back together.
func TestBreakerPausesDiffer(t *testing.T) {
	g, _ := gateAt(Breaker{Pause: time.Second})
	seen := map[time.Duration]bool{}
	for range 50 {
		p := g.pause()
		require.GreaterOrEqual(t, p, time.Second/2)
		require.LessOrEqual(t, p, 3*time.Second/2)
		seen[p] = true
	}
	require.Greater(t, len(seen), 40)
}

// TestBlame: what counts against a node.
func TestBlame(t *testing.T) {
	b := &Backend{deadline: 40 * time.Millisecond}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	for name, c := range map[string]struct {
		ctx    context.Context //nolint:containedctx // a row of a table
		err    error
		waited time.Duration
		want   verdict
	}{
		"answer":                   {t.Context(), nil, 0, answered},
		"lost races":               {t.Context(), ErrContended, 0, answered},
		"one key":                  {t.Context(), ErrThrottled, 0, nothing},
		"refused":                  {t.Context(), ErrUnavailable, 0, failed},
		"no answer":                {t.Context(), ErrUnknownOutcome, 0, failed},
		"caller left":              {ended, ErrUnknownOutcome, 40 * time.Millisecond, nothing},
		"deadline":                 {late, ErrUnknownOutcome, 40 * time.Millisecond, failed},
		"caller's, long enough":    {late, ErrUnknownOutcome, 10 * time.Millisecond, failed},
		"caller's, hopeless":       {late, ErrUnavailable, 10*time.Millisecond - 1, nothing},
		"caller's, answer in time": {late, nil, 1, answered},
	} {
		require.Equal(t, c.want, b.blame(c.ctx, c.err, c.waited), name)
	}
}
