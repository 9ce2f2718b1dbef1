package storetest_test

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

func memory(tick time.Duration) storetest.Kit {
	return storetest.Kit{New: func(_ *testing.T, clock engine.Clock) store.Storage { return store.NewMemory(tick, clock) }}
}

func TestMemory(t *testing.T) {
	for _, tick := range []time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond} {
		t.Run(tick.String(), func(t *testing.T) { storetest.Run(t, memory(tick)) })
	}
}
