//go:build unix

package redis

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/store"
)

// load is callers that call without a pause, and what became of their calls.
type load struct {
	allowed, denied, unavailable, unknown, other atomic.Int64

	mu      sync.Mutex
	longest time.Duration
	odd     error // the first error of no known kind

	stop chan struct{}
	done sync.WaitGroup
}

// startLoad starts callers, each of which makes calls until it is stopped or call returns false.
func startLoad(callers int, call func(l *load, caller int) bool) *load {
	l := &load{stop: make(chan struct{})}
	for i := range callers {
		l.done.Go(func() {
			for failed := l.failed(); call(l, i); failed = l.failed() {
				pause := time.Duration(0)
				if l.failed() != failed { // do not spin where a breaker answers at once
					pause = time.Millisecond
				}
				select {
				case <-l.stop:
					return
				case <-time.After(pause):
				}
			}
		})
	}
	return l
}

func (l *load) failed() int64 { return l.unavailable.Load() + l.unknown.Load() }

// end stops the callers and waits for them.
func (l *load) end() {
	close(l.stop)
	l.done.Wait()
}

// take makes a call and counts it.
func (l *load) take(ctx context.Context, limiter store.Limiter, key string) store.Decision {
	began := time.Now()
	d, err := limiter.Take(ctx, key, 1)
	l.count(d, err, time.Since(began))
	return d
}

func (l *load) count(d store.Decision, err error, took time.Duration) {
	switch {
	case errors.Is(err, store.ErrUnavailable):
		l.unavailable.Add(1)
	case errors.Is(err, store.ErrUnknownOutcome):
		l.unknown.Add(1)
	case err != nil:
		l.other.Add(1)
	case d.Allowed:
		l.allowed.Add(1)
	default:
		l.denied.Add(1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longest = max(l.longest, took)
	if err != nil && l.odd == nil && !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrUnknownOutcome) {
		l.odd = err
	}
}

// report writes the counts to the test's log, and fails for errors of no kind.
func (l *load) report(t *testing.T) {
	t.Helper()
	t.Logf("%d allowed, %d denied, %d unavailable, %d of unknown outcome; longest call %v",
		l.allowed.Load(), l.denied.Load(), l.unavailable.Load(), l.unknown.Load(), l.longest)
	require.NoError(t, l.odd)
}

// balanced checks what plenty of permits of a key, of which left remain, say about the calls for it: those that
// passed were charged, and besides them at most those of unknown outcome, each once.
func (l *load) balanced(t *testing.T, left int64) {
	t.Helper()
	charged := plenty - left
	require.LessOrEqual(t, l.allowed.Load(), charged, "more passed than were charged")
	require.LessOrEqual(t, charged, l.allowed.Load()+l.unknown.Load(), "a call was charged twice")
}

// lines is a log.
type lines struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(b)
}

// logged returns an option that logs to new lines.
func logged() (*lines, store.Option) {
	l := &lines{}
	return l, store.WithLogger(slog.New(slog.NewTextHandler(l, nil)))
}

// of returns the lines about a node; "" is all.
func (l *lines) of(node string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buffer.String()) {
		if strings.Contains(line, node) {
			found = append(found, line)
		}
	}
	return found
}

// alternates checks that each line is a change of state: opened, closed, opened, ...
func alternates(t *testing.T, found []string) {
	t.Helper()
	for i, line := range found {
		want := []string{"breaker opened", "breaker closed"}[i%2]
		require.Contains(t, line, want, "line %d of %v", i, found)
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after 30 s: %s", what)
		}
	}
}

// noGoroutineLeft checks, when the test has ended and all is closed, that no goroutine is left. It has
// to be called first.
func noGoroutineLeft(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; <-time.After(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<16)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}

// steady is a breaker that never opens.
func steady() store.Option {
	return store.WithBreaker(store.Breaker{Failures: 1 << 30, MinCalls: 1 << 30})
}

// quick is a breaker that tries again soon.
func quick() store.Option { return store.WithBreaker(store.Breaker{Pause: 50 * time.Millisecond}) }

// left returns how many permits of a key remain, once the store answers.
func left(t *testing.T, l *store.Shared, key string) (n int64) {
	t.Helper()
	eventually(t, "the store answers", func() bool {
		d, err := l.Peek(t.Context(), key)
		n = d.Remaining
		return err == nil
	})
	return n
}
