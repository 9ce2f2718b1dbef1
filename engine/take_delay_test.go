package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// TestTakeTellsTheTurn: on each of a limiter's own clocks, Take says when a call's turn in a leaky queue is, for
// the call that makes the key and for those that find it.
func TestTakeTellsTheTurn(t *testing.T) {
	for name, opts := range map[string][]engine.Option{
		"exact": nil, "stats": {engine.WithStats()}, "coarse": {engine.WithCoarseClock(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := engine.Must[string](engine.LeakyQueue(engine.PerSecond(2), 6), opts...)
				defer func() { require.NoError(t, l.Close()) }()
				for i := range 4 {
					require.Equal(t, time.Duration(i)*500*time.Millisecond, l.Take("key", 1).Delay, "call %d", i)
				}
			})
		})
	}
}
