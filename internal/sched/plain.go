//go:build !interleave

package sched

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v3"
)

// Bool, and each type below it, is the one that it stands for.
type (
	Bool                       = atomic.Bool
	Int64                      = atomic.Int64
	Uint32                     = atomic.Uint32
	Uint64                     = atomic.Uint64
	Pointer[T any]             = atomic.Pointer[T]
	Mutex                      = sync.Mutex
	Timer                      = time.Timer
	MapOf[K comparable, V any] = xsync.MapOf[K, V]
)

// NewMapOf returns an empty map.
func NewMapOf[K comparable, V any]() *MapOf[K, V] { return xsync.NewMapOf[K, V]() }

// Since is [time.Since].
func Since(origin time.Time) time.Duration { return time.Since(origin) }

// AfterFunc is [time.AfterFunc].
func AfterFunc(d time.Duration, f func()) *Timer { return time.AfterFunc(d, f) }
