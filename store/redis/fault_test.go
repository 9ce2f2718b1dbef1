//go:build unix

package redis

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/faultproxy"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// plenty is more permits than a test uses.
const plenty = 1_000_000_000

// TestKillAndRestart kills a server that writes each change to disk under load, and starts it again:
// it knows the words, and no script.
func TestKillAndRestart(t *testing.T) {
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		server := servertest.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
		log, option := logged()
		l := limiter(t, connect(t, nil, server.Addr), only(plenty), option, quick())
		run := startLoad(8, func(run *load, _ int) bool { run.take(t.Context(), l, "key"); return true })
		eventually(t, "calls pass", func() bool { return run.allowed.Load() > 200 })
		server.Kill()
		eventually(t, "calls fail", func() bool { return run.unavailable.Load() > 200 })
		server.Restart(t)
		before := run.allowed.Load()
		eventually(t, "calls pass again", func() bool { return run.allowed.Load() > before+200 })
		run.end()
		run.report(t)
		run.balanced(t, left(t, l, "key"))
		alternates(t, log.of(""))
		require.Len(t, log.of("opened"), len(log.of("closed")))
		require.NotEmpty(t, log.of("opened"))
	})
}

// TestPause stops a server for a second under 64 callers whose deadline is 20 ms: none of them waits
// for it, and it is found again.
func TestPause(t *testing.T) {
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		server := servertest.StartRedis(t)
		log, option := logged()
		const pause = time.Second
		l := limiter(t, connect(t, nil, server.Addr), only(plenty), option, quick(), store.WithDeadline(20*time.Millisecond))
		run := startLoad(64, func(run *load, _ int) bool { run.take(t.Context(), l, "key"); return true })
		eventually(t, "calls pass", func() bool { return run.allowed.Load() > 1000 })
		server.Pause(t)
		<-time.After(pause)
		server.Resume(t)
		before := run.allowed.Load()
		eventually(t, "calls pass again", func() bool { return run.allowed.Load() > before+1000 })
		run.end()
		run.report(t)
		require.Less(t, run.longest, pause, "a call waited for the server")
		require.Positive(t, run.unknown.Load())
		run.balanced(t, left(t, l, "key"))
		alternates(t, log.of(""))
		require.NotEmpty(t, log.of("opened"))
	})
}

// TestScriptFlush lets a server forget all scripts again and again under load: nobody notices, and as
// many calls pass as there are permits.
func TestScriptFlush(t *testing.T) {
	const permits = 3000
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		server := servertest.StartRedis(t)
		l := limiter(t, connect(t, nil, server.Addr), only(permits), patient())
		single := func(run *load, _ int) bool { return run.take(t.Context(), l, "single").Allowed }
		batch := func(run *load, _ int) bool {
			passed := false
			requests := []store.Request{{Key: "batch", N: 1}, {Key: "other", N: 1}, {Key: "batch", N: 1}}
			for i, o := range l.TakeBatch(t.Context(), requests) {
				if i != 1 {
					run.count(o.Decision, o.Err, 0)
					passed = passed || o.Decision.Allowed
				}
			}
			return passed
		}
		for name, call := range map[string]func(*load, int) bool{"single": single, "batch": batch} {
			run := startLoad(8, call)
			ended := make(chan struct{})
			go func() { run.done.Wait(); close(ended) }()
			flushes := 0
			for over := false; !over; flushes++ {
				server.Must(t, "SCRIPT", "FLUSH")
				select {
				case <-ended:
					over = true
				case <-time.After(2 * time.Millisecond):
				}
			}
			run.report(t)
			t.Logf("%s: %d flushes, %d repairs", name, flushes, server.Calls(t, "eval"))
			require.EqualValues(t, permits, run.allowed.Load())
			require.Zero(t, run.unavailable.Load()+run.unknown.Load())
		}
		require.Positive(t, server.Calls(t, "eval"), "no flush was noticed")
	})
}

func TestAnswerLateOrLost(t *testing.T) { answerLateOrLost(t, alone(t)) }

// answerLateOrLost spoils the answers on their way, of one caller and of several at once: each call was
// executed once, or not at all, and says that it does not know.
func answerLateOrLost(t *testing.T, p *place) {
	t.Helper()
	faults := map[string]faultproxy.Fault{
		"late": {DelayReply: 200 * time.Millisecond}, "lost": {LoseReply: true}, "lost in good order": {LoseReply: true},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			byEach(t, func(t *testing.T, connect library) {
				t.Helper()
				p.flush(t)
				dial, spoil := p.faulty(t)
				if name == "lost in good order" {
					dial = endedBy(dial)
				}
				l := limiter(t, connect(t, dial, p.addrs...), only(plenty), steady(), store.WithDeadline(60*time.Millisecond))
				run := &load{}
				const calls = 12
				for i := range calls {
					connected(t, l)
					before := spoil.lost()
					spoil.set(fault, false)
					healed := make(chan struct{})
					go func() { // after the first loss, so that what is sent again is executed
						defer close(healed)
						for fault.LoseReply && spoil.lost() == before {
							<-time.After(100 * time.Microsecond)
						}
						if fault.LoseReply {
							spoil.set(faultproxy.Fault{}, false)
						}
					}()
					spoiled(t, run, l, i)
					<-healed
					spoil.set(faultproxy.Fault{}, true) // what is held back is lost
				}
				run.report(t)
				require.Positive(t, run.unknown.Load())
				n := left(t, l, "key")
				run.balanced(t, n)
				t.Logf("the server executed %d", plenty-n)
				require.Less(t, n, int64(plenty), "none was executed: the test shows nothing")
			})
		})
	}
}

// spoiled makes calls whose answers are spoiled: one, two in a batch, or four by callers at once.
func spoiled(t *testing.T, run *load, l *store.Shared, i int) {
	t.Helper()
	switch i % 3 {
	case 0:
		run.take(t.Context(), l, "key")
	case 1:
		for _, o := range l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}, {Key: "key", N: 1}}) {
			run.count(o.Decision, o.Err, 0)
		}
	case 2:
		var done sync.WaitGroup
		for range 4 {
			done.Go(func() { run.take(t.Context(), l, "key") })
		}
		done.Wait()
	}
}

// connected waits until calls find connections that are made already.
func connected(t *testing.T, l *store.Shared) {
	t.Helper()
	for range 20 {
		left(t, l, "key")
	}
}

// TestRefused: nothing is charged where no connection can be made, and that is known. Only a call that
// finds a connection from before, which ended while nobody used it, cannot know: it was sent, and no
// answer came. Each connection fails one call like that at most.
func TestRefused(t *testing.T) {
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		server := servertest.StartRedis(t)
		l := limiter(t, connect(t, nil, server.Addr), only(plenty), steady())
		connected(t, l)
		connections := strings.Count(server.Must(t, "CLIENT", "LIST"), "id=") // and that of this question
		server.Kill()
		run := &load{}
		for range 100 { // until all connections have been met, of which a client takes any
			run.take(t.Context(), l, "key")
		}
		run.report(t)
		require.Less(t, run.unknown.Load(), int64(connections))
		require.EqualValues(t, 100, run.failed())
		for range 20 {
			_, err := l.Take(t.Context(), "key", 1)
			require.ErrorIs(t, err, store.ErrUnavailable)
			require.NotErrorIs(t, err, store.ErrUnknownOutcome)
		}
		for _, o := range l.TakeBatch(t.Context(), []store.Request{{Key: "a", N: 1}, {Key: "b", N: 1}}) {
			require.ErrorIs(t, o.Err, store.ErrUnavailable)
			require.NotErrorIs(t, o.Err, store.ErrUnknownOutcome)
		}
		server.Restart(t)
		require.EqualValues(t, plenty, left(t, l, "key"))
	})
}

// TestNeverConnected: with no connection at all it is known from the first call on.
func TestNeverConnected(t *testing.T) {
	noGoroutineLeft(t)
	server := servertest.StartRedis(t)
	server.Kill()
	l := limiter(t, byGoRedis(t, nil, server.Addr), only(plenty), steady())
	for range 20 {
		_, err := l.Take(t.Context(), "key", 1)
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.NotErrorIs(t, err, store.ErrUnknownOutcome)
	}
	_, err := New(settings(server.Addr))
	require.ErrorContains(t, err, server.Addr)
}

// TestOutOfMemory: a server that is full refuses to write. What needs no write it still answers.
func TestOutOfMemory(t *testing.T) {
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		server := servertest.StartRedis(t, "--maxmemory-policy", "noeviction")
		s := connect(t, nil, server.Addr)
		log, option := logged()
		l := limiter(t, s, only(2), option, quick())
		for range 2 {
			d, err := l.Take(t.Context(), "drained", 1)
			require.NoError(t, err)
			require.True(t, d.Allowed)
		}
		server.Must(t, "CONFIG", "SET", "maxmemory", "1mb")
		d, err := l.Take(t.Context(), "drained", 1)
		require.NoError(t, err)
		require.False(t, d.Allowed)
		for range 10 {
			_, err := l.Take(t.Context(), "new", 1)
			require.ErrorIs(t, err, store.ErrUnavailable)
		}
		require.Len(t, log.of("opened"), 1)
		require.Contains(t, log.of("opened")[0], "OOM")
		require.Equal(t, "$-1", server.Must(t, "GET", l.Key("new")))
		server.Must(t, "CONFIG", "SET", "maxmemory", "0")
		require.EqualValues(t, 2, left(t, l, "new"))
		require.Len(t, log.of("closed"), 1)
	})
}

// TestBusy: a server that runs a script without an end answers BUSY, or not at all.
func TestBusy(t *testing.T) {
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		server := servertest.StartRedis(t, "--lua-time-limit", "20")
		log, option := logged()
		l := limiter(t, connect(t, nil, server.Addr), only(plenty), option, quick())
		left(t, l, "key")
		probe := limiter(t, connect(t, nil, server.Addr), only(plenty), quick()) // with a breaker of its own
		left(t, probe, "another key")
		var endless sync.WaitGroup
		endless.Go(func() { _, _ = server.Do("EVAL", "while true do end", "0") })
		run := startLoad(4, func(run *load, _ int) bool { run.take(t.Context(), l, "key"); return true })
		eventually(t, "the server is busy", func() bool { return strings.Contains(fmt.Sprint(log.of("opened")), "breaker") })
		busy := func() bool {
			_, err := probe.Take(t.Context(), "another key", 1)
			return err != nil && strings.Contains(err.Error(), "BUSY")
		}
		eventually(t, "a call is told so", busy)
		_, err := probe.Take(t.Context(), "another key", 1)
		require.ErrorIs(t, err, store.ErrUnavailable)
		server.Must(t, "SCRIPT", "KILL")
		endless.Wait()
		before := run.allowed.Load()
		eventually(t, "calls pass again", func() bool { return run.allowed.Load() > before+50 })
		run.end()
		run.report(t)
		run.balanced(t, left(t, l, "key"))
		alternates(t, log.of(""))
	})
}
