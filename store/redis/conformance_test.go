//go:build unix

package redis

import (
	"testing"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
	"github.com/penstock-go/penstock/store/storetest/lineartest"
)

// kit is that of a storage on servers which it empties each time.
func kit(connect library, p *place) storetest.Kit {
	return storetest.Kit{
		New: func(t *testing.T, clock engine.Clock) store.Storage {
			t.Helper()
			for _, s := range p.masters() {
				s.Must(t, "FLUSHALL")
			}
			return connect(t, nil, p.addrs...).withClock(clock)
		},
		KeepsExpired: true,
	}
}

func TestConformance(t *testing.T) {
	p := alone(t)
	for name, connect := range libraries {
		t.Run(name, func(t *testing.T) { storetest.Run(t, kit(connect, p)) })
	}
}

// conformanceOfCluster is TestConformance with fewer random calls.
func conformanceOfCluster(t *testing.T, p *place) {
	t.Helper()
	for name, connect := range libraries {
		t.Run(name, func(t *testing.T) {
			k := kit(connect, p)
			k.Steps = 150
			storetest.Run(t, k)
		})
	}
}

func TestLinearizable(t *testing.T) { linearizable(t, alone(t)) }

// linearizable checks histories of calls that overlap, some of which fail before or after they are
// executed.
func linearizable(t *testing.T, p *place) {
	t.Helper()
	for name, connect := range libraries {
		t.Run(name, func(t *testing.T) { lineartest.Run(t, kit(connect, p)) })
	}
}

// TestCluster makes the checks of one server, and those that only a cluster can fail, on one cluster.
// The last changes which node has which slots. With -short the longest of what one server is checked for too are
// left out.
func TestCluster(t *testing.T) {
	cluster := servertest.StartRedisCluster(t, 1, "--cluster-node-timeout", "5000")
	p := placeOf(cluster)
	for _, check := range []struct {
		name string
		test func(*testing.T, *place)
	}{
		{"Conformance", unlessShort(conformanceOfCluster)},
		{"Linearizable", unlessShort(linearizable)},
		{"TimeToLive", timeToLive},
		{"AlwaysExpires", alwaysExpires},
		{"OneWrite", oneWrite},
		{"AgainAfterAWindow", againAfterAWindow},
		{"UnknownScripts", unknownScripts},
		{"StoreAway", storeAway},
		{"CallersAtOnce", callersAtOnce},
		{"SlowKey", slowKey},
		{"BeginningOfAWindow", beginningOfAWindow},
		{"LostRaces", lostRaces},
		{"CallersClock", callersClock},
		{"AnswerLateOrLost", answerLateOrLost},
		{"HybridBound", hybridBound},
		{"AllAtOnce", allAtOnce},
		{"ScriptFlush", clusterScriptFlush},
		{"Slots", slotNames},
		{"ClientOfOneServer", clientOfOneServer},
		{"SlotMoves", slotMoves},
		{"AllWhileASlotMoves", allWhileASlotMoves},
	} {
		t.Run(check.name, func(t *testing.T) { check.test(t, p) })
	}
}

// unlessShort skips a test with -short.
func unlessShort(test func(*testing.T, *place)) func(*testing.T, *place) {
	return func(t *testing.T, p *place) {
		t.Helper()
		if testing.Short() {
			t.Skip("not with -short: one server is checked in the same way")
		}
		test(t, p)
	}
}
