//go:build unix

package redis

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// modelSteps is how many random calls each algorithm is compared over, on modelKeys keys.
const (
	modelSteps = 100_000
	shortSteps = 10_000 // with -short
	modelKeys  = 4
	modelBegin = 1_796_000_000_000_000 // in 2026
)

// modelLimits are the limits of each algorithm: plain ones, fractions with large numbers, those that
// use all of 2^52, and windows whose products are above 2^53.
func modelLimits() map[string][]engine.Limit {
	per := func(n int64, d time.Duration) engine.Rate { return engine.Rate{Tokens: n, Per: d} }
	return map[string][]engine.Limit{
		"token_bucket": {
			engine.TokenBucket(per(10, time.Second), 20),
			engine.TokenBucket(per(7, 3*time.Second), 5),
			engine.TokenBucket(per(1_000_003, time.Second), 1000),
			engine.TokenBucket(per(60_000_003, 1_000_001*time.Microsecond), 4_000_000_000),
			engine.TokenBucket(per(0, time.Second), 30),
		},
		"gcra":         {engine.GCRA(per(1, 7*24*time.Hour), 1900), engine.GCRA(per(999_983, time.Hour), 100)},
		"leaky_bucket": {engine.LeakyBucket(per(50, time.Minute), 10), engine.LeakyBucket(per(3, time.Second), 1)},
		"leaky_queue":  {engine.LeakyQueue(per(3, time.Second), 8), engine.LeakyQueue(per(999, time.Minute), 100)},
		"fixed_window": {
			engine.FixedWindow(20, time.Second), engine.FixedWindow(3, 24*time.Hour), engine.FixedWindow(1<<40, time.Hour),
		},
		"sliding_window": {
			engine.SlidingWindow(20, time.Second), engine.SlidingWindow(30, 10*time.Microsecond),
			engine.SlidingWindow(1_000_003, 7*24*time.Hour), engine.SlidingWindow(100_000_007, 365*24*time.Hour),
		},
	}
}

// TestModel compares the scripts on a real server with the law in Go, bit by bit: what they answer,
// what they leave behind, and when that is to expire.
func TestModel(t *testing.T) {
	for name, limits := range modelLimits() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := modelClient(t)
			for i, limit := range limits {
				law, err := store.NewLaw(limit, (*Storage)(nil).Info())
				require.NoError(t, err)
				require.NoError(t, (*Storage)(nil).Accepts(law))
				m := &modelRun{t: t, c: c, law: law, rnd: rand.New(rand.NewPCG(uint64(i), 11)), states: map[string]kept{}}
				m.run(steps() / len(limits))
				require.Positive(t, m.settledOnly+m.neverSettles(), "no step back of the clock met a debt or a full window")
				require.Positive(t, m.allowed)
				require.Positive(t, m.denied)
				require.NoError(t, c.Do(t.Context(), c.B().Flushall().Build()).Error())
			}
		})
	}
}

// TestSlidingTies compares sliding windows where a permit more or less, or a microsecond, decides, and
// where both sides of the comparison are beyond what a double holds.
func TestSlidingTies(t *testing.T) {
	c := modelClient(t)
	rnd, passed := rand.New(rand.NewPCG(3, 3)), 0
	for range 5000 {
		window := 1<<40 + rnd.Int64N(1<<51-1<<40)
		limit := 2 + rnd.Int64N(1<<(4+rnd.IntN(20)))
		prev := 2 + rnd.Int64N(limit-1)
		room := rnd.Int64N(prev)
		high, low := bits.Mul64(uint64(room), uint64(window))
		left, _ := bits.Div64(high, low, uint64(prev)) // prev*left <= room*window, and not with one more
		left = max(1, left+rnd.Uint64N(2))
		n := 1 + rnd.Int64N(limit-room)
		law, err := store.NewLaw(engine.SlidingWindow(limit, time.Duration(window)*tick), (*Storage)(nil).Info())
		require.NoError(t, err)
		m := &modelRun{t: t, c: c, law: law, now: 2*window - int64(left)}
		before := kept{store.State{Window: 1, Prev: prev, Curr: limit - room - n}, m.now}
		m.states = map[string]kept{"{tie}": before}
		m.expect(c.B().Set().Key("{tie}").Value(m.encode(before)).Build(), "OK")
		m.expect(c.B().Set().Key("{tie}:at").Value(m.expires(before)).Build(), "OK")
		m.load()
		m.take("{tie}", n, n+rnd.Int64N(2)*(limit-n))
		m.flush()
		passed += m.allowed
	}
	require.Greater(t, passed, 1000)
	require.Less(t, passed, 4000)
}

// modelClient connects to a server of its own.
func modelClient(t *testing.T) rueidis.Client {
	t.Helper()
	server := servertest.StartRedis(t)
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr}, DisableCache: true})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// kept is what a model keeps of a key.
type kept struct {
	state store.State
	at    int64
}

// modelRun is the model of some keys, and the commands whose replies it foretells.
type modelRun struct {
	t      *testing.T
	c      rueidis.Client
	law    *store.Law
	rnd    *rand.Rand
	now    int64
	states map[string]kept

	commands []rueidis.Completed
	want     []string // the text of each reply

	allowed, denied int
	settledOnly     int // refused, and yet written to
}

// neverSettles is 1 if the law has no time that could step back.
func (m *modelRun) neverSettles() int {
	if n := m.law.Numbers(); n.Kind == store.KindBucket && n.Rate == 0 {
		return 1
	}
	return 0
}

func (m *modelRun) run(steps int) {
	m.now = modelBegin + m.rnd.Int64N(1_000_000_000)
	m.load()
	for range steps {
		m.step()
		if len(m.commands) >= 1000 {
			m.flush()
		}
	}
	m.flush()
}

// load makes the server know the script.
func (m *modelRun) load() {
	script := testScripts().one[m.law.Numbers().Kind]
	m.expect(m.c.B().ScriptLoad().Script(script.text).Build(), script.sha)
}

func (m *modelRun) expect(command rueidis.Completed, want string) {
	m.commands, m.want = append(m.commands, command), append(m.want, want)
}

// flush sends the commands and compares the replies.
func (m *modelRun) flush() {
	m.t.Helper()
	texts := make([]string, len(m.commands)) // a command is not to be read once it is sent
	for i, c := range m.commands {
		texts[i] = fmt.Sprint(c.Commands())
	}
	for i, result := range m.c.DoMulti(m.t.Context(), m.commands...) {
		if got := replyText(result); got != m.want[i] {
			m.t.Fatalf("%v %+v\n%s\ngot  %s\nwant %s", m.law.Limit(), m.law.Numbers(), texts[i], got, m.want[i])
		}
	}
	m.commands, m.want = m.commands[:0], m.want[:0]
}

func replyText(r rueidis.RedisResult) string {
	if numbers, err := r.AsIntSlice(); err == nil {
		return fmt.Sprint(numbers)
	}
	message, err := r.ToMessage()
	switch {
	case rueidis.IsRedisNil(err):
		return "nil"
	case err != nil:
		return err.Error()
	case message.IsInt64():
		n, err := message.ToInt64()
		return fmt.Sprint(n, err)
	}
	text, err := message.ToString()
	if err != nil {
		return err.Error()
	}
	return text
}

// step makes one call at a random time.
func (m *modelRun) step() {
	stride := m.stride()
	switch {
	case m.now+stride > 1<<53-4*m.law.Numbers().Window: // in the year 2255 all begins anew
		stride = modelBegin - m.now
		m.forget(true)
	case stride < 0:
		m.forget(false)
	}
	m.now += stride
	key := fmt.Sprintf("{k%d}", m.rnd.IntN(modelKeys))
	capacity := m.law.Numbers().Limit
	least := 1 + m.rnd.Int64N(max(1, min(capacity, 12)))
	if m.rnd.IntN(10) == 0 {
		least = 1 + m.rnd.Int64N(capacity)
	}
	most := least
	switch m.rnd.IntN(8) {
	case 0, 1:
		most += m.rnd.Int64N(capacity - least + 1)
	case 2:
		least, most = 0, 0
	}
	m.take(key, least, most)
}

// take foretells one call.
func (m *modelRun) take(key string, least, most int64) {
	word := uint64(0)
	old, ok := m.states[key]
	if ok {
		word = m.law.Word(old.state, old.at)
	}
	found := m.law.State(word, m.now)
	before := m.law.SettleState(found, m.now)
	after, taken := m.law.Apply(before, m.now, least, most)
	switch {
	case before != found, taken > 0:
		m.states[key] = kept{after, m.now}
	}
	switch {
	case taken > 0:
		m.allowed++
	case most > 0:
		m.denied++
		if before != found {
			m.settledOnly++
		}
	}
	args := append([]string{decimal(least), decimal(most)}, numbers(m.law)...)
	sha := testScripts().one[m.law.Numbers().Kind].sha
	m.expect(m.c.B().Evalsha().Sha1(sha).Numkeys(1).Key(key).Arg(append(args, decimal(m.now))...).Build(),
		fmt.Sprint(m.numbersOf(before, taken)))
	if now, ok := m.states[key]; ok {
		m.expect(m.c.B().Get().Key(key).Build(), m.encode(now))
		m.expect(m.c.B().Get().Key(key+":at").Build(), m.expires(now))
	}
}

// numbersOf returns the reply of the script.
func (m *modelRun) numbersOf(before store.State, taken int64) []int64 {
	if m.law.Numbers().Kind == store.KindBucket {
		return []int64{m.now, taken, before.Debt, 0, 0}
	}
	return []int64{m.now, taken, m.now / m.law.Numbers().Window, before.Prev, before.Curr}
}

// encode returns what the script is to leave behind.
func (m *modelRun) encode(k kept) string {
	n, s := m.law.Numbers(), k.state
	double := func(b []byte, n int64) []byte {
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(n)))
	}
	switch {
	case n.Kind == store.KindFixedWindow:
		return string(double(double(nil, s.Window), s.Curr))
	case n.Kind == store.KindSlidingWindow:
		return string(double(double(double(nil, s.Window), s.Prev), s.Curr))
	case n.Rate == 0:
		return strconv.FormatInt(s.Debt, 10)
	case n.Rate == 1:
		return strconv.FormatInt(k.at+s.Debt, 10)
	}
	return string(binary.LittleEndian.AppendUint32(double(nil, k.at+s.Debt/n.Rate), uint32(s.Debt%n.Rate)))
}

// expires returns the millisecond in which a key is to expire: never before it equals a new one.
func (m *modelRun) expires(k kept) string {
	life := m.law.Life(m.law.Word(k.state, k.at), k.at)
	if life == store.Forever {
		return "nil"
	}
	return strconv.FormatInt((k.at+int64(life/tick)+999)/1000, 10)
}

// forget drops the keys that equal a new one, before the clock steps back: whether a server has
// dropped them by then is not known. Or it drops all: words, unlike scripts, bear steps of some windows only.
func (m *modelRun) forget(all bool) {
	for i := range modelKeys {
		key := fmt.Sprintf("{k%d}", i)
		k, ok := m.states[key]
		if ok && (all || m.law.Describe(m.law.Word(k.state, k.at), m.now, 0).ResetAfter == 0) {
			delete(m.states, key)
			m.expect(m.c.B().Del().Key(key).Build(), "1 <nil>")
			m.expect(m.c.B().Set().Key(key+":at").Value("").Build(), "OK")
		}
	}
}

// stride returns by how much time goes on: mostly by about what a permit takes, at times back, and
// for windows often to the end of one.
func (m *modelRun) stride() int64 {
	n := m.law.Numbers()
	typical := n.Window
	if n.Kind == store.KindBucket {
		typical = n.Unit / max(1, n.Rate)
	}
	typical = min(max(2, typical), int64(24*time.Hour/tick))
	switch r := m.rnd.IntN(100); {
	case r < 40:
		return 0
	case r < 44:
		return -m.rnd.Int64N(5 * typical)
	case r < 46:
		return m.rnd.Int64N(50 * typical)
	case r < 50 && n.Window > 0:
		return n.Window - m.now%n.Window - m.rnd.Int64N(2)
	case r < 80:
		return m.rnd.Int64N(max(1, typical/8))
	}
	return m.rnd.Int64N(typical)
}

// steps is how many random calls each algorithm is compared over.
func steps() int {
	if testing.Short() {
		return shortSteps
	}
	return modelSteps
}
