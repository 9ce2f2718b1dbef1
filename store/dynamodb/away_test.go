package dynamodb_test

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
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

// leavesNoGoroutines fails a test after whose end, and that of all it has started, there are more goroutines than now.
// It is to be called first.
func leavesNoGoroutines(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		const asking = 1 // in which Eventually calls the function
		require.Eventually(t, func() bool { return runtime.NumGoroutine()-asking <= before }, patient, time.Millisecond, "goroutines stayed")
	})
}

// byPolicy are limiters of 4 permits, for 2 processes, one for each policy, and the lines that their backend logs.
type byPolicy struct {
	limiters map[store.Policy]*store.Shared
	log      lines
}

func newByPolicy(t *testing.T, s store.Storage, deadline time.Duration) *byPolicy {
	t.Helper()
	p := &byPolicy{limiters: map[store.Policy]*store.Shared{}}
	backend, err := store.NewBackend(s, store.WithDeadline(deadline), store.WithLogger(slog.New(slog.NewTextHandler(&p.log, nil))),
		store.WithBreaker(store.Breaker{Pause: time.Millisecond}))
	require.NoError(t, err)
	for policy, name := range map[store.Policy]string{store.LocalShare: "local", store.Closed: "closed", store.Open: "open"} {
		l, err := backend.Limiter(name, engine.TokenBucket(engine.Rate{Tokens: 1, Per: 24 * time.Hour}, 4), store.WithPolicy(policy), store.WithProcesses(2))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		_, err = l.Peek(t.Context(), "warm")
		require.NoError(t, err)
		p.limiters[policy] = l
	}
	return p
}

// take makes a call under a policy, alone or in a batch.
func (p *byPolicy) take(t *testing.T, policy store.Policy, inBatch bool) (store.Decision, error) {
	t.Helper()
	l := p.limiters[policy]
	if !inBatch {
		return l.Take(t.Context(), "key", 1)
	}
	o := l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}})[0]
	return o.Decision, o.Err
}

// answers makes the i-th call under each policy while the store is away for them: none says that the limit is used
// up. It returns the causes.
func (p *byPolicy) answers(t *testing.T, i int) (causes []error) {
	t.Helper()
	d, err := p.take(t, store.Open, i%2 == 1)
	require.NoError(t, err)
	require.Error(t, d.Cause)
	require.Equal(t, engine.Decision{Allowed: true}, d.Decision, "no quota is invented")
	causes = append(causes, d.Cause)

	d, err = p.take(t, store.Closed, i%2 == 1)
	require.Error(t, err)
	require.Equal(t, store.Decision{Source: store.SourceClosed, Cause: err}, d)
	causes = append(causes, d.Cause)

	d, err = p.take(t, store.LocalShare, i%2 == 1)
	require.NoError(t, err)
	require.Error(t, d.Cause)
	require.Equal(t, store.SourceLocal, d.Source)
	require.Equal(t, i < 2, d.Allowed, "half of 4 permits for each of 2 processes")
	return append(causes, d.Cause)
}

// decides waits until the store decides again, for all policies.
func (p *byPolicy) decides(t *testing.T) {
	t.Helper()
	for _, l := range p.limiters {
		require.Eventually(t, func() bool {
			d, err := l.Take(t.Context(), "another", 1)
			return err == nil && d.Source == store.SourceStore
		}, patient, time.Millisecond)
	}
}

// TestStoreAway: no connection, no answer, lost answers: none is a limit that is exceeded. Every policy gives its own
// answer within the deadline; calls are counted; the breaker opens with one line, and closes with one by itself.
func TestStoreAway(t *testing.T) {
	for what, fault := range map[string]faultproxy.Fault{
		"refused": {Refuse: true}, "slow": {DropReplies: true}, "unreachable": {DropRequests: true}, "lost": {LoseReply: true},
	} {
		for name, start := range emulators {
			t.Run(what+"/"+name, func(t *testing.T) {
				leavesNoGoroutines(t)
				server := start(t)
				proxy, err := faultproxy.New(server.Address(t))
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, proxy.Close()) })
				client := dynamodbtest.Client(t, "http://"+proxy.Addr())
				p := newByPolicy(t, server.OpenTable(t, client, dynamodbtest.Table(t, client)), 300*time.Millisecond)
				proxy.Set(fault)
				proxy.Reset()
				const calls = 6
				for i := range calls {
					p.answers(t, i)
				}
				require.Equal(t, 1, p.log.with("breaker opened"))
				for _, l := range p.limiters {
					require.Equal(t, uint64(calls), l.Stats().Unavailable+l.Stats().Unknown)
				}
				proxy.Set(faultproxy.Fault{})
				proxy.Reset()
				p.decides(t)
				require.Equal(t, 1, p.log.with("breaker opened"))
				require.Equal(t, 1, p.log.with("breaker closed"))
			})
		}
	}
}

// TestHotKey: an emulator behind something that throttles one key, as DynamoDB does with a hot partition. Its calls
// are made once, are told so, and follow their policy; those for other keys pass, and no breaker opens. When
// it is over nothing was charged.
func TestHotKey(t *testing.T) {
	for _, code := range []string{"ProvisionedThroughputExceededException", "ThrottlingException"} {
		for name, start := range emulators {
			t.Run(code+"/"+name, func(t *testing.T) {
				leavesNoGoroutines(t)
				server := start(t)
				hot, refused := atomic.Bool{}, atomic.Int64{}
				throttling := *server
				throttling.URL = throttle(t, server.URL, func(r *http.Request) bool {
					if !hot.Load() || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "UpdateItem") || !names(t, r, "{key}") {
						return false
					}
					refused.Add(1)
					return true
				}, code)
				p := newByPolicy(t, throttling.Open(t), patient)
				hot.Store(true)
				const calls = 12
				for i := range calls {
					for _, cause := range p.answers(t, i) {
						require.ErrorIs(t, cause, store.ErrThrottled)
					}
					if i < 4 {
						d, err := p.limiters[store.Closed].Take(t.Context(), "another", 1)
						require.NoError(t, err)
						require.True(t, d.Allowed)
					}
				}
				require.Equal(t, int64(3*calls), refused.Load(), "a request for each call")
				require.Zero(t, p.log.with("breaker"))
				hot.Store(false)
				for _, l := range p.limiters {
					d, err := l.Take(t.Context(), "key", 4)
					require.NoError(t, err)
					require.True(t, d.Allowed, "something was charged")
				}
			})
		}
	}
}

// throttle serves what the server at target does, but refuses, with a code, the requests that it is told to.
func throttle(t *testing.T, target string, refuses func(*http.Request) bool, code string) string {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	pass := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if refuses(r) {
			dynamodbtest.Refuse(w, http.StatusBadRequest, code)
			return
		}
		pass.ServeHTTP(w, r)
	}).URL
}

// TestStoppedServer: the server is stopped (SIGSTOP) for a second under 64 callers with 20 ms each, who go on by their
// share of the limit: it admits no more than that, one line says that the breaker has opened and one that
// it has closed, the store decides again, and no goroutine stays.
func TestStoppedServer(t *testing.T) {
	leavesNoGoroutines(t)
	server := dynamodbtest.Dynalite(t)
	log := &lines{}
	backend, err := store.NewBackend(server.Open(t), store.WithDeadline(20*time.Millisecond), store.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	require.NoError(t, err)
	l, err := backend.Limiter("stopped", engine.TokenBucket(engine.Rate{Tokens: 1, Per: 24 * time.Hour}, 1000), store.WithProcesses(10))
	require.NoError(t, err)
	defer l.Close()
	decides := func() bool {
		d, err := l.Peek(t.Context(), "other")
		return err == nil && d.Source == store.SourceStore
	}
	require.Eventually(t, decides, patient, time.Millisecond)
	opened, closed := log.with("breaker opened"), log.with("breaker closed") // a busy machine may have held up the first calls
	require.Equal(t, opened, closed)

	require.NoError(t, syscall.Kill(server.Pid(), syscall.SIGSTOP))
	over := time.NewTimer(time.Second)
	stop := make(chan struct{})
	var admitted, refused, longest atomic.Int64
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for ended := false; !ended; {
				began := time.Now()
				d, err := l.Take(t.Context(), "key", 1)
				longest.Store(max(longest.Load(), int64(time.Since(began))))
				switch {
				case err != nil || d.Source != store.SourceLocal || d.Cause == nil:
					t.Errorf("%+v, %v", d, err)
				case d.Allowed:
					admitted.Add(1)
				default:
					refused.Add(1)
				}
				again := time.NewTimer(time.Millisecond)
				select {
				case <-stop:
					ended = true
				case <-again.C:
				}
				again.Stop()
			}
		})
	}
	<-over.C
	close(stop)
	callers.Wait()
	require.Equal(t, opened+1, log.with("breaker opened"))
	require.Equal(t, closed, log.with("breaker closed"))
	require.NoError(t, syscall.Kill(server.Pid(), syscall.SIGCONT))
	require.Eventually(t, decides, patient, time.Millisecond)
	t.Logf("%d admitted, %d refused, the longest call about %v", admitted.Load(), refused.Load(), time.Duration(longest.Load()))
	require.Equal(t, int64(100), admitted.Load(), "a tenth of 1000 permits")
	require.Positive(t, refused.Load())
	require.Equal(t, opened+1, log.with("breaker opened"), log.text.String())
	require.Equal(t, closed+1, log.with("breaker closed"))
	require.Eventually(t, func() bool {
		d, err := l.Peek(t.Context(), "key")
		return err == nil && d.Source == store.SourceStore && d.Limit-d.Remaining <= int64(l.Stats().Unknown)
	}, patient, time.Millisecond, "what was charged is what is unknown, at most")
}
