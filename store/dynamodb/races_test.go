package dynamodb_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// TestTwoCallersAtTheRollOver: two processes call just as a window begins, with the item of the one before still
// there, again and again: each window counts both.
func TestTwoCallersAtTheRollOver(t *testing.T) {
	const window, windows = time.Minute, 15
	for _, limit := range []engine.Limit{engine.FixedWindow(4, window), engine.SlidingWindow(4, window)} {
		t.Run(limit.String(), func(t *testing.T) {
			onPairs(t, limit, func(p *pair) {
				for i := range windows {
					at := time.Duration(i) * window
					for _, clock := range p.clocks {
						clock.Set(begin + at)
					}
					start := make(chan struct{})
					var both sync.WaitGroup
					for _, l := range p.limiters {
						both.Go(func() {
							<-start
							if d, err := l.Take(p.Context(), "key", 1); err != nil || !d.Allowed {
								p.Errorf("window %d: %+v, %v", i, d, err)
							}
						})
					}
					close(start)
					both.Wait()
					d, err := p.limiters[0].Peek(p.Context(), "key")
					require.NoError(p, err)
					want := int64(2)
					if i > 0 && limit == engine.SlidingWindow(4, window) {
						want = 0 // the two of the window before weigh in full
					}
					require.Equal(p, want, d.Remaining, "window %d", i)
				}
			})
		})
	}
}

// before calls a function before each write that it lets pass.
type before struct {
	next  http.RoundTripper
	write func(body []byte)
}

func (b *before) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if operation := r.Header.Get("X-Amz-Target"); strings.HasSuffix(operation, "UpdateItem") || strings.HasSuffix(operation, "PutItem") {
		b.write(body)
	}
	return b.next.RoundTrip(r)
}

// rival is a limiter before each of whose writes another process is faster, a number of times.
type rival struct {
	limiter, other *store.Shared
	wins           int
	won            int
	act            func(write []byte)
}

func newRival(t *testing.T, server *dynamodbtest.Server, limit engine.Limit, of func(store.Storage) store.Storage, opts ...store.LimitOption) *rival {
	t.Helper()
	r := &rival{}
	straight := dynamodbtest.Client(t, server.URL)
	table := dynamodbtest.Table(t, straight)
	r.other = on(t, of(server.OpenTable(t, straight, table)), limit, store.WithDeadline(patient))
	client := dynamodbtest.Client(t, server.URL, func(next http.RoundTripper) http.RoundTripper {
		return &before{next, func(write []byte) {
			if r.won < r.wins {
				r.won++
				r.act(write)
			}
		}}
	})
	backend, err := store.NewBackend(of(server.OpenTable(t, client, table)), store.WithDeadline(patient))
	require.NoError(t, err)
	r.limiter, err = backend.Limiter("test", limit, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.limiter.Close()) })
	return r
}

const always = 1 << 30

// TestLostRaces: another process writes before each write. After three times the call is made, once. If it always
// does, that is an error of the store, which the policy answers: nothing was charged, and it is no limit exceeded.
// (Calls for one number of permits lose only if the key goes from busy to idle or back meanwhile: it is reset.)
func TestLostRaces(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			for _, limit := range []engine.Limit{plenty, engine.FixedWindow(100_000, 365*24*time.Hour), engine.SlidingWindow(100_000, 365*24*time.Hour)} {
				for way, of := range ways {
					t.Run(limit.String()+"/"+way, func(t *testing.T) {
						for _, policy := range []store.Policy{store.Closed, store.Open, store.LocalShare} {
							loseRaces(t, newRival(t, server, limit, of, store.WithPolicy(policy)), policy)
						}
					})
				}
			}
		})
	}
}

func loseRaces(t *testing.T, r *rival, policy store.Policy) {
	t.Helper()
	used := int64(0) // by the rival, since the key was last as new
	r.act = func(write []byte) {
		if bytes.Contains(write, []byte("attribute_not_exists")) { // that it is new, or a word
			_, err := r.other.Take(t.Context(), "key", 1)
			require.NoError(t, err)
			used++
			return
		}
		require.NoError(t, r.other.Reset(t.Context(), "key"))
		used = 0
	}
	r.wins = 3
	d, err := r.limiter.Take(t.Context(), "key", 10)
	require.NoError(t, err)
	require.Equal(t, store.SourceStore, d.Source)
	require.True(t, d.Allowed)
	require.Positive(t, used)
	require.Equal(t, d.Limit-10-used, d.Remaining)
	require.Equal(t, 3, r.won)
	require.NoError(t, r.other.Reset(t.Context(), "key"))

	r.won, r.wins, used = 0, always, 0
	d, err = r.limiter.Take(t.Context(), "key", 10)
	switch policy {
	case store.Closed:
		require.ErrorIs(t, err, store.ErrContended)
		require.Equal(t, store.Decision{Source: store.SourceClosed, Cause: err}, d)
	case store.Open:
		require.NoError(t, err)
		require.Equal(t, store.SourceOpen, d.Source)
		require.True(t, d.Allowed)
	case store.LocalShare:
		require.NoError(t, err)
		require.Equal(t, store.SourceLocal, d.Source)
		require.True(t, d.Allowed)
	}
	require.ErrorIs(t, d.Cause, store.ErrContended)
	require.NotErrorIs(t, d.Cause, store.ErrUnknownOutcome)
	require.Equal(t, uint64(1), r.limiter.Stats().Contended)
	require.Zero(t, r.limiter.Stats().OpenBreakers)
	r.wins = 0
	left, err := r.other.Peek(t.Context(), "key")
	require.NoError(t, err)
	require.Equal(t, used, left.Limit-left.Remaining, "what the rival took, and nothing of ours")
}

// TestPartThatIsAlwaysTaken: a call for what there is finds less each time: it takes exactly what is left at last, or
// nothing.
func TestPartThatIsAlwaysTaken(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			for _, limit := range []engine.Limit{
				engine.TokenBucket(engine.Rate{Tokens: 1, Per: 24 * time.Hour}, 50), engine.FixedWindow(50, 365*24*time.Hour), engine.SlidingWindow(50, 365*24*time.Hour),
			} {
				for _, wins := range []int{0, 1, 3, always} {
					r := newRival(t, server, limit, ways["apply"], store.WithPolicy(store.Closed))
					r.act = func([]byte) {
						_, err := r.other.Take(t.Context(), "key", 2)
						require.NoError(t, err)
					}
					_, err := r.other.Take(t.Context(), "key", 2)
					require.NoError(t, err)
					_, err = r.limiter.Peek(t.Context(), "key")
					require.NoError(t, err)
					r.wins = wins
					_, taken, err := r.limiter.TakeUpTo(t.Context(), "key", 1, 50)
					if wins == always {
						require.ErrorIs(t, err, store.ErrContended)
					} else {
						require.NoError(t, err)
						require.Equal(t, int64(48-2*wins), taken)
					}
					d, err := r.other.Peek(t.Context(), "key")
					require.NoError(t, err)
					require.Equal(t, 50-2-taken-2*int64(r.won), d.Remaining)
				}
			}
		})
	}
}

// TestSlowKeyHoldsUpNoOther: while the write of a call for one key is on its way, calls for another one pass.
func TestSlowKeyHoldsUpNoOther(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			for way, of := range ways {
				t.Run(way, func(t *testing.T) {
					held, release := make(chan struct{}), make(chan struct{})
					slow := ""
					client := dynamodbtest.Client(t, server.URL, func(next http.RoundTripper) http.RoundTripper {
						return &before{next, func(body []byte) {
							if bytes.Contains(body, []byte(base64.StdEncoding.EncodeToString([]byte(slow)))) {
								close(held)
								<-release
							}
						}}
					})
					l := on(t, of(server.OpenTable(t, client, dynamodbtest.Table(t, client))), plenty, store.WithDeadline(patient))
					slow = l.Key("slow")
					answered := make(chan error)
					go func() {
						_, err := l.Take(t.Context(), "slow", 1)
						answered <- err
					}()
					<-held
					for range 10 {
						d, err := l.Take(t.Context(), "another", 1)
						require.NoError(t, err)
						require.True(t, d.Allowed)
					}
					close(release)
					require.NoError(t, <-answered)
				})
			}
		})
	}
}
