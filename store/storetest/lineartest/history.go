// Package lineartest checks with porcupine that a store is linearizable: that calls which overlap come
// out as if they were made one after the other, each at some instant between its call and its return.
// It is a module of its own because of that dependency; package storetest does without.
//
//	func TestLinearizable(t *testing.T) {
//		lineartest.Run(t, kit) // as for storetest.Run
//	}
package lineartest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

const (
	clients  = 6                // call at once
	calls    = 60               // of each
	keys     = 3                // that they fight for
	rounds   = 4                // histories, each with calls of its own
	patience = 30 * time.Second // of the checker with one history

	// One operation in faultShare fails before it is executed, and one after.
	faultShare = 20
)

// Run checks operations on words, and decisions by compare-and-swap and by Apply; each also with
// operations that fail before or after they are executed.
func Run(t *testing.T, k storetest.Kit) {
	t.Helper()
	for _, faults := range []bool{false, true} {
		name := map[bool]string{false: "quiet", true: "faults"}[faults]
		t.Run("words/"+name, func(t *testing.T) {
			check(t, func(seed uint64) error { return words(t.Context(), k.New(t, nil), seed, faults) })
		})
		t.Run("swap/"+name, func(t *testing.T) {
			check(t, func(seed uint64) error {
				return decisions(t.Context(), store.WithoutApply(k.New(t, nil)), seed, faults)
			})
		})
		if _, ok := k.New(t, nil).(store.Applier); ok {
			t.Run("apply/"+name, func(t *testing.T) {
				check(t, func(seed uint64) error { return decisions(t.Context(), k.New(t, nil), seed, faults) })
			})
		}
	}
}

// check makes some histories.
func check(t *testing.T, history func(seed uint64) error) {
	t.Helper()
	for seed := range uint64(rounds) {
		if err := history(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// errInjected is an answer that was lost on purpose.
var errInjected = errors.New("lost on purpose")

// faulty puts faults at random into a storage.
func faulty(s store.Storage, seed uint64, faults bool) store.Storage {
	f := storetest.NewFaulty(s)
	if !faults {
		return f
	}
	var mu sync.Mutex
	rnd := rand.New(rand.NewPCG(seed, 11))
	fault := func(err error) storetest.Fault {
		return func(context.Context, storetest.Call, string) error {
			mu.Lock()
			defer mu.Unlock()
			if rnd.IntN(faultShare) == 0 {
				return err
			}
			return nil
		}
	}
	f.SetBefore(fault(fmt.Errorf("%w: not executed on purpose", store.ErrUnavailable)))
	f.SetAfter(fault(errInjected))
	return f
}

// effect is what is known of an operation.
type effect uint8

const (
	done    effect = iota // it took effect, as its output says
	none                  // it surely had none
	unknown               // it may have had, or may have later
)

// effectOf reads an error of a storage or a limiter.
func effectOf(err error) effect {
	switch {
	case err == nil:
		return done
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrContended):
		return none
	}
	return unknown
}

// record lets clients make their calls at once, and returns what each saw and when.
func record[In, Out any](seed uint64, input func(*rand.Rand) In, call func(In) (Out, effect)) []porcupine.Operation {
	began := time.Now()
	var all [clients][]porcupine.Operation
	var running sync.WaitGroup
	for client := range clients {
		rnd := rand.New(rand.NewPCG(seed, uint64(client)))
		running.Go(func() {
			for range calls {
				in := input(rnd)
				op := porcupine.Operation{ClientId: client, Input: in, Call: int64(time.Since(began))}
				out, how := call(in)
				op.Output, op.Return = out, int64(time.Since(began))
				switch how {
				case none:
					continue
				case unknown:
					op.Return = math.MaxInt64
				}
				all[client] = append(all[client], op)
			}
		})
	}
	running.Wait()
	var history []porcupine.Operation
	for _, ops := range all {
		history = append(history, ops...)
	}
	return history
}

// judge returns an error if a history is not linearizable.
func judge(model porcupine.Model, history []porcupine.Operation) error {
	switch porcupine.CheckOperationsTimeout(model, history, patience) {
	case porcupine.Ok:
		return nil
	case porcupine.Illegal:
		return errNotLinear
	}
	return fmt.Errorf("not decided within %v", patience)
}

// errNotLinear reports a history that no order of its operations explains.
var errNotLinear = errors.New("not linearizable")

// byKey splits a history into one for each key.
func byKey[In any](key func(In) string) func([]porcupine.Operation) [][]porcupine.Operation {
	return func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		at := map[string]int{}
		for _, op := range history {
			k := key(op.Input.(In)) //nolint:errcheck // there is nothing else in it
			if _, ok := at[k]; !ok {
				at[k] = len(parts)
				parts = append(parts, nil)
			}
			parts[at[k]] = append(parts[at[k]], op)
		}
		return parts
	}
}
