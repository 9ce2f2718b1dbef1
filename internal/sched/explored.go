//go:build interleave

package sched

import (
	"time"

	"github.com/penstock-go/penstock/internal/interleave"
)

type (
	// Bool is [interleave.Bool].
	Bool = interleave.Bool
	// Int64 is [interleave.Int64].
	Int64 = interleave.Int64
	// Uint32 is [interleave.Uint32].
	Uint32 = interleave.Uint32
	// Uint64 is [interleave.Uint64].
	Uint64 = interleave.Uint64
	// Pointer is [interleave.Pointer].
	Pointer[T any] = interleave.Pointer[T]
	// Mutex is [interleave.Mutex].
	Mutex = interleave.Mutex
	// Timer is [interleave.Timer].
	Timer = interleave.Timer
	// MapOf is [interleave.MapOf].
	MapOf[K comparable, V any] = interleave.MapOf[K, V]
)

// NewMapOf returns an empty map.
func NewMapOf[K comparable, V any]() *MapOf[K, V] { return interleave.NewMapOf[K, V]() }

// Since is the clock of the goroutine that is explored.
func Since(origin time.Time) time.Duration { return interleave.Since(origin) }

// AfterFunc sets a timer that the program runs.
func AfterFunc(d time.Duration, f func()) *Timer { return interleave.AfterFunc(d, f) }
