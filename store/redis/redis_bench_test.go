//go:build unix

package redis

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// benchKeys is how many keys are called in turn.
const benchKeys = 1000

// roundCalls is how many calls each caller makes in a round.
const roundCalls = 2

// BenchmarkAllow measures a decision that passes, as callers get it by each of the client libraries (take),
// beside the same script called by the same client without a limiter (evalsha), and by hand-written bytes on
// a connection of each caller (raw). The rows take turns, one round of calls each, so that a busy
// machine is busy for all; the medians of the rounds are reported: the microseconds of a round by the calls
// of one caller in it, and how take compares with evalsha of its client. server-us is the server's own time
// for each call, over all rows.
//
// At one caller rueidis reads and writes in the caller's goroutine. Once calls have overlapped it does so
// in goroutines of its own, for good: the last rows, "overlapped", are with those.
//
//	go test -run '^$' -bench Allow -benchtime 2000x .
func BenchmarkAllow(b *testing.B) {
	server := servertest.StartRedis(b)
	limit := engine.TokenBucket(engine.PerSecond(1_000_000), 1_000_000_000)
	ways := map[string]*Storage{"rueidis": byRueidis(b, nil, server.Addr), "go-redis": byGoRedis(b, nil, server.Addr)}
	limiters := map[string]*store.Shared{}
	for name, s := range ways {
		limiters[name] = limiter(b, s, limit, patient())
	}
	keys, calls := make([]string, benchKeys), make([]call, benchKeys)
	for i := range keys {
		keys[i] = "client-" + strconv.Itoa(i)
		l := limiters["rueidis"]
		calls[i] = ways["rueidis"].call(&store.Op{Key: l.Key(keys[i]), Law: l.Law(), Min: 1, Max: 1})
	}
	server.Must(b, "SCRIPT", "LOAD", calls[0].script.text)
	name := ""
	for _, callers := range []int{1, 128, 1} {
		rows := []benchRow{{name: "raw", call: rawCallers(b, callers, server.Addr, calls)}}
		for library, s := range ways {
			rows = append(rows,
				benchRow{name: library + ":evalsha", call: evalshaCaller(context.WithoutCancel(b.Context()), s, calls)},
				benchRow{name: library + ":take", call: takeCaller(b.Context(), limiters[library], keys), floor: len(rows)})
		}
		if callers == 128 {
			name = ",overlapped"
		}
		b.Run(fmt.Sprintf("c=%d%s", callers, name), func(b *testing.B) {
			server.Must(b, "CONFIG", "RESETSTAT")
			for range b.N {
				for i := range rows {
					rows[i].round(b, callers)
				}
			}
			b.ReportMetric(serverMicros(b, server), "server-us")
			b.ReportMetric(0, "ns/op")
			for _, row := range rows {
				b.ReportMetric(row.median(), row.name+"-us")
				if row.floor > 0 {
					b.ReportMetric(row.median()/rows[row.floor].median(), row.name+"/evalsha")
				}
			}
		})
	}
}

// benchRow is one way to call, and how long its rounds took.
type benchRow struct {
	name  string
	call  func(caller, i int) error
	floor int // the row that it is compared with, 0 for none
	turns []time.Duration
}

// round lets all callers make their calls.
func (r *benchRow) round(b *testing.B, callers int) {
	calls := func(c int) {
		for i := range roundCalls {
			if err := r.call(c, (len(r.turns)*roundCalls+c*roundCalls+i)%benchKeys); err != nil {
				b.Error(err)
				return
			}
		}
	}
	began := time.Now()
	if callers == 1 {
		calls(0)
	} else {
		var done sync.WaitGroup
		for c := range callers {
			done.Go(func() { calls(c) })
		}
		done.Wait()
	}
	r.turns = append(r.turns, time.Since(began))
}

// median returns the microseconds of a call of one caller in the median round.
func (r *benchRow) median() float64 {
	slices.Sort(r.turns)
	return float64(r.turns[len(r.turns)/2].Nanoseconds()) / 1000 / roundCalls
}

// serverMicros returns the server's own time for a script, in microseconds.
func serverMicros(b *testing.B, server *servertest.Redis) float64 {
	b.Helper()
	_, rest, _ := strings.Cut(server.Must(b, "INFO", "commandstats"), "cmdstat_evalsha:")
	_, rest, _ = strings.Cut(rest, "usec_per_call=")
	n, _, _ := strings.Cut(rest, ",")
	micros, err := strconv.ParseFloat(n, 64)
	require.NoError(b, err)
	return micros
}

// takeCaller calls a limiter.
func takeCaller(ctx context.Context, l *store.Shared, keys []string) func(int, int) error {
	return func(_, i int) error {
		d, err := l.Take(ctx, keys[i], 1)
		if err == nil && !d.Allowed {
			err = fmt.Errorf("not allowed: %+v", d)
		}
		return err
	}
}

// evalshaCaller runs the script by the client of a storage, as a program without a limiter would, and
// reads the numbers of its answer.
func evalshaCaller(ctx context.Context, s *Storage, calls []call) func(int, int) error {
	if c, ok := s.client.(*rueidisClient); ok {
		return func(_, i int) error {
			k := &calls[i]
			_, err := c.c.Do(ctx, c.c.B().Evalsha().Sha1(k.script.sha).Numkeys(1).Key(k.keys...).Arg(k.args...).Build()).AsIntSlice()
			return err
		}
	}
	c := s.client.(*goredisClient) //nolint:errcheck // it is the other one
	return func(_, i int) error {
		k := &calls[i]
		args := make([]any, len(k.args))
		for j, arg := range k.args {
			args[j] = arg
		}
		_, err := c.c.EvalSha(ctx, k.script.sha, k.keys, args...).Int64Slice()
		return err
	}
}

// rawCallers write the bytes of a call, each to a connection of its own, and read the five numbers of
// its answer.
func rawCallers(b *testing.B, callers int, addr string, calls []call) func(int, int) error {
	requests := make([][]byte, len(calls))
	for i, c := range calls {
		args := append([]string{"EVALSHA", c.script.sha, "1", c.keys[0]}, c.args...)
		request := fmt.Sprintf("*%d\r\n", len(args))
		for _, arg := range args {
			request += fmt.Sprintf("$%d\r\n%s\r\n", len(arg), arg)
		}
		requests[i] = []byte(request)
	}
	conns, readers := make([]net.Conn, callers), make([]*bufio.Reader, callers)
	for c := range conns {
		conn, err := net.Dial("tcp", addr)
		require.NoError(b, err)
		b.Cleanup(func() { _ = conn.Close() })
		conns[c], readers[c] = conn, bufio.NewReader(conn)
	}
	return func(c, i int) error {
		if _, err := conns[c].Write(requests[i]); err != nil {
			return err
		}
		for line := range 1 + maxNumbers {
			text, err := readers[c].ReadSlice('\n')
			if err != nil {
				return err
			}
			if line == 0 && text[0] != '*' {
				return fmt.Errorf("the answer is %q", text)
			}
		}
		return nil
	}
}
