package sharded

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// logModel is what the log of one key means, whatever limits it comes under: the
// time of each permit that may still count, never clamped.
type logModel struct {
	rule       LogLimit
	latest     int64
	stamps     []int64 // one a permit, oldest first
	generation uint64
}

// countingAt returns the stamps of which the age at now is below the window.
func countingAt(stamps []int64, now, windowNanos int64) []int64 {
	for i, s := range stamps {
		if uint64(now)-uint64(s) < uint64(windowNanos) {
			return stamps[i:]
		}
	}
	return nil
}

func (m *logModel) counting(now int64) []int64 {
	return countingAt(m.stamps, max(now, m.latest), m.rule.WindowNanos)
}

func (m *logModel) answer(limit LogLimit, n, now int64) LogDecision {
	now = max(now, m.latest)
	live := countingAt(m.counting(now), now, limit.WindowNanos)
	used := int64(len(live))
	d := LogDecision{Remaining: max(limit.Limit-used, 0)}
	expiresIn := func(s int64) int64 { return int64(uint64(limit.WindowNanos) - (uint64(now) - uint64(s))) }
	if used > 0 {
		d.ResetAfterNanos = expiresIn(live[used-1])
	}
	switch {
	case n < 0 || n > limit.Limit:
		d.RetryAfterNanos = LogNever
	case n == 0 || used+n <= limit.Limit:
		d.Allowed = true
	default:
		d.RetryAfterNanos = expiresIn(live[used+n-limit.Limit-1])
	}
	return d
}

// enter settles under the old window at the change, and drops nothing else.
func (m *logModel) enter(limit LogLimit, now int64) {
	m.latest = max(now, m.latest)
	if m.rule != limit {
		m.stamps, m.rule = m.counting(m.latest), limit
	}
}

func (m *logModel) charge(n int64) {
	for range n {
		m.stamps = append(m.stamps, m.latest)
	}
}

func (m *logModel) take(limit LogLimit, n, now int64) LogDecision {
	if n >= 1 && n <= limit.Limit {
		m.enter(limit, now)
	}
	d := m.answer(limit, n, now)
	if d.Allowed && n > 0 {
		m.charge(n)
		d.Remaining, d.ResetAfterNanos = d.Remaining-n, limit.WindowNanos
		d.AtNanos, d.Generation = m.latest, m.generation
	}
	return d
}

// refund takes n permits of the time at off, if they count at now. It drops nothing else: now is seen
// by nobody, and what does not count then does at a call of an earlier time.
func (m *logModel) refund(at, n, now int64) bool {
	from := len(m.stamps) - len(m.counting(now))
	var kept []int64
	held := int64(0)
	for i, s := range m.stamps {
		if i >= from && s == at && held < n {
			held++
		} else {
			kept = append(kept, s)
		}
	}
	if n < 1 || held < n {
		return false
	}
	m.stamps = kept
	return true
}

// logCharge is a charge that may be given back.
type logCharge struct {
	key        int
	generation uint64
	at, n      int64
}

// logModels makes calls of a table and of a model of each key, and compares.
type logModels struct {
	t       *testing.T
	g       *Logs[int]
	limits  []LogLimit
	pick    func(n int64) int64 // 0 to n - 1
	now     int64
	keys    map[int]*logModel
	charges []logCharge
	born    uint64
	met     map[string]int
}

func newLogModels(t *testing.T, now int64, limits []LogLimit, pick func(int64) int64) *logModels {
	t.Helper()
	return &logModels{t: t, g: NewLogs[int](), limits: limits, pick: pick, now: now, keys: map[int]*logModel{}, met: map[string]int{}}
}

// model returns the model of key and the time of a call at when. One of which
// the log was swept must equal a new one.
func (s *logModels) model(key int, when int64) (m *logModel, at int64) {
	s.t.Helper()
	if m := s.keys[key]; m != nil && s.g.Has(key) {
		return m, when
	}
	floor := s.g.floorNanos.Load()
	if m := s.keys[key]; m != nil {
		require.GreaterOrEqual(s.t, floor, m.latest, "forgotten before the time that it saw")
		require.Empty(s.t, m.counting(floor), "forgotten while permits counted")
	}
	return &logModel{latest: math.MinInt64, generation: s.born + 1}, max(when, floor)
}

// adopt keeps the model of a key that has a log by now.
func (s *logModels) adopt(key int, m *logModel) {
	s.t.Helper()
	r, found := s.g.rings.Load(key)
	require.Equal(s.t, found, s.g.Has(key))
	if !found {
		require.Empty(s.t, m.stamps)
		delete(s.keys, key)
		return
	}
	s.keys[key] = m
	require.Equal(s.t, m.generation, r.generation)
	s.born = max(s.born, r.generation)
	requireOrdered(s.t, r)
	require.LessOrEqual(s.t, len(r.stamps), 256, "no more room than the largest limit")
}

func (s *logModels) step(i int) {
	s.t.Helper()
	key, limit := int(s.pick(3)), s.limits[s.pick(int64(len(s.limits)))]
	s.now += min(s.pick(12), math.MaxInt64-s.now)
	when, n := s.now, s.pick(6)
	if s.pick(5) == 0 && when > math.MinInt64+20 { // clocks step back
		when -= s.pick(20)
	}
	switch s.pick(40) {
	case 0:
		s.now += min(s.pick(300), math.MaxInt64-s.now)
		s.met["dropped"] += s.g.Sweep(s.now, nil)
	case 1:
		s.g.Reset(key)
		delete(s.keys, key)
	case 2, 3, 4:
		s.move(i, key, limit, n, when)
	case 5, 6, 7, 8, 9, 10:
		s.refund(i, when)
	case 11:
		s.take(i, key, limit, s.pick(limit.Limit+3)-1, when)
	default:
		s.take(i, key, limit, n, when)
	}
}

func (s *logModels) take(i, key int, limit LogLimit, n, when int64) {
	s.t.Helper()
	m, at := s.model(key, when)
	require.Equal(s.t, m.answer(limit, n, at), s.g.Peek(key, limit, n, at), "call %d: peek of %d at %d", i, n, at)
	had := s.g.Has(key)
	if had && m.rule != limit {
		s.met["flips"]++
	}
	got, existing := s.g.TakeExisting(key, limit, n, logAt(when))
	require.Equal(s.t, had, existing, "call %d", i)
	if !existing {
		got = s.g.Take(key, limit, n, logAt(when))
	}
	require.Equal(s.t, m.take(limit, n, at), got, "call %d: take of %d at %d", i, n, at)
	if got.Generation != 0 {
		s.charges = append(s.charges, logCharge{key, got.Generation, got.AtNanos, n})
	} else if n > 0 && n <= limit.Limit {
		s.met["denied"]++
	}
	if limit.Limit < int64(len(m.counting(at))) {
		s.met["beyond the limit"]++
	}
	s.adopt(key, m)
}

// refund gives a recent charge back, or something like it.
func (s *logModels) refund(i int, when int64) {
	s.t.Helper()
	if len(s.charges) == 0 {
		return
	}
	back := min(int64(len(s.charges)), 1+s.pick(12))
	c := s.charges[int64(len(s.charges))-back]
	switch s.pick(8) {
	case 0:
		c.at++
	case 1:
		c.generation--
	case 2:
		c.n += s.pick(3)
	case 3:
		c.n -= s.pick(3)
	}
	m, want := s.keys[c.key], false
	if m != nil && s.g.Has(c.key) && m.generation == c.generation {
		want = m.refund(c.at, c.n, when)
	}
	got := s.g.Refund(c.key, c.generation, c.at, c.n, when)
	require.Equal(s.t, want, got, "call %d: refund of %+v at %d", i, c, when)
	if got {
		s.met["refunded"]++
	} else {
		s.met["refused"]++
	}
}

// move takes a key's usage out and, mostly, back in under another limit.
func (s *logModels) move(i, key int, limit LogLimit, n, when int64) {
	s.t.Helper()
	m, at := s.model(key, when)
	had := s.g.Has(key)
	want := int64(len(m.counting(at)))
	used, ok := s.g.Evacuate(key, when)
	require.Equal(s.t, had, ok, "call %d", i)
	require.Equal(s.t, want, used, "call %d: evacuated at %d", i, when)
	require.False(s.t, s.g.Has(key))
	delete(s.keys, key)
	s.met["moved"]++
	if s.pick(8) == 0 {
		used = 0
	}
	m, at = s.model(key, when)
	if used > 0 {
		m.enter(limit, at)
		m.charge(used)
	}
	got := s.g.Settle(key, limit, used, n-1, when)
	require.Equal(s.t, m.take(limit, n-1, at), got, "call %d: settled %d and took %d at %d", i, used, n-1, at)
	require.Equal(s.t, used > 0 || got.Generation != 0, s.g.Has(key))
	s.adopt(key, m)
	if got.Generation != 0 {
		s.charges = append(s.charges, logCharge{key, got.Generation, got.AtNanos, n - 1})
	}
}

// TestLogLimitsFlip compares calls of keys of which the limit flips among three,
// with refunds, moves, resets and sweeps, with the model.
func TestLogLimitsFlip(t *testing.T) {
	mixes := map[string][]LogLimit{
		"short and long windows": {{7, 50}, {3, 20}, {20, 200}},
		"large and small limits": {{200, 90}, {1, 90}, {9, 91}},
		"nothing at all":         {{0, 30}, {12, 30}, {5, 1}},
		"windows as long as time": {
			{12, math.MaxInt64}, {12, 40}, {30, 1 << 62},
		},
	}
	for name, limits := range mixes {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, uint64(len(name))))
			s := newLogModels(t, -1000, limits, rng.Int64N)
			for i := range 40_000 {
				s.step(i)
				if len(s.charges) > 1000 {
					s.charges = s.charges[900:]
				}
			}
			t.Log(s.met)
			for _, what := range []string{"flips", "denied", "beyond the limit", "refunded", "refused", "moved"} {
				require.Greater(t, s.met[what], 100, what)
			}
		})
	}
}

// FuzzLogLimits is TestLogLimitsFlip with limits, times and calls read from bytes.
func FuzzLogLimits(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for size := 40; size < 700; size *= 2 {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 8 {
			return
		}
		limits := make([]LogLimit, 3)
		for i := range limits {
			limits[i] = LogLimit{int64(data[2*i] % 60), int64(data[2*i+1]) + 1}
		}
		if data[6] >= 128 {
			limits[2].WindowNanos = math.MaxInt64
		}
		start := []int64{math.MinInt64, -300, math.MaxInt64 - 2000}[data[7]%3]
		data = data[8:]
		s := newLogModels(t, start, limits, func(n int64) int64 {
			if len(data) == 0 {
				return 0
			}
			v := int64(data[0]) % n
			data = data[1:]
			return v
		})
		for i := 0; len(data) > 0; i++ {
			s.step(i)
		}
	})
}
