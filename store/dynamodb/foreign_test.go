package dynamodb_test

import (
	"strconv"
	"testing"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func digits(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
func octets(s string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(s)} }

// today returns the number of a window of a day.
func today(later int64) string {
	return strconv.FormatInt(time.Now().Unix()/int64(24*time.Hour/time.Second)+later, 10)
}

// foreign are items that somebody else has left under our keys, none of which can be collected.
var foreign = map[string]map[string]types.AttributeValue{
	"nothing of ours":  {"n": digits("5")},
	"texts":            {"t": text("5"), "i": text("5"), "p": text("5"), "c": text("5"), "w": text("5"), "x": text("soon")},
	"fractions":        {"t": digits("0.5"), "i": digits("1.5"), "p": digits("0.5"), "c": digits("2.5"), "w": digits("1.5")},
	"a broken TAT":     {"t": digits("98765432109876543.5")},
	"half a window":    {"i": digits("9000000")},
	"a broken count":   {"i": digits("9000000"), "p": digits("0"), "c": text("none")},
	"a short word":     {"w": octets("abc")},
	"a word of zeros":  {"w": octets("\x00\x00\x00\x00\x00\x00\x00\x00")},
	"a word of others": {"w": octets("\xc1bcdefgh")},
	"a count below 0":  {"i": digits(today(0)), "p": digits("0"), "c": digits("-1000")},
	"one yesterday":    {"i": digits(today(-1)), "p": digits("0"), "c": digits("-1000")},
	"one before":       {"i": digits(today(0)), "p": digits("-1000"), "c": digits("0")},
	"a text to expire": {"w": octets("\x7f\x00\x00\x00\x00\x00\x00\x01"), "x": text("never")},
}

// TestForeignItems: an item that holds what cannot be read blocks nobody: the key equals a new one, the next charge
// writes over it, and then it can be collected; several processes that find it charge it once each.
func TestForeignItems(t *testing.T) {
	if testing.Short() {
		t.Skip("calls come one after the other, and many")
	}
	limits := []engine.Limit{
		engine.TokenBucket(engine.PerHour(1), 5), engine.LeakyQueue(engine.PerHour(1), 5),
		engine.FixedWindow(5, 24*time.Hour), engine.SlidingWindow(5, 24*time.Hour),
	}
	for _, limit := range limits {
		t.Run(limit.String(), func(t *testing.T) {
			for name, start := range emulators {
				t.Run(name, func(t *testing.T) {
					server := start(t)
					client := dynamodbtest.Client(t, server.URL)
					for way, of := range ways {
						for what, fields := range foreign {
							t.Run(way+"/"+what, func(t *testing.T) {
								if _, isText := fields["x"].(*types.AttributeValueMemberS); isText && server.Floats && way == "swap" {
									t.Skip("minidyn fails where a text is compared with a number; DynamoDB and dynalite do not")
								}
								f := found{client: client, table: dynamodbtest.Table(t, client)}
								for i := range f.limiters {
									f.limiters[i] = on(t, of(server.OpenTable(t, client, f.table)), limit, store.WithDeadline(patient))
								}
								f.charged(t, fields)
							})
						}
					}
				})
			}
		})
	}
}

// found is a key under which there is something already.
type found struct {
	client   *awsdynamodb.Client
	table    string
	limiters [2]*store.Shared
}

func (f *found) charged(t *testing.T, fields map[string]types.AttributeValue) {
	t.Helper()
	key := f.limiters[0].Key("key")
	there := partition(key)
	for name, value := range fields {
		there[name] = value
	}
	_, err := f.client.PutItem(t.Context(), &awsdynamodb.PutItemInput{TableName: &f.table, Item: there})
	require.NoError(t, err)
	d, err := f.limiters[0].Peek(t.Context(), "key")
	require.NoError(t, err)
	require.True(t, d.Allowed)
	for i, l := range f.limiters {
		d, err := l.Take(t.Context(), "key", 2)
		require.NoError(t, err)
		require.True(t, d.Allowed)
		require.Equal(t, int64(3-2*i), d.Remaining)
		require.Zero(t, l.Stats().Mismatches)
	}
	d, err = f.limiters[0].Take(t.Context(), "key", 2)
	require.NoError(t, err)
	require.False(t, d.Allowed)
	x, ok := collected(t, f.client, f.table, key)
	require.True(t, ok)
	require.Greater(t, x, time.Now().Unix())
	require.Less(t, x, time.Now().Add(72*time.Hour).Unix())
}

// TestItemThatNeverExpires: the item of a window in use has no time to be collected, as after a restore of parts of a
// table. The next charge gives it one, also in the same window.
func TestItemThatNeverExpires(t *testing.T) {
	for _, limit := range []engine.Limit{engine.FixedWindow(5, 24*time.Hour), engine.SlidingWindow(5, 24*time.Hour), engine.TokenBucket(engine.PerHour(1), 5)} {
		for name, start := range emulators {
			t.Run(limit.String()+"/"+name, func(t *testing.T) {
				server := start(t)
				client := dynamodbtest.Client(t, server.URL)
				table := dynamodbtest.Table(t, client)
				l := on(t, server.OpenTable(t, client, table), limit, store.WithDeadline(patient))
				_, err := l.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				key := l.Key("key")
				want, ok := collected(t, client, table, key)
				require.True(t, ok)
				there := fieldsOf(t, client, table, key)
				delete(there, "x")
				_, err = client.PutItem(t.Context(), &awsdynamodb.PutItemInput{TableName: &table, Item: there})
				require.NoError(t, err)
				d, err := l.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				require.Equal(t, int64(3), d.Remaining)
				got, ok := collected(t, client, table, key)
				require.True(t, ok)
				require.InDelta(t, want, got, 60)
			})
		}
	}
}
