package cli

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The replay of the sample log, counted a second time in the plainest way: a
// regular expression, the standard library's time and addresses, one sort, one
// bucket of rational tokens a key. Nothing of the command is used.

type naiveRequest struct {
	at  time.Time
	key string
}

type naiveBucket struct {
	tokens           *big.Rat
	at               time.Time
	requests, denied int
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
	format := regexp.MustCompile(`^([0-9A-Za-z.:\[\]-]*[0-9A-Za-z\]]) \S+ .*?\[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "`)
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
		requests = append(requests, naiveRequest{at.UTC(), naiveKey(m[1])})
	}
	slices.SortStableFunc(requests, func(a, b naiveRequest) int { return a.at.Compare(b.at) })
	return requests, lines, behind
}

// naiveTake is tokens = min(burst, tokens + elapsed*rate), then one is taken.
func naiveTake(b *naiveBucket, at time.Time, perSecond, burst int64) bool {
	elapsed := big.NewRat(int64(at.Sub(b.at)), int64(time.Second))
	b.tokens.Add(b.tokens, elapsed.Mul(elapsed, big.NewRat(perSecond, 1)))
	if full := big.NewRat(burst, 1); b.tokens.Cmp(full) > 0 {
		b.tokens = full
	}
	b.at = at
	one := big.NewRat(1, 1)
	if b.tokens.Cmp(one) < 0 {
		return false
	}
	b.tokens.Sub(b.tokens, one)
	return true
}

// naiveTop lists the keys denied as the JSON has them, most often first.
func naiveTop(buckets map[string]*naiveBucket) []any {
	var keys []string
	for key, b := range buckets {
		if b.denied > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	slices.SortStableFunc(keys, func(a, b string) int { return buckets[b].denied - buckets[a].denied })
	top := []any{}
	for _, key := range keys {
		b := buckets[key]
		top = append(top, map[string]any{"key": key, "requests": float64(b.requests), "denied": float64(b.denied)})
	}
	return top
}

func TestReplayEqualsAnIndependentCount(t *testing.T) {
	log, err := os.ReadFile(sampleLog)
	require.NoError(t, err)
	requests, lines, behind := naiveRequests(string(log))
	require.Greater(t, len(requests), 4000)

	const perSecond, burst = 1, 3
	buckets := map[string]*naiveBucket{}
	denied := 0
	for _, r := range requests {
		b := buckets[r.key]
		if b == nil {
			b = &naiveBucket{tokens: big.NewRat(burst, 1), at: r.at}
			buckets[r.key] = b
		}
		b.requests++
		if !naiveTake(b, r.at, perSecond, burst) {
			b.denied++
			denied++
		}
	}
	top := naiveTop(buckets)
	require.Greater(t, len(top), 10, "enough keys to be wrong about")

	for _, algorithm := range []string{"token_bucket", "gcra"} {
		code, stdout, stderr := call("", "replay", "--rate", "1/1s", "--burst", "3", "--top", "1000", "--json", "--algorithm", algorithm, sampleLog)
		require.Equal(t, exitOK, code, stderr)
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.Equal(t, map[string]any{
			"algorithm": algorithm, "limit": "1/1s burst 3",
			"lines": float64(lines), "requests": float64(len(requests)), "skipped": float64(lines - len(requests)),
			"reordered": float64(behind), "late": 0.0,
			"allowed": float64(len(requests) - denied), "denied": float64(denied),
			"keys": float64(len(buckets)), "keys_denied": float64(len(top)),
			"first": requests[0].at.Format(time.RFC3339), "last": requests[len(requests)-1].at.Format(time.RFC3339),
			"top": top,
		}, got)
	}
}
