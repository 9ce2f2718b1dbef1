package redis

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"github.com/penstock-go/penstock/store"
)

const (
	// tick is the resolution of the server's clock.
	tick = time.Microsecond
	// maxUnits bounds the capacity of a bucket in units, so that a debt and one more charge stay
	// below 2^53.
	maxUnits = int64(1) << 52
	// maxTicks bounds the length of a window, so that the end of the next but one stays below 2^53.
	maxTicks = int64(1) << 51
)

// Storage is a [store.Storage] and [store.Applier] in Redis. Make one with [New], [FromRueidis] or
// [FromGoRedis]. Its methods are safe for concurrent use.
//
// Cost of a decision: one round trip, and 4 to 6 microseconds of the server's one thread. A batch is
// one round trip to each node that it concerns.
type Storage struct {
	client  client
	scripts *scripts
	shards  shards
	extra   func() []string // arguments behind those of every script, of tests: the time
}

var (
	_ store.Applier = (*Storage)(nil)
	_ store.Sharded = (*Storage)(nil)
)

// production are the scripts on the server's clock.
var production = newScripts(clockLua)

// newStorage puts a client to use, which it closes if there is an error.
func newStorage(c client) (*Storage, error) {
	s := &Storage{client: c, scripts: production}
	if err := s.shards.follow(c, askShards); err != nil {
		return nil, errors.Join(connecting("which slots the nodes have", err), c.close())
	}
	return s, nil
}

// Info describes the storage: microseconds of the server's clock, which all share.
func (s *Storage) Info() store.Info {
	return store.Info{Name: "redis", Tick: tick, SharedClock: true, MaxUnits: maxUnits}
}

// Node returns the shard of a cluster that a key lives on, such as "slots 0-5460", and "" without
// a cluster.
func (s *Storage) Node(key string) string { return s.shards.of(key) }

// Get returns the word of key, 0 if there is none, 1 if what is there is none.
func (s *Storage) Get(ctx context.Context, key string) (store.Reading, error) {
	r := s.run(ctx, s.scripts.get, key)
	return reading(&r)
}

// CompareAndSwap writes next if the word is old.
func (s *Storage) CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (store.Reading, bool, error) {
	r := s.run(ctx, s.scripts.swap, key, bytesOf(old), bytesOf(next), micros(ttl))
	at, err := reading(&r)
	return at, err == nil && r.numbers[1] == 1, err
}

// Put writes word whatever stands there, 0 to remove the key.
func (s *Storage) Put(ctx context.Context, key string, word uint64, ttl time.Duration) error {
	if err := begun(ctx); err != nil {
		return err
	}
	if word == 0 {
		return s.client.remove(ctx, key)
	}
	r := s.run(ctx, s.scripts.put, key, bytesOf(word), micros(ttl))
	return r.err
}

// run runs a script for one key.
func (s *Storage) run(ctx context.Context, sc *script, key string, args ...string) reply {
	if err := begun(ctx); err != nil {
		return reply{err: err}
	}
	if s.extra != nil {
		args = append(args, s.extra()...)
	}
	calls, replies := []call{{script: sc, keys: []string{key}, args: args}}, make([]reply, 1)
	s.client.run(ctx, calls, replies)
	return replies[0]
}

// reading reads the reply of a script that returned the time and a word.
func reading(r *reply) (store.Reading, error) {
	switch {
	case r.err != nil:
		return store.Reading{}, r.err
	case len(r.numbers) == 0 || len(r.word) != 8:
		return store.Reading{}, errReply
	}
	return store.Reading{Word: binary.BigEndian.Uint64([]byte(r.word)), Now: r.numbers[0]}, nil
}

// bytesOf returns a word as it is kept.
func bytesOf(word uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], word)
	return string(b[:])
}

// micros returns a time to live as scripts take it, rounded up; 0 is for ever. A script has no number
// for more than maxTicks besides the time, 71 years.
func micros(ttl time.Duration) string {
	if ttl <= store.Forever {
		return "0"
	}
	return strconv.FormatInt(min(int64((ttl-1)/tick)+1, maxTicks), 10)
}

// Close closes the client, if it is the storage's own.
func (s *Storage) Close() error {
	s.shards.end()
	return s.client.close()
}
