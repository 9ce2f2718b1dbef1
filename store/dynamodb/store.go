package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// tick is the resolution: fine enough for every rate up to a million a second, and so coarse that
// words of compare-and-swap stay readable for long.
const tick = time.Microsecond

// Store is a store.Storage and store.Applier in one DynamoDB table. Its methods are safe for concurrent
// use, end with their context, and start no goroutine that outlives the call. Make one with [Open].
//
// Cost: Apply sends one UpdateItem an op (1 write unit, also if its condition fails), a second one if
// the form was guessed wrong; or one consistent GetItem (1 read unit) if the key was seen to be
// used up, and that still holds. Get is one GetItem, CompareAndSwap and Put one PutItem or DeleteItem each.
type Store struct {
	client   *awsdynamodb.Client
	table    string
	clock    engine.Clock
	floats   bool
	parallel int
	skew     skew
	hints    hints
}

var _ store.Applier = (*Store)(nil)

// systemClock is the wall clock: it has to follow the corrections that keep clocks together.
type systemClock struct{}

// Now returns the time since 1970-01-01 UTC.
func (systemClock) Now() time.Duration { return time.Duration(time.Now().UnixNano()) }

// Open checks that the table is there, has the schema of [CreateTable], and that the clock is within its
// bound. The client stays the caller's; the retries, and nothing else of it, are overruled for each call.
// It must not sit on an HTTP client that repeats requests by itself.
// Errors: store.ErrOption, store.ErrUnavailable, [ErrTable], [ErrSkew].
func Open(ctx context.Context, client *awsdynamodb.Client, table string, opts ...Option) (*Store, error) {
	s := &Store{
		client: client, table: table, clock: systemClock{}, parallel: defaultParallel,
		skew: skew{most: DefaultMaxSkew}, hints: hints{seed: maphash.MakeSeed()},
	}
	for _, opt := range opts {
		if opt != nil {
			opt(s)
		}
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	var found *awsdynamodb.DescribeTableOutput
	err := s.send(ctx, func(o func(*awsdynamodb.Options)) (err error) {
		found, err = client.DescribeTable(ctx, &awsdynamodb.DescribeTableInput{TableName: &table}, o)
		if err != nil {
			return fmt.Errorf("describing table %q: %w", table, err)
		}
		return nil
	})
	if missing, none := errors.AsType[*types.ResourceNotFoundException](err); none {
		return nil, fmt.Errorf("%w: %w: there is no table %q in %s: make it once, by CreateTable: %w",
			store.ErrUnavailable, ErrTable, table, client.Options().Region, missing)
	}
	if err != nil {
		return nil, readError(err)
	}
	if err := checkSchema(found.Table); err != nil {
		return nil, err
	}
	if err := s.skew.refuses(); err != nil {
		return nil, err
	}
	return s, nil
}

// Info describes the storage.
func (s *Store) Info() store.Info { return store.Info{Name: "dynamodb", Tick: tick} }

// Close does nothing: the client is the caller's.
func (s *Store) Close() error { return nil }

// Skew returns between which bounds this process's clock is ahead of the server's, negative if it
// is behind, as measured by the answers of the last minute or so. With few answers the two are
// a second apart, the resolution of their Date; with more, little more than a round trip. ok is
// false if nothing was measured yet.
func (s *Store) Skew() (low, high time.Duration, ok bool) { return s.skew.measured() }

// now returns the time in ticks.
func (s *Store) now() int64 { return int64(s.clock.Now() / tick) }

// Get returns the word of key, 0 if there is none, by a consistent read.
func (s *Store) Get(ctx context.Context, key string) (store.Reading, error) {
	found, err := s.read(ctx, key)
	if err == nil {
		err = s.skew.refuses()
	}
	if err != nil {
		return store.Reading{}, err
	}
	now := s.now()
	return store.Reading{Word: found.word(now), Now: now}, nil
}

// read returns the item of a key by a consistent read, empty if there is none.
func (s *Store) read(ctx context.Context, key string) (item, error) {
	var out *awsdynamodb.GetItemOutput
	err := s.send(ctx, func(o func(*awsdynamodb.Options)) (err error) {
		out, err = s.client.GetItem(ctx, &awsdynamodb.GetItemInput{
			TableName: &s.table, Key: keyOf(key), ConsistentRead: aws.Bool(true),
		}, o)
		return err
	})
	if err != nil {
		return item{}, readError(err)
	}
	return parse(out.Item), nil
}

// measure reads an item if the clock has to be measured anew, and says whether the clock is refused.
func (s *Store) measure(ctx context.Context, key string) (found item, known bool, err error) {
	if s.skew.fresh(s.clock.Now()) {
		return item{}, false, s.skew.refuses()
	}
	if found, err = s.read(ctx, key); err != nil {
		return item{}, false, err
	}
	return found, true, s.skew.refuses()
}

// CompareAndSwap writes next if the word is old.
func (s *Store) CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (store.Reading, bool, error) {
	if _, _, err := s.measure(ctx, key); err != nil {
		return store.Reading{}, false, err
	}
	var seen item
	for range maxTries {
		at, ok, err := s.swap(ctx, key, old, next, ttl, &seen)
		if err != nil || ok || at.Word != old {
			return at, ok, err
		}
		// It was another word, and was old again when it was read: no instant had both. Or it is none, which
		// is told by seen, and is written over.
	}
	return store.Reading{}, false, fmt.Errorf("%w: dynamodb: %d tries", store.ErrContended, maxTries)
}

// swap sends a CompareAndSwap once, and notes in seen the item on which it failed. Where the server does not tell
// that, the reading is of a moment later.
func (s *Store) swap(ctx context.Context, key string, old, next uint64, ttl time.Duration, seen *item) (store.Reading, bool, error) {
	now := s.now()
	in := s.put(key, next, ttl, now)
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	condition, values := seen.stands(old, now)
	in.ConditionExpression, in.ExpressionAttributeValues = &condition, values
	err := s.send(ctx, func(o func(*awsdynamodb.Options)) (err error) {
		_, err = s.client.PutItem(ctx, in, o)
		return err
	})
	if err == nil {
		return store.Reading{Now: now}, true, nil
	}
	found, err := s.refused(ctx, key, err)
	if err != nil {
		return store.Reading{}, false, err
	}
	*seen, now = found, s.now()
	return store.Reading{Word: found.word(now), Now: now}, false, nil
}

// Put writes word, 0 to remove the item.
func (s *Store) Put(ctx context.Context, key string, word uint64, ttl time.Duration) error {
	s.hints.forget(key)
	if word == 0 {
		return s.send(ctx, func(o func(*awsdynamodb.Options)) error {
			_, err := s.client.DeleteItem(ctx, &awsdynamodb.DeleteItemInput{TableName: &s.table, Key: keyOf(key)}, o)
			return err
		})
	}
	if _, _, err := s.measure(ctx, key); err != nil {
		return err
	}
	return s.send(ctx, func(o func(*awsdynamodb.Options)) error {
		_, err := s.client.PutItem(ctx, s.put(key, word, ttl, s.now()), o)
		return err
	})
}

// put returns the request that writes a word, without a condition.
func (s *Store) put(key string, word uint64, ttl time.Duration, now int64) *awsdynamodb.PutItemInput {
	fields := keyOf(key)
	fields["w"] = wordValue(word)
	if ttl > store.Forever {
		fields["x"] = integer(collectAt(now, int64((ttl-1)/tick+1)))
	}
	return &awsdynamodb.PutItemInput{TableName: &s.table, Item: fields}
}

// refused returns the item on which a condition failed: the one that the error holds, else a
// consistent read. Of an error that is none of a condition it returns the error.
func (s *Store) refused(ctx context.Context, key string, err error) (item, error) {
	failed, ok := conditionFailed(err)
	if !ok {
		return item{}, err
	}
	if len(failed.Item) > 0 {
		return parse(failed.Item), nil
	}
	return s.read(ctx, key) // there is no item, or the server does not tell
}
