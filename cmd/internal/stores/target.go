package stores

import (
	"context"
	"errors"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// Target is a store that was reached. Its methods are safe for concurrent use.
type Target interface {
	// About says what it is, such as "redis 7.0.15, cluster of 3 masters".
	About() string
	// Storage returns the storage as programs use it, which Close closes.
	Storage() store.Storage
	// AtClock returns a storage that decides at the time of c, the time since
	// 1970-01-01 UTC.
	AtClock(ctx context.Context, c engine.Clock) (store.Storage, error)
	// Losing returns a storage on connections of its own on which answers are
	// lost as loss says, or ErrNoConnection.
	Losing(ctx context.Context, loss *Loss) (store.Storage, error)
	// ForgetsByItself reports whether keys are gone when they equal new ones.
	ForgetsByItself() bool
	Close() error
}

// ErrNoConnection reports a store that is not reached over a connection.
var ErrNoConnection = errors.New("there is no connection that could be lost")

// Open reaches the store at an address. The error says what to do.
func Open(ctx context.Context, a *Address) (Target, error) {
	switch a.scheme {
	case "memory":
		return memory{store.NewMemory(memoryTick, nil)}, nil
	case "dynamodb":
		return openDynamoDB(ctx, a)
	}
	return openRedis(ctx, a)
}

// InProcess reports whether a store is in this process, so that opening it again
// makes another one.
func InProcess(t Target) bool {
	_, ok := t.(memory)
	return ok
}

// memoryTick is the resolution of the stores that others use, so that the
// answers are the same.
const memoryTick = time.Microsecond

// memory is a store in this process.
type memory struct{ s *store.Memory }

// About says what it is.
func (memory) About() string { return "memory of this process" }

// Storage returns the store itself.
func (m memory) Storage() store.Storage { return m.s }

// ForgetsByItself reports that words expire.
func (memory) ForgetsByItself() bool { return true }

// Close does nothing.
func (memory) Close() error { return nil }

// AtClock returns another store, at the time of c.
func (memory) AtClock(_ context.Context, c engine.Clock) (store.Storage, error) {
	return store.NewMemory(memoryTick, c), nil
}

// Losing returns ErrNoConnection.
func (memory) Losing(context.Context, *Loss) (store.Storage, error) { return nil, ErrNoConnection }
