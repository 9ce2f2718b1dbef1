//go:build unix

package redis

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// kind is a limit of some kind, and how long at least a key of it lives after one call on a new key.
type kind struct {
	limit engine.Limit
	least func(now time.Duration) time.Duration
}

// kinds are limits of all kinds.
func kinds() map[string]kind {
	until := func(windows int64, window time.Duration) func(time.Duration) time.Duration {
		return func(now time.Duration) time.Duration { return time.Duration(windows)*window - now%window }
	}
	always := func(d time.Duration) func(time.Duration) time.Duration {
		return func(time.Duration) time.Duration { return d }
	}
	return map[string]kind{
		"fixed window":   {engine.FixedWindow(10, time.Minute), until(1, time.Minute)},
		"sliding window": {engine.SlidingWindow(10, time.Minute), until(2, time.Minute)},
		"token bucket":   {engine.TokenBucket(engine.PerSecond(10), 10), always(100 * time.Millisecond)},
		"fraction":       {engine.TokenBucket(engine.Rate{Tokens: 7, Per: 3 * time.Second}, 5), always(428571429 * time.Nanosecond)},
		"leaky queue":    {engine.LeakyQueue(engine.PerSecond(10), 10), always(100 * time.Millisecond)},
		"gcra":           {engine.GCRA(engine.Rate{Tokens: 1, Per: 7 * 24 * time.Hour}, 1), always(7 * 24 * time.Hour)},
	}
}

// lateness is how much longer than it has to a key may live, beside the time between two commands: rounding.
const lateness = 5 * time.Millisecond

// serverTime returns the time of a server, in microseconds.
func serverTime(t *testing.T, s *servertest.Redis) time.Duration {
	t.Helper()
	micros := s.Integer(t, "EVAL", "local t = redis.call('TIME') return t[1] * 1000000 + t[2]", "0")
	return time.Duration(micros) * time.Microsecond
}

// ways are the two ways to decide.
var ways = map[string]func(*Storage) store.Storage{
	"apply": func(s *Storage) store.Storage { return s },
	"swap":  func(s *Storage) store.Storage { return store.WithoutApply(s) },
}

func TestTimeToLive(t *testing.T) { timeToLive(t, alone(t)) }

// timeToLive: a key lives until it equals a new one, not a thousand times as long, and not a moment
// less. The time of its expiry is asked for, so that the machine may be slow.
func timeToLive(t *testing.T, p *place) {
	t.Helper()
	p.flush(t)
	s := byRueidis(t, nil, p.addrs...)
	for way, of := range ways {
		for name, kind := range kinds() {
			t.Run(way+"/"+name, func(t *testing.T) {
				l := limiter(t, of(s), kind.limit, patient())
				node := p.node(t, l.Key(way+name))
				before := serverTime(t, node)
				d, err := l.Take(t.Context(), way+name, 1)
				require.NoError(t, err)
				require.True(t, d.Allowed)
				expires := node.Integer(t, "PEXPIRETIME", l.Key(way+name))
				after := serverTime(t, node)
				end := time.Duration(expires) * time.Millisecond
				require.GreaterOrEqual(t, end, before+kind.least(before), "expires too early")
				between := after - before // a swap writes a time to live as of its read
				require.LessOrEqual(t, end, after+kind.least(after)+between+lateness, "expires too late")
			})
		}
	}
}

func TestAlwaysExpires(t *testing.T) { alwaysExpires(t, alone(t)) }

// alwaysExpires: a key that was there without a time to live, of any type and with anything in it,
// blocks nobody, and has a time to live after the next call that passes.
func alwaysExpires(t *testing.T, p *place) {
	t.Helper()
	s := byRueidis(t, nil, p.addrs...)
	foreign := map[string][]string{
		"number": {"SET", "", "5"}, "text": {"SET", "", "five"}, "nan": {"SET", "", "nan"}, "empty": {"SET", "", ""},
		"twelve bytes": {"SET", "", "\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00"}, // not a number
		"sixteen":      {"SET", "", "\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00\x00\x00\xf8\x7f"},
		"eight":        {"SET", "", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		"list":         {"LPUSH", "", "5"}, "hash": {"HSET", "", "5", "5"},
	}
	for way, of := range ways {
		for name, kind := range kinds() {
			l := limiter(t, of(s), kind.limit, patient())
			key := l.Key("key")
			node := p.node(t, key)
			for what, command := range foreign {
				t.Run(way+"/"+name+"/"+what, func(t *testing.T) {
					node.Must(t, "DEL", key)
					node.Must(t, append([]string{command[0], key}, command[2:]...)...)
					require.EqualValues(t, -1, node.Integer(t, "PTTL", key))
					d, err := l.Take(t.Context(), "key", 1)
					require.NoError(t, err)
					require.True(t, d.Allowed)
					require.NotEqual(t, int64(-1), node.Integer(t, "PTTL", key))
				})
			}
		}
	}
}

func TestOneWrite(t *testing.T) { oneWrite(t, alone(t)) }

// oneWrite: a decision writes by one command, so that nothing can come between the word and its time to
// live: when that one fails, there is neither.
func oneWrite(t *testing.T, p *place) {
	t.Helper()
	s := byRueidis(t, nil, p.addrs...)
	others := []string{"expire", "pexpire", "expireat", "pexpireat", "incr", "incrby", "setex", "psetex"}
	before := map[string]int64{}
	for _, command := range others {
		before[command] = p.calls(t, command)
	}
	p.flush(t)
	p.set(t, "maxmemory-policy", "noeviction")
	for way, of := range ways {
		for name, kind := range kinds() {
			l := limiter(t, of(s), kind.limit, patient(), steady())
			key := l.Key(way + name)
			node := p.node(t, key)
			p.set(t, "maxmemory", "1")
			_, err := l.Take(t.Context(), way+name, 1)
			p.set(t, "maxmemory", "0")
			require.ErrorIs(t, err, store.ErrUnavailable)
			require.EqualValues(t, -2, node.Integer(t, "PTTL", key), "%s %s: something was written", way, name)
			sets := node.Calls(t, "set")
			_, err = l.Take(t.Context(), way+name, 1)
			require.NoError(t, err)
			require.EqualValues(t, 1, node.Calls(t, "set")-sets)
			require.NotEqual(t, int64(-1), node.Integer(t, "PTTL", key))
		}
	}
	for _, command := range others {
		require.Equal(t, before[command], p.calls(t, command), command)
	}
}

func TestAgainAfterAWindow(t *testing.T) { againAfterAWindow(t, alone(t)) }

// againAfterAWindow: a value without a time to live that reads as a full window, of now or of a time
// to come, refuses no longer than one window, and what is written then expires.
func againAfterAWindow(t *testing.T, p *place) {
	t.Helper()
	const window = 200 * time.Millisecond
	s := byRueidis(t, nil, p.addrs...)
	for name, limit := range map[string]engine.Limit{
		"fixed window": engine.FixedWindow(5, window), "sliding window": engine.SlidingWindow(5, window),
		"token bucket": engine.TokenBucket(engine.Rate{Tokens: 5, Per: window}, 5),
	} {
		t.Run(name, func(t *testing.T) {
			l := limiter(t, s, limit, patient())
			key := l.Key("key")
			node := p.node(t, key)
			_, err := l.Take(t.Context(), "key", 5)
			require.NoError(t, err)
			ahead := strconv.FormatInt(int64((serverTime(t, node)+time.Hour)/tick), 10)
			node.Must(t, "EVAL", lasting, "1", key, ahead, strconv.FormatInt(int64(window/tick), 10))
			require.EqualValues(t, -1, node.Integer(t, "PTTL", key))
			began := serverTime(t, node)
			waits := 0
			for ; ; waits++ {
				d, err := l.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				if d.Allowed {
					break
				}
				require.LessOrEqual(t, d.RetryAfter, 2*window)
				require.NotEqual(t, int64(-1), node.Integer(t, "PTTL", key), "the refusal has brought it to the present")
				eventually(t, "the wait is over", func() bool { return serverTime(t, node) >= began+time.Duration(waits+1)*window/5 })
			}
			require.Positive(t, waits, "it was not full: the test shows nothing")
			require.LessOrEqual(t, waits, 11)
			require.NotEqual(t, int64(-1), node.Integer(t, "PTTL", key))
		})
	}
}

// lasting moves a value to a later time and takes its time to live away. ARGV: that time, the window.
const lasting = `
local v = redis.call('GET', KEYS[1])
if #v == 24 then
  local _, prev, curr = struct.unpack('<ddd', v)
  v = struct.pack('<ddd', math.floor(ARGV[1] / ARGV[2]), prev, curr)
elseif #v == 16 and string.find(v, '^%d+$') == nil then
  local _, curr = struct.unpack('<dd', v)
  v = struct.pack('<dd', math.floor(ARGV[1] / ARGV[2]), curr)
elseif #v == 12 then
  local _, r = struct.unpack('<dI4', v)
  v = struct.pack('<dI4', tonumber(ARGV[1]), r)
else
  v = ARGV[1]
end
redis.call('SET', KEYS[1], v)
return 1
`
