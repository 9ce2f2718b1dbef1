//go:build interleave

package evict

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/interleave"
	"github.com/stretchr/testify/require"
)

// box is a table whose sweep drops all keys.
type box struct {
	keys, refreshed interleave.Int64
	sweeps          int
}

func (b *box) SweepStep() bool { b.keys.Store(0); b.sweeps++; return true }
func (b *box) Refresh()        { b.refreshed.Add(1) }
func (b *box) Horizon() int64  { return math.MaxInt64 }
func (b *box) Len() int        { return int(b.keys.Load()) }

const (
	keptAwake = "sweeps after which keys were left"
	rested    = "sweepers at rest"
	ended     = "sweepers that were closed"
)

// explore runs goroutines on a sweeper. At the end, unless it is closed, a sweep is due if there are keys.
func explore(t *testing.T, name string, provokes []string, setup func(r *interleave.Run, b *box, s *Sweeper[box, *box])) {
	t.Helper()
	report := interleave.Explore(&interleave.Program{
		Name: name, Bound: interleave.Exhaustive, Provokes: provokes,
		Setup: func(r *interleave.Run) {
			b := &box{}
			s := New(b, time.Hour)
			setup(r, b, s)
			r.Check(func() error {
				keys, sweeps, due := b.Len(), b.sweeps, r.Due()
				for _, run := range due {
					run() // those that another was set after do nothing
				}
				swept := b.sweeps > sweeps
				switch {
				case s.closed && swept:
					return errors.New("a sweeper that is closed sweeps")
				case s.closed:
					r.Count(ended, 1)
				case !swept && keys > 0:
					return errors.New("no sweep is due, and there are keys")
				case len(due) == 0:
					r.Count(rested, 1)
				case sweeps > 0 && keys > 0:
					r.Count(keptAwake, 1)
				}
				return nil
			})
		},
	})
	t.Logf("%v", &report)
	require.NoError(t, report.Err)
}

// Keys come while a sweep ends: it goes to rest only if there are none.
func TestInterleaveKickRun(t *testing.T) {
	explore(t, "sweeper: keys come, sweep ends", []string{keptAwake, rested, interleave.Waits},
		func(r *interleave.Run, b *box, s *Sweeper[box, *box]) {
			come := func() { b.keys.Add(1); s.Kick() }
			come()
			r.Go(come)
			r.Go(func() {
				for range 2 {
					for _, run := range r.Due() {
						run()
					}
				}
			})
			r.Go(come)
		})
}

// The same beside Hurry and Close.
func TestInterleaveHurryClose(t *testing.T) {
	explore(t, "sweeper: keys come, hurry, close", []string{ended, interleave.Waits},
		func(r *interleave.Run, b *box, s *Sweeper[box, *box]) {
			r.Go(func() { b.keys.Add(1); s.Kick(); s.Hurry() })
			r.Go(func() {
				for _, run := range r.Due() {
					run()
				}
			})
			r.Go(s.Close)
		})
}
