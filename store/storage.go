package store

import (
	"context"
	"time"
)

// Storage keeps one word a key, for all processes that share it: the least that a store has to
// offer. Every algorithm of one word runs on it by compare-and-swap. Keys are any bytes, at most
// some 800 of them. Package storetest checks an implementation.
//
// All methods are safe for concurrent use, and linearizable for each key: a Get that begins after a
// CompareAndSwap or Put ended sees it or what came later. They return when ctx is done, and start no
// goroutine that lives on. They neither retry what may have been executed nor wait longer than ctx says.
//
// # Time to live
//
// A word written with a time to live of ttl is kept for ttl at least, by the store's own clock: it
// equals a new one from then on. It is gone a minute later at most, whether the store has removed it
// or only passes over it: a word must not be read once it is too old to be understood.
// A ttl of [Forever] keeps it for good.
//
// # Errors
//
// Wrap [ErrUnavailable] if the operation was surely not executed (no connection, a node that is
// loading, a full memory), [ErrThrottled] if it was refused for the sake of this one key,
// [ErrContended] if an [Applier] lost every race and charged nothing. Any other
// error, such as one of ctx, is taken to mean that nobody knows, and is not retried where that could
// charge twice.
type Storage interface {
	// Info describes the store. It does not ask it, and always returns the same.
	Info() Info
	// Get returns the word of key, 0 if there is none.
	Get(ctx context.Context, key string) (Reading, error)
	// CompareAndSwap writes next if the word is old, 0 meaning that there is none, and reports whether
	// it did. If not, the reading is what stands there instead, with a fresh time, so that another
	// try needs no Get. next is not 0. If it did, the reading is of no meaning.
	CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (Reading, bool, error)
	// Put writes word whatever stands there; 0 removes the key.
	Put(ctx context.Context, key string, word uint64, ttl time.Duration) error
	// Close frees what the storage has made. It may be called again.
	Close() error
}

// Forever is the time to live of a word that never equals a new one.
const Forever time.Duration = 0

// Reading is a word and the time at which it was read.
type Reading struct {
	Word uint64 // 0 if there is none
	Now  int64  // ticks of the store's clock since 1970-01-01 UTC
}

// Info describes a storage.
type Info struct {
	// Name is what the store is called in errors and logs, such as "redis".
	Name string
	// Tick is the resolution of its clock: the unit of [Reading.Now]. From 1 ns to 1 s.
	Tick time.Duration
	// SharedClock reports whether all processes read one clock, the store's. Then a word that lies
	// in the future is known to be from before a step back of that clock, and is brought back to the
	// present. Where each caller brings a time of its own it may be from one whose clock is ahead.
	SharedClock bool
	// MaxUnits bounds the units that a bucket may hold (see package atomicstate) where the store
	// computes in fewer than 62 bits, such as 1<<52; 0 is no bound. Rates that do not fit in it exactly
	// are slowed by less than a millionth, or refused.
	MaxUnits int64
}

// Applier is a [Storage] that decides by itself, in one round trip. What it writes for a key may have
// any form: Get and CompareAndSwap are never called for a key that Apply is called for, only Put of 0.
type Applier interface {
	Storage
	// Accepts returns nil if Apply can decide by law, else an error that wraps [ErrNotSupported] and
	// says why: such limits go the way of compare-and-swap. It does not ask the store.
	Accepts(law *Law) error
	// Apply makes all ops, in any order, each atomically, and writes what became of ops[i] to
	// results[i]; len(results) == len(ops). Ops of one key are allowed. Each has an error of its own;
	// see [Storage] on errors. Apply is what [Law.Apply] is, at the store's own time.
	Apply(ctx context.Context, ops []Op, results []Result)
}

// Op is a charge for a store to make by itself.
type Op struct {
	Key string // in full, see [Shared.Key]
	Law *Law   // one that Accepts took
	// Min and Max say how many permits to take: as many as there are up to Max, none if they are
	// fewer than Min. 1 <= Min <= Max <= the capacity in permits; or both are 0: only look.
	Min, Max int64
}

// Result is what became of an [Op].
type Result struct {
	// Before is the state on which the op was decided: after [Law.Settle] where there is a shared
	// clock, before the charge. The zero State if there was none.
	Before State
	// Now is the time of the decision, in ticks.
	Now int64
	// Taken is how many permits were charged: 0, or Min to Max.
	Taken int64
	// Err is nil, or why there is no decision; see [Storage] on errors.
	Err error
}

// Sharded is a [Storage] of several nodes that fail one by one, each of which gets a circuit breaker
// of its own.
type Sharded interface {
	// Node returns the name of the node that key lives on, from memory. The names are few.
	Node(key string) string
}

// WithoutApply hides that a storage is an [Applier], so that every limit goes the way of
// compare-and-swap.
func WithoutApply(s Storage) Storage {
	if sharded, ok := s.(Sharded); ok {
		return struct {
			Storage
			Sharded
		}{s, sharded}
	}
	return struct{ Storage }{s}
}
