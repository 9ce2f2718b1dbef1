//go:build unix

package redis

import (
	"testing"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/redis/internal/redistest"
	"github.com/penstock-go/penstock/store/storetest"
	"github.com/penstock-go/penstock/store/storetest/lineartest"
)

// kit is that of a storage on servers which it empties each time.
func kit(new func(testing.TB, ...string) *Storage, nodes []*redistest.Server, addrs ...string) storetest.Kit {
	return storetest.Kit{
		New: func(t *testing.T, clock engine.Clock) store.Storage {
			t.Helper()
			for _, s := range nodes {
				s.Must(t, "FLUSHALL")
			}
			return new(t, addrs...).withClock(clock)
		},
		KeepsExpired: true,
	}
}

func TestConformance(t *testing.T) {
	server := redistest.Start(t)
	for name, library := range libraries {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, kit(library, []*redistest.Server{server}, server.Addr))
		})
	}
}

// TestLinearizable checks histories of calls that overlap, some of which fail before or after they are
// executed.
func TestLinearizable(t *testing.T) {
	server := redistest.Start(t)
	for name, library := range libraries {
		t.Run(name, func(t *testing.T) {
			lineartest.Run(t, kit(library, []*redistest.Server{server}, server.Addr))
		})
	}
}

func TestConformanceCluster(t *testing.T) {
	cluster := redistest.StartCluster(t, "5000")
	for name, library := range libraries {
		t.Run(name, func(t *testing.T) {
			k := kit(library, cluster.Masters(), cluster.Addrs()...)
			k.Steps = 300
			storetest.Run(t, k)
		})
	}
}
