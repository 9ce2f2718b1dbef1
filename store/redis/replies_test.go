//go:build unix

package redis

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// TestRepliesOfAnotherForm: a reply that is none of the scripts', such as of a proxy that rewrites commands, says
// nothing of what was charged. It is neither a yes nor a no, and the call is not made again.
func TestRepliesOfAnotherForm(t *testing.T) {
	replies := map[string]string{
		"nil": "false", "number": "5", "text": "'text'", "status": "{ok = 'OK'}", "empty": "{}", "short": "{1, 1}",
		"long": "{1, 1, 0, 0, 0, 0}", "text inside": "{1, 'x', 0, 0, 0}", "array inside": "{1, 1, {}, 0, 0}", "nil inside": "{1, false, 0, 0, 0}",
		"a permit back": "{1, -1, 0, 0, 0}", "too many": "{1, 2, 0, 0, 0}", "the most": "{1, 9007199254740992, 0, 0, 0}", "a debt below 0": "{1, 1, -1, 0, 0}",
	}
	p := alone(t)
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		for name, reply := range replies {
			t.Run(name, func(t *testing.T) {
				p.flush(t)
				s := connect(t, nil, p.addrs...)
				garbled, counting := *s.scripts, newScript("redis.call('INCR', KEYS[1]) return "+reply)
				garbled.one, garbled.all = maps.Clone(garbled.one), counting
				garbled.one[store.KindBucket] = counting
				s.scripts = &garbled
				all, limiters := several(t, s, map[string]engine.Limit{"limit": only(5)}, "limit")
				l := limiters[0]
				calls := map[string]func(string) (store.Decision, error){
					"single": func(key string) (store.Decision, error) { return l.Take(t.Context(), key, 1) },
					"batch": func(key string) (store.Decision, error) {
						o := l.TakeBatch(t.Context(), []store.Request{{Key: key, N: 1}, {Key: "other", N: 1}})
						return o[0].Decision, o[0].Err
					},
					"all": func(key string) (store.Decision, error) { return all.Take(t.Context(), key, 1) },
				}
				for way, call := range calls {
					d, err := call(way)
					require.ErrorIs(t, err, store.ErrUnknownOutcome, way)
					require.NotErrorIs(t, err, store.ErrUnavailable, way)
					require.False(t, d.Allowed)
					node := p.masters()[0]
					require.EqualValues(t, 1, node.Integer(t, "INCRBY", l.Key(way), "0"), "%s: executed once", way)
				}
			})
		}
	})
}

// TestCloseAgain: closing is done once, and may be asked for again.
func TestCloseAgain(t *testing.T) {
	p := alone(t)
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		s := connect(t, nil, p.addrs...)
		for range 3 {
			require.NoError(t, s.Close())
		}
	})
}

// TestCloseUnderLoad: every call returns, with its answer or an error of the store, and what passed was charged.
func TestCloseUnderLoad(t *testing.T) {
	p := alone(t)
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		p.flush(t)
		s := connect(t, nil, p.addrs...)
		l := limiter(t, s, only(plenty), steady())
		run := startLoad(16, func(run *load, i int) bool {
			if i%2 == 0 {
				return run.take(t.Context(), l, "key").Allowed
			}
			passed := false
			for _, o := range l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}, {Key: "key", N: 1}}) {
				run.count(o.Decision, o.Err, 0)
				passed = passed || o.Decision.Allowed
			}
			return passed
		})
		eventually(t, "calls pass", func() bool { return run.allowed.Load() > 500 })
		require.NoError(t, s.Close())
		run.done.Wait() // each caller ends with its first call that does not pass
		run.report(t)
		require.Positive(t, run.unavailable.Load()+run.unknown.Load())
		run.balanced(t, left(t, limiter(t, connect(t, nil, p.addrs...), only(plenty), patient()), "key"))
	})
}
