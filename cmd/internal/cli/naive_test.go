package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The replay of the sample log, counted a second time in the plainest way: a
// regular expression, the standard library's time and addresses, one sort, and
// for each key a bucket of rational tokens, a count or a list of times. Nothing
// of the command is used.

type naiveRequest struct {
	at           time.Time
	client, path string
}

// naiveKey is the rule in words: no port, no brackets, IPv4-mapped is IPv4,
// IPv6 by /64, names as they are.
func naiveKey(host string) string {
	if addrPort, err := netip.ParseAddrPort(host); err == nil {
		host = addrPort.Addr().String()
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if addr = addr.Unmap(); addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}

func naiveRequests(log string) (requests []naiveRequest, lines, behind int) {
	format := regexp.MustCompile(`^([0-9A-Za-z.:\[\]-]*[0-9A-Za-z\]]) \S+ .*?\[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "(?:[A-Z]+ ([^"?]+?)(?:\?[^"]*)?(?: HTTP/[0-9.]+)?")?`)
	var newest time.Time
	for text := range strings.Lines(log) {
		lines++
		m := format.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		at, err := time.Parse("02/Jan/2006:15:04:05 -0700", m[2])
		if err != nil {
			continue
		}
		if at.Before(newest) {
			behind++
		} else {
			newest = at
		}
		requests = append(requests, naiveRequest{at.UTC(), naiveKey(m[1]), cmp.Or(m[3], "-")})
	}
	slices.SortStableFunc(requests, func(a, b naiveRequest) int { return a.at.Compare(b.at) })
	return requests, lines, behind
}

// naiveLaw is one key under one limit.
type naiveLaw interface {
	fits(at time.Time) bool
	charge(at time.Time) // after fits, at the same time
}

// naiveBucket is tokens = min(burst, tokens + elapsed*rate), less one a charge.
type naiveBucket struct {
	perSecond, burst int64
	tokens           *big.Rat
	at               time.Time
	delays           *[]time.Duration // of each charge, what was missing before it, in time
}

func (b *naiveBucket) fits(at time.Time) bool {
	full := big.NewRat(b.burst, 1)
	if b.tokens == nil {
		b.tokens, b.at = full, at
	}
	earned := big.NewRat(int64(at.Sub(b.at)), int64(time.Second))
	b.tokens = new(big.Rat).Add(b.tokens, earned.Mul(earned, big.NewRat(b.perSecond, 1)))
	if b.tokens.Cmp(full) > 0 {
		b.tokens = full
	}
	b.at = at
	return b.tokens.Cmp(big.NewRat(1, 1)) >= 0
}

func (b *naiveBucket) charge(time.Time) {
	wait := new(big.Rat).Sub(big.NewRat(b.burst, 1), b.tokens)
	wait.Mul(wait, big.NewRat(int64(time.Second), b.perSecond))
	nanos, _ := wait.Float64() // exact below 2^53, and the rates here make whole nanoseconds
	*b.delays = append(*b.delays, time.Duration(nanos))
	b.tokens = new(big.Rat).Sub(b.tokens, big.NewRat(1, 1))
}

// naiveWindow counts by the index of the window since 1970.
type naiveWindow struct {
	limit   int
	seconds int64
	counts  map[int64]int
}

func (w *naiveWindow) fits(at time.Time) bool { return w.counts[at.Unix()/w.seconds] < w.limit }
func (w *naiveWindow) charge(at time.Time)    { w.counts[at.Unix()/w.seconds]++ }

// naiveLog keeps every time and looks through them all.
type naiveLog struct {
	limit  int
	window time.Duration
	times  []time.Time
}

func (l *naiveLog) fits(at time.Time) bool {
	n := 0
	for _, t := range l.times {
		if t.After(at.Add(-l.window)) {
			n++
		}
	}
	return n < l.limit
}

func (l *naiveLog) charge(at time.Time) { l.times = append(l.times, at) }

// naiveCount is requests and denied, by key.
type naiveCount map[string]*[2]int

func (c naiveCount) add(key string, denied bool) {
	if c[key] == nil {
		c[key] = new([2]int)
	}
	c[key][0]++
	if denied {
		c[key][1]++
	}
}

func (c naiveCount) denied() (n int) {
	for _, count := range c {
		n += count[1]
	}
	return n
}

// top lists the keys denied as the JSON has them, most often first.
func (c naiveCount) top() []any {
	var keys []string
	for key, count := range c {
		if count[1] > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	slices.SortStableFunc(keys, func(a, b string) int { return c[b][1] - c[a][1] })
	top := []any{}
	for _, key := range keys {
		top = append(top, map[string]any{"key": key, "requests": float64(c[key][0]), "denied": float64(c[key][1])})
	}
	return top
}

// naiveLimit is a limit as a user writes it, and in laws.
type naiveLimit struct {
	name, rate, algorithm, words string
	burst                        string // "" if there is none
	byPath                       bool
	law                          func() naiveLaw
}

func (l naiveLimit) key(r naiveRequest) string {
	if l.byPath {
		return r.path
	}
	return r.client
}

// naiveReplay judges all requests by all limits, all or nothing: by the key of
// the first what any of them denied, and what each denied by its own key.
func naiveReplay(requests []naiveRequest, list []naiveLimit) (whole naiveCount, each []naiveCount) {
	whole = naiveCount{}
	laws := make([]map[string]naiveLaw, len(list))
	for i := range list {
		each, laws[i] = append(each, naiveCount{}), map[string]naiveLaw{}
	}
	for _, r := range requests {
		denied := false
		for i, l := range list {
			key := l.key(r)
			if laws[i][key] == nil {
				laws[i][key] = l.law()
			}
			fits := laws[i][key].fits(r.at)
			each[i].add(key, !fits)
			denied = denied || !fits
		}
		whole.add(list[0].key(r), denied)
		for i, l := range list {
			if !denied {
				laws[i][l.key(r)].charge(r.at)
			}
		}
	}
	return whole, each
}

// naiveDelays adds what the JSON says of the waits of a queue.
func naiveDelays(want map[string]any, delays []time.Duration) {
	var count, longest, sum time.Duration
	for _, d := range delays {
		if d > 0 {
			count, longest, sum = count+1, max(longest, d), sum+d
		}
	}
	want["delayed"], want["max_delay_ns"], want["mean_delay_ns"] = float64(count), float64(longest), float64(sum/count)
}

// burstJSON is the burst as JSON has it.
func (l naiveLimit) burstJSON() any {
	if l.burst == "" {
		return nil
	}
	n, _ := strconv.ParseFloat(l.burst, 64)
	return n
}

func TestReplayEqualsAnIndependentCount(t *testing.T) {
	log, err := os.ReadFile(sampleLog)
	require.NoError(t, err)
	requests, lines, behind := naiveRequests(string(log))
	require.Greater(t, len(requests), 4000)

	var delays, unused []time.Duration
	bucket := func(perSecond, burst int64, delays *[]time.Duration) func() naiveLaw {
		return func() naiveLaw { return &naiveBucket{perSecond: perSecond, burst: burst, delays: delays} }
	}
	tokens := naiveLimit{"tokens", "2/1s", "token_bucket", "2/1s burst 3", "3", false, bucket(2, 3, &unused)}
	queue := naiveLimit{"queue", "1/1s", "leaky_queue", "1/1s burst 4", "4", false, bucket(1, 4, &delays)}
	fixed := naiveLimit{"fixed", "6/7s", "fixed_window", "6 in each 7s", "", true, func() naiveLaw {
		return &naiveWindow{6, 7, map[int64]int{}}
	}}
	exact := naiveLimit{"exact", "6/10s", "sliding_log", "6 in any 10s", "", false, func() naiveLaw {
		return &naiveLog{limit: 6, window: 10 * time.Second}
	}}
	gcra, meter := tokens, tokens
	gcra.algorithm, meter.algorithm = "gcra", "leaky_bucket"

	for _, list := range [][]naiveLimit{
		{tokens}, {gcra}, {meter}, {queue}, {fixed}, {exact},
		{exact, fixed}, {fixed, exact}, {tokens, exact, queue, fixed},
	} {
		delays = nil
		whole, each := naiveReplay(requests, list)
		require.Greater(t, whole.denied(), 50, "enough to be wrong about")
		args := []string{"replay", "--top", "10000", "--json"}
		limits, firstKey := []any{}, "client_ip"
		if list[0].byPath {
			firstKey = "path"
		}
		for i, l := range list {
			text := fmt.Sprintf("name=%s rate=%s algorithm=%s", l.name, l.rate, l.algorithm)
			key := "client_ip"
			if l.byPath {
				key = "path"
				text += " key=path"
			}
			if l.burst != "" {
				text += " burst=" + l.burst
			}
			args = append(args, "--limit", text)
			want := map[string]any{
				"name": l.name, "limit": l.words, "rate": l.rate, "burst": l.burstJSON(), "algorithm": l.algorithm, "key": key,
				"denied": float64(each[i].denied()), "keys": float64(len(each[i])),
				"keys_denied": float64(len(each[i].top())), "top": each[i].top(),
			}
			require.Positive(t, want["denied"], l.name)
			if l.algorithm == "leaky_queue" {
				naiveDelays(want, delays)
			}
			limits = append(limits, want)
		}
		code, stdout, stderr := call("", append(args, sampleLog)...)
		require.Equal(t, exitOK, code, stderr)
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.Equal(t, map[string]any{
			"algorithm": list[0].algorithm, "limit": list[0].words, "rate": list[0].rate, "burst": list[0].burstJSON(),
			"key": firstKey, "ipv6_prefix": 64.0, "incomplete": false,
			"skipped_reasons": got["skipped_reasons"],
			"lines":           float64(lines), "requests": float64(len(requests)), "skipped": float64(lines - len(requests)),
			"reordered": float64(behind), "late": 0.0,
			"allowed": float64(len(requests) - whole.denied()), "denied": float64(whole.denied()),
			"keys": float64(len(whole)), "keys_denied": float64(len(whole.top())),
			"first": requests[0].at.Format(time.RFC3339), "last": requests[len(requests)-1].at.Format(time.RFC3339),
			"top": whole.top(), "limits": limits,
		}, got, args)
	}
}
