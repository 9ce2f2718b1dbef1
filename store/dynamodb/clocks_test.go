package dynamodb_test

import (
	"math/rand/v2"
	"testing"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// TestClocksApart: processes whose clocks are up to D apart admit at most B + R*(W + D) in any time W: the
// difference counts once, however often they take turns. And it is no more than that which it costs:
// the bound without D is exceeded.
func TestClocksApart(t *testing.T) {
	const (
		rate, burst = 10, 5
		apart       = 3 * time.Second
		seconds     = 20
	)
	server := dynamodbtest.Minidyn(t)
	client := dynamodbtest.Client(t, server.URL)
	table := dynamodbtest.Table(t, client)
	leads := [3]time.Duration{0, apart / 2, apart}
	var clocks [3]*enginetest.Clock
	var limiters [3]*store.Shared
	for i := range limiters {
		clocks[i] = enginetest.NewClock()
		limiters[i] = on(t, server.OpenTable(t, client, table, fakeTime(clocks[i])...),
			engine.TokenBucket(engine.PerSecond(rate), burst), store.WithDeadline(patient))
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	now := time.Duration(time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC).UnixNano())
	var admitted []time.Duration
	for begin, end := now, now+seconds*time.Second; now < end; now += time.Duration(rnd.Int64N(int64(40 * time.Millisecond))) {
		i := 0 // the one that is behind, alone, and then all
		if now-begin > seconds*time.Second/2 {
			i = rnd.IntN(3)
		}
		clocks[i].Set(now + leads[i])
		d, err := limiters[i].Take(t.Context(), "key", 1)
		require.NoError(t, err)
		if d.Allowed {
			admitted = append(admitted, now)
		}
	}
	exceeds := false
	for first := range admitted {
		for last := first; last < len(admitted); last++ {
			within := (admitted[last] - admitted[first]).Seconds()
			n := float64(last - first + 1)
			require.LessOrEqual(t, n, burst+rate*(within+apart.Seconds()))
			exceeds = exceeds || n > burst+rate*within
		}
	}
	require.True(t, exceeds, "the clocks made no difference: the test shows nothing")
}

// TestCollection: the time at which DynamoDB may collect an item lies an hour after the one at which it equals a
// new one, and not much later; a limit that never refills is not collected.
func TestCollection(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			client := dynamodbtest.Client(t, server.URL)
			table := dynamodbtest.Table(t, client)
			clock := enginetest.NewClock()
			now := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
			clock.Set(time.Duration(now.UnixNano()))
			s := server.OpenTable(t, client, table, fakeTime(clock)...)
			for _, limit := range []engine.Limit{
				engine.TokenBucket(engine.PerSecond(10), 20), engine.GCRA(engine.PerHour(1), 24),
				engine.FixedWindow(5, 24*time.Hour), engine.SlidingWindow(5, time.Hour),
			} {
				for way, storage := range map[string]store.Storage{"apply": s, "swap": store.WithoutApply(s)} {
					l := on(t, storage, limit, store.WithDeadline(patient))
					d, err := l.Take(t.Context(), "key", limit.Capacity())
					require.NoError(t, err)
					require.True(t, d.Allowed)
					x, ok := collected(t, client, table, l.Key("key"))
					require.True(t, ok)
					late := x - now.Add(d.ResetAfter).Unix()
					require.GreaterOrEqual(t, late, int64(3600), "%v by %s", limit, way)
					require.LessOrEqual(t, late, int64(3602), "%v by %s", limit, way)
				}
			}
			l := on(t, s, engine.TokenBucket(engine.Rate{Per: time.Second}, 1), store.WithDeadline(patient))
			_, err := l.Take(t.Context(), "key", 1)
			require.NoError(t, err)
			_, ok := collected(t, client, table, l.Key("key"))
			require.False(t, ok)
		})
	}
}

// collected returns the TTL attribute of an item.
func collected(t *testing.T, client *awsdynamodb.Client, table, key string) (int64, bool) {
	t.Helper()
	out, err := client.GetItem(t.Context(), &awsdynamodb.GetItemInput{
		TableName: &table, Key: map[string]types.AttributeValue{"k": &types.AttributeValueMemberB{Value: []byte(key)}},
	})
	require.NoError(t, err)
	require.NotEmpty(t, out.Item)
	n, ok := out.Item["x"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	var x int64
	for _, digit := range n.Value {
		x = 10*x + int64(digit-'0')
	}
	return x, true
}
