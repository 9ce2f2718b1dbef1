//go:build !interleave

package sched

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v3"
)

type (
	// Bool is [atomic.Bool].
	Bool = atomic.Bool
	// Int64 is [atomic.Int64].
	Int64 = atomic.Int64
	// Uint32 is [atomic.Uint32].
	Uint32 = atomic.Uint32
	// Uint64 is [atomic.Uint64].
	Uint64 = atomic.Uint64
	// Pointer is [atomic.Pointer].
	Pointer[T any] = atomic.Pointer[T]
	// Mutex is [sync.Mutex].
	Mutex = sync.Mutex
	// Timer is [time.Timer].
	Timer = time.Timer
	// MapOf is [xsync.MapOf].
	MapOf[K comparable, V any] = xsync.MapOf[K, V]
)

// NewMapOf returns an empty map.
func NewMapOf[K comparable, V any]() *MapOf[K, V] { return xsync.NewMapOf[K, V]() }

// Since is [time.Since].
func Since(origin time.Time) time.Duration { return time.Since(origin) }

// AfterFunc is [time.AfterFunc].
func AfterFunc(d time.Duration, f func()) *Timer { return time.AfterFunc(d, f) }
