package storetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/penstock-go/penstock/store"
)

// Call is the name of an operation of a storage.
type Call string

// The operations of a storage.
const (
	CallGet   Call = "get"
	CallSwap  Call = "swap" // CompareAndSwap
	CallPut   Call = "put"
	CallApply Call = "apply" // one of its ops
)

// Fault decides what goes wrong with an operation: nil is nothing. It may block until ctx is done.
type Fault func(ctx context.Context, call Call, key string) error

// Faulty is a storage with faults put in. It is an Applier where the storage inside is one. Its methods
// are safe for concurrent use.
type Faulty struct {
	inner store.Storage

	mu            sync.Mutex
	before, after Fault
	executed      map[Call]int
}

var _ store.Applier = (*Faulty)(nil)

// NewFaulty returns a storage that does what s does until faults are set.
func NewFaulty(s store.Storage) *Faulty { return &Faulty{inner: s, executed: map[Call]int{}} }

// SetBefore sets the fault before an operation: with an error it is not executed.
func (f *Faulty) SetBefore(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = fault
}

// SetAfter sets the fault after an operation: with an error it was executed, and its answer is lost.
func (f *Faulty) SetAfter(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = fault
}

// Executed returns how many operations of a kind the storage inside was asked for.
func (f *Faulty) Executed(call Call) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.executed[call]
}

// Delay is a fault that only takes time, and fails when ctx is done.
func Delay(d time.Duration) Fault {
	return func(ctx context.Context, _ Call, _ string) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *Faulty) begin(ctx context.Context, call Call, key string) error {
	f.mu.Lock()
	fault := f.before
	f.mu.Unlock()
	if fault != nil {
		if err := fault(ctx, call, key); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.executed[call]++
	return nil
}

func (f *Faulty) end(ctx context.Context, call Call, key string) error {
	f.mu.Lock()
	fault := f.after
	f.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(ctx, call, key)
}

// Info is that of the storage inside.
func (f *Faulty) Info() store.Info { return f.inner.Info() }

// Get asks the storage inside, between the faults.
func (f *Faulty) Get(ctx context.Context, key string) (store.Reading, error) {
	if err := f.begin(ctx, CallGet, key); err != nil {
		return store.Reading{}, err
	}
	at, err := f.inner.Get(ctx, key)
	if lost := f.end(ctx, CallGet, key); lost != nil {
		return store.Reading{}, lost
	}
	return at, err
}

// CompareAndSwap asks the storage inside, between the faults.
func (f *Faulty) CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (store.Reading, bool, error) {
	if err := f.begin(ctx, CallSwap, key); err != nil {
		return store.Reading{}, false, err
	}
	at, ok, err := f.inner.CompareAndSwap(ctx, key, old, next, ttl)
	if lost := f.end(ctx, CallSwap, key); lost != nil {
		return store.Reading{}, false, lost
	}
	return at, ok, err
}

// Put asks the storage inside, between the faults.
func (f *Faulty) Put(ctx context.Context, key string, word uint64, ttl time.Duration) error {
	if err := f.begin(ctx, CallPut, key); err != nil {
		return err
	}
	err := f.inner.Put(ctx, key, word, ttl)
	if lost := f.end(ctx, CallPut, key); lost != nil {
		return lost
	}
	return err
}

// Accepts accepts what the storage inside does, nothing if that is no Applier.
func (f *Faulty) Accepts(law *store.Law) error {
	if applier, ok := f.inner.(store.Applier); ok {
		return applier.Accepts(law)
	}
	return fmt.Errorf("%w: %s does not decide by itself", store.ErrNotSupported, f.Info().Name)
}

// Apply asks the storage inside, with the faults of each op.
func (f *Faulty) Apply(ctx context.Context, ops []store.Op, results []store.Result) {
	applier, ok := f.inner.(store.Applier)
	var pass []store.Op
	var of []int
	for i, op := range ops {
		err := f.begin(ctx, CallApply, op.Key)
		if err == nil && !ok {
			err = f.Accepts(op.Law)
		}
		if results[i] = (store.Result{Err: err}); err == nil {
			pass, of = append(pass, op), append(of, i)
		}
	}
	if len(pass) == 0 {
		return
	}
	answers := make([]store.Result, len(pass))
	applier.Apply(ctx, pass, answers)
	for j, i := range of {
		results[i] = answers[j]
		if lost := f.end(ctx, CallApply, ops[i].Key); lost != nil {
			results[i] = store.Result{Err: lost}
		}
	}
}

// Close closes the storage inside.
func (f *Faulty) Close() error { return f.inner.Close() }
