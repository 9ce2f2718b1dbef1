package dynamodb_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// TestCollection: the time at which DynamoDB may collect an item lies an hour after the one at which it equals a
// new one, in seconds, and not much later; a limit that never refills is not collected.
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
				engine.TokenBucket(engine.PerSecond(10), 20), engine.GCRA(engine.Rate{Tokens: 1, Per: 7 * 24 * time.Hour}, 3),
				engine.LeakyBucket(engine.PerHour(1), 24), engine.LeakyQueue(engine.PerMinute(6), 12),
				engine.FixedWindow(5, 24*time.Hour), engine.FixedWindow(10, time.Minute), engine.SlidingWindow(5, time.Hour),
			} {
				for way, of := range ways {
					l := on(t, of(s), limit, store.WithDeadline(patient))
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
	fields := fieldsOf(t, client, table, key)
	require.NotEmpty(t, fields)
	n, ok := fields["x"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseInt(n.Value, 10, 64)
	require.NoError(t, err)
	return x, true
}

// fieldsOf returns an item, nil if there is none.
func fieldsOf(t *testing.T, client *awsdynamodb.Client, table, key string) map[string]types.AttributeValue {
	t.Helper()
	out, err := client.GetItem(t.Context(), &awsdynamodb.GetItemInput{TableName: &table, Key: partition(key)})
	require.NoError(t, err)
	return out.Item
}

// partition is the primary key of an item.
func partition(key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"k": &types.AttributeValueMemberB{Value: []byte(key)}}
}

// garbage is a table whose expired items are collected at once, by a clock that is as far ahead as any may be.
type garbage struct {
	client    *awsdynamodb.Client
	table     string
	collected int
}

// collect removes an item whose time has come.
func (g *garbage) collect(t *testing.T, key string, now time.Duration) {
	t.Helper()
	if fieldsOf(t, g.client, g.table, key) == nil {
		return
	}
	if x, ok := collected(t, g.client, g.table, key); !ok || x > int64((now+2*dynamodb.MostSkew)/time.Second) {
		return
	}
	g.collected++
	_, err := g.client.DeleteItem(t.Context(), &awsdynamodb.DeleteItemInput{TableName: &g.table, Key: partition(key)})
	require.NoError(t, err)
}

// TestCollectedAndKeptDecideAlike: random calls on two tables, of which one loses each item at the first moment at
// which DynamoDB may collect it, and the other keeps all. They decide alike.
func TestCollectedAndKeptDecideAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("calls come one after the other, and many")
	}
	limits := []engine.Limit{
		engine.TokenBucket(engine.PerMinute(10), 20), engine.TokenBucket(engine.Rate{Tokens: 0, Per: time.Hour}, 30),
		engine.GCRA(engine.PerHour(1), 3), engine.LeakyQueue(engine.PerMinute(3), 9),
		engine.FixedWindow(10, 40*time.Minute), engine.SlidingWindow(10, time.Hour),
	}
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			for _, limit := range limits {
				for way, of := range ways {
					t.Run(limit.String()+"/"+way, func(t *testing.T) { decideAlike(t, server, limit, of) })
				}
			}
		})
	}
}

func decideAlike(t *testing.T, server *dynamodbtest.Server, limit engine.Limit, of func(store.Storage) store.Storage) {
	t.Helper()
	clock, client := enginetest.NewClock(), dynamodbtest.Client(t, server.URL)
	g := &garbage{client: client, table: dynamodbtest.Table(t, client)}
	open := func(table string) *store.Shared {
		return on(t, of(server.OpenTable(t, client, table, fakeTime(clock)...)), limit, store.WithDeadline(patient))
	}
	keeps, loses := open(dynamodbtest.Table(t, client)), open(g.table)
	rnd := rand.New(rand.NewPCG(5, 6))
	now := time.Duration(time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC).UnixNano())
	for range 120 {
		now += time.Duration(rnd.Int64N(int64(10 * time.Minute)))
		if rnd.IntN(4) == 0 {
			now += time.Duration(rnd.Int64N(int64(4 * time.Hour)))
		}
		clock.Set(now)
		key, n := fmt.Sprintf("key-%d", rnd.IntN(2)), 1+rnd.Int64N(3)
		g.collect(t, loses.Key(key), now)
		want, err := keeps.Take(t.Context(), key, n)
		require.NoError(t, err)
		got, err := loses.Take(t.Context(), key, n)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	numbers := loses.Law().Numbers()
	refills := numbers.Rate > 0 || numbers.Window > 0
	require.Equal(t, refills, g.collected > 0, "%d items were collected", g.collected)
}
