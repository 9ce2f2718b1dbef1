package dynamodb_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/faultproxy"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// plenty is a limit that refills nothing while a test runs, so that what was charged can be counted.
var plenty = engine.TokenBucket(engine.Rate{Tokens: 1, Per: time.Hour}, 100_000)

// patient is a deadline that no call meets unless something holds it up for good.
const patient = 20 * time.Second

// behind is a limiter that reaches its server through a proxy, and one that does not.
type behind struct {
	server          *dynamodbtest.Server
	proxy           *faultproxy.Proxy
	limiter, direct *store.Shared
	wire            *wire
}

func newBehind(t *testing.T, server *dynamodbtest.Server, opts ...store.Option) *behind {
	t.Helper()
	b := &behind{server: server}
	var err error
	b.proxy, err = faultproxy.New(server.Address(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.proxy.Close()) })
	straight := dynamodbtest.Client(t, server.URL)
	table := dynamodbtest.Table(t, straight)
	b.direct = on(t, server.OpenTable(t, straight, table), plenty, store.WithDeadline(patient))
	w, wrap := counted()
	b.wire = w
	client := dynamodbtest.Client(t, "http://"+b.proxy.Addr(), wrap)
	b.limiter = on(t, server.OpenTable(t, client, table), plenty, opts...)
	return b
}

// used returns how many permits of "key" have been charged.
func (b *behind) used(t *testing.T) int64 {
	t.Helper()
	d, err := b.direct.Peek(t.Context(), "key")
	require.NoError(t, err)
	return d.Limit - d.Remaining
}

// noBreaker keeps the breaker from answering in place of the server.
var noBreaker = store.WithBreaker(store.Breaker{Failures: 1 << 30, MinCalls: 1 << 30})

// TestLostReplies: the server executes each call and its answer is lost, on connections that are new and on such
// that were used before. Each call is executed once, sent once, and said to be unknown. (With the retries that
// the client is configured to each would be charged three times, and reported as a success or not.)
func TestLostReplies(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			leavesNoGoroutines(t)
			server := start(t)
			b := newBehind(t, server, store.WithDeadline(patient), noBreaker)
			const lost = 10
			for i := range lost {
				_, err := b.limiter.Peek(t.Context(), "key") // leaves an open connection
				require.NoError(t, err)
				b.proxy.Set(faultproxy.Fault{LoseReply: true})
				d, err := b.limiter.Take(t.Context(), "key", 1)
				b.proxy.Set(faultproxy.Fault{})
				require.ErrorIs(t, err, store.ErrUnknownOutcome)
				require.NotErrorIs(t, err, store.ErrUnavailable)
				named(t, err)
				require.False(t, d.Allowed)
				require.Equal(t, int64(i+1), b.used(t))
			}
			require.Equal(t, lost, b.proxy.Lost())
			sent, _ := b.wire.counts("UpdateItem")
			require.Equal(t, lost, sent)
		})
	}
}

// TestLateReplies: answers come after the deadline. Each call was executed once, and is said to be unknown.
func TestLateReplies(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			leavesNoGoroutines(t)
			server := start(t)
			b := newBehind(t, server, store.WithDeadline(200*time.Millisecond), noBreaker)
			const late = 5
			for range late {
				_, err := b.limiter.Peek(t.Context(), "key") // else it would guess that the key is idle, in vain
				require.NoError(t, err)
				b.proxy.Set(faultproxy.Fault{DelayReply: 5 * time.Second})
				_, err = b.limiter.Take(t.Context(), "key", 1)
				b.proxy.Set(faultproxy.Fault{})
				require.ErrorIs(t, err, store.ErrUnknownOutcome)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			sent, _ := b.wire.counts("UpdateItem")
			require.Equal(t, late, sent)
			require.Eventually(t, func() bool { return b.used(t) == late }, patient, 10*time.Millisecond)
		})
	}
}

// TestLateRequests: requests do not reach the server in time. Some are executed after the caller has left, none
// twice.
func TestLateRequests(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			leavesNoGoroutines(t)
			server := start(t)
			b := newBehind(t, server, store.WithDeadline(20*time.Millisecond), noBreaker)
			const late = 5
			for range late {
				b.proxy.Set(faultproxy.Fault{DelayRequest: 60 * time.Millisecond})
				_, err := b.limiter.Take(t.Context(), "key", 1)
				require.ErrorIs(t, err, store.ErrUnknownOutcome)
			}
			b.proxy.Set(faultproxy.Fault{})
			require.LessOrEqual(t, b.used(t), int64(late))
			sent, _ := b.wire.counts("UpdateItem")
			require.Equal(t, late, sent)
		})
	}
}

// TestRefusedConnections: nobody listens. Nothing was charged, which is said, and the call is made once more.
// A connection that is reset as it opens may have taken the request along: that is unknown, and is not.
func TestRefusedConnections(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			leavesNoGoroutines(t)
			server := start(t)
			b := newBehind(t, server, store.WithDeadline(patient), noBreaker)
			b.proxy.Set(faultproxy.Fault{Refuse: true})
			b.proxy.Reset()
			_, err := b.limiter.Take(t.Context(), "key", 1)
			require.Error(t, err)
			require.NotEqual(t, errors.Is(err, store.ErrUnknownOutcome), errors.Is(err, store.ErrUnavailable))
			require.Zero(t, b.used(t))
			require.NoError(t, b.proxy.Close())
			before, _ := b.wire.counts("UpdateItem")
			_, err = b.limiter.Take(t.Context(), "key", 1)
			require.ErrorIs(t, err, store.ErrUnavailable)
			require.ErrorIs(t, err, syscall.ECONNREFUSED)
			named(t, err)
			after, _ := b.wire.counts("UpdateItem")
			require.Equal(t, 2, after-before)
			require.Zero(t, b.used(t))
		})
	}
}

// lines counts the lines of a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) with(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// alternate reports whether the breaker's lines tell of changes only: opened, closed, opened, and so on.
func (l *lines) alternate() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	open := false
	for line := range strings.Lines(l.text.String()) {
		if open == strings.Contains(line, "breaker opened") {
			return false
		}
		open = !open
	}
	return true
}

// TestKilledServer: the server is killed (SIGKILL) under callers and started again. What passed was
// charged, what was charged passed or is unknown; the breaker opens and closes with a line each time.
func TestKilledServer(t *testing.T) {
	leavesNoGoroutines(t)
	server := dynamodbtest.DynaliteOnDisk(t)
	client := dynamodbtest.Client(t, server.URL)
	table := dynamodbtest.Table(t, client)
	log := &lines{}
	opts := []store.Option{
		store.WithDeadline(2 * time.Second), store.WithLogger(slog.New(slog.NewTextHandler(log, nil))),
		store.WithBreaker(store.Breaker{Pause: 20 * time.Millisecond}),
	}
	l := on(t, server.OpenTable(t, client, table), plenty, opts...)
	var allowed, unknown, unavailable atomic.Int64
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				switch d, err := l.Take(t.Context(), "key", 1); {
				case d.Allowed:
					allowed.Add(1)
				case errors.Is(err, store.ErrUnknownOutcome):
					unknown.Add(1)
				case err != nil:
					unavailable.Add(1)
				}
				again := time.NewTimer(time.Millisecond)
				<-again.C
			}
		})
	}
	passes := func(more int64) {
		t.Helper()
		want := allowed.Load() + more
		require.Eventually(t, func() bool { return allowed.Load() >= want }, patient, time.Millisecond)
	}
	passes(30)
	server.Kill(t)
	require.Eventually(t, func() bool { return log.with("breaker opened") == 1 }, patient, time.Millisecond)
	server.Start(t)
	passes(30)
	close(stop)
	callers.Wait()
	require.Eventually(t, func() bool { return log.with("breaker opened") == log.with("breaker closed") }, patient, time.Millisecond)
	require.True(t, log.alternate(), log.text.String())
	d, err := l.Peek(t.Context(), "key")
	require.NoError(t, err)
	used := d.Limit - d.Remaining
	t.Logf("%d passed, %d unknown, %d not made; %d charged; log:\n%s", allowed.Load(), unknown.Load(), unavailable.Load(), used, &log.text)
	require.GreaterOrEqual(t, used, allowed.Load())
	require.LessOrEqual(t, used, allowed.Load()+unknown.Load())
	require.Positive(t, unavailable.Load())
}

// TestDeadlinesOfManyCallers: 64 callers with 20 ms meet a server that answers nothing. All return while it
// does not, with an error that says what is known; when it answers again, so do they; and no goroutine stays.
func TestDeadlinesOfManyCallers(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			leavesNoGoroutines(t)
			server := start(t)
			b := newBehind(t, server, store.WithDeadline(20*time.Millisecond), noBreaker)
			b.used(t)
			callers := func(n int, each func(d store.Decision, err error)) (longest time.Duration) {
				var done sync.WaitGroup
				var most atomic.Int64
				for range n {
					done.Go(func() {
						began := time.Now()
						each(b.limiter.Take(t.Context(), "key", 1))
						for took := int64(time.Since(began)); ; {
							if old := most.Load(); took <= old || most.CompareAndSwap(old, took) {
								return
							}
						}
					})
				}
				done.Wait()
				return time.Duration(most.Load())
			}
			callers(64, func(store.Decision, error) {}) // opens connections
			stop, goOn := stops(t, b)
			stop()
			var unknown, unavailable atomic.Int64
			longest := callers(64, func(d store.Decision, err error) {
				switch {
				case d.Allowed:
					t.Error("a call passed without the server")
				case errors.Is(err, store.ErrUnknownOutcome):
					unknown.Add(1)
				case errors.Is(err, store.ErrUnavailable):
					unavailable.Add(1)
				default:
					t.Errorf("neither unknown nor not made: %v", err)
				}
			})
			goOn()
			t.Logf("%d unknown, %d not made, the longest call %v", unknown.Load(), unavailable.Load(), longest)
			require.Equal(t, int64(64), unknown.Load()+unavailable.Load())
			require.Eventually(t, func() bool {
				d, err := b.limiter.Take(t.Context(), "other", 1)
				return err == nil && d.Allowed
			}, patient, time.Millisecond, "no call passes since the server goes on")
			require.LessOrEqual(t, b.used(t), int64(128))
		})
	}
}

// stops returns what makes a server answer nothing, and what makes it go on: SIGSTOP where it is a process.
func stops(t *testing.T, b *behind) (stop, goOn func()) {
	t.Helper()
	if b.server.Name != "dynalite" {
		return func() { b.proxy.Set(faultproxy.Fault{DropReplies: true}) },
			func() { b.proxy.Set(faultproxy.Fault{}); b.proxy.Reset() }
	}
	signal := func(s syscall.Signal) func() {
		return func() { require.NoError(t, syscall.Kill(b.server.Pid(), s)) }
	}
	return signal(syscall.SIGSTOP), signal(syscall.SIGCONT)
}

// TestRetriesOfTheClientAreOverruled: whatever the client is configured to, a call is one request.
func TestRetriesOfTheClientAreOverruled(t *testing.T) {
	var fails atomic.Bool
	emulator := dynamodbtest.MinidynHandler()
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if fails.Load() && strings.HasSuffix(r.Header.Get("X-Amz-Target"), "UpdateItem") {
			emulator.ServeHTTP(discard{http.Header{}}, r) // it is executed all the same
			dynamodbtest.Refuse(w, http.StatusInternalServerError, "InternalServerError")
			return
		}
		emulator.ServeHTTP(w, r)
	})
	for name, configure := range retrying {
		t.Run(name, func(t *testing.T) {
			w, wrap := counted()
			client := dynamodbtest.Client(t, web.URL, wrap)
			l := on(t, web.OpenTable(t, configure(client), dynamodbtest.Table(t, client)), plenty, store.WithDeadline(patient), noBreaker)
			fails.Store(true)
			_, err := l.Take(t.Context(), "key", 1)
			fails.Store(false)
			require.ErrorIs(t, err, store.ErrUnknownOutcome)
			sent, _ := w.counts("UpdateItem")
			require.Equal(t, 1, sent)
			d, err := l.Peek(t.Context(), "key")
			require.NoError(t, err)
			require.Equal(t, d.Limit-1, d.Remaining)
		})
	}
}
