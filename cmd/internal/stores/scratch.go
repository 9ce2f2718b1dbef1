package stores

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/penstock-go/penstock/store"
)

// Scratch is a part of a store of its own: a prefix that nobody else uses, and
// which keys were written under it, so that they can be removed. Its methods
// are safe for concurrent use.
type Scratch struct {
	Prefix string // all keys begin with it

	mu   sync.Mutex
	keys map[string]struct{}
}

// NewScratch begins with a prefix that holds the name of what it is for.
func NewScratch(name string) *Scratch {
	random := make([]byte, 6)
	_, _ = rand.Read(random) // never fails
	return &Scratch{Prefix: "penstock-" + name + "-" + hex.EncodeToString(random), keys: map[string]struct{}{}}
}

// Keep notes keys that are to be removed.
func (s *Scratch) Keep(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.keys[key] = struct{}{}
	}
}

// Over returns a storage that notes the keys that it is asked for. It is an
// Applier if storage is one.
func (s *Scratch) Over(storage store.Storage) store.Storage {
	noting := noting{storage, s}
	if applier, ok := storage.(store.Applier); ok {
		return notingApplier{noting, applier}
	}
	return noting
}

type noting struct {
	store.Storage
	scratch *Scratch
}

// CompareAndSwap notes the key.
func (n noting) CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (store.Reading, bool, error) {
	n.scratch.Keep(key)
	return n.Storage.CompareAndSwap(ctx, key, old, next, ttl)
}

// Put notes the key.
func (n noting) Put(ctx context.Context, key string, word uint64, ttl time.Duration) error {
	n.scratch.Keep(key)
	return n.Storage.Put(ctx, key, word, ttl)
}

type notingApplier struct {
	noting
	applier store.Applier
}

// Accepts is the storage's.
func (n notingApplier) Accepts(law *store.Law) error { return n.applier.Accepts(law) }

// Apply notes the keys.
func (n notingApplier) Apply(ctx context.Context, ops []store.Op, results []store.Result) {
	for i := range ops {
		n.scratch.Keep(ops[i].Key)
	}
	n.applier.Apply(ctx, ops, results)
}

const (
	removers      = 16               // removals that are on their way at once
	removeTimeout = 10 * time.Second // of one
)

// Remove removes all keys that were noted, and returns how many. What it could
// not remove stays noted; the error tells of the first.
func (s *Scratch) Remove(ctx context.Context, storage store.Storage) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := make(chan string)
	done := make(chan result)
	var workers sync.WaitGroup
	for range removers {
		workers.Go(func() {
			for key := range keys {
				done <- result{key, remove(ctx, storage, key)}
			}
		})
	}
	all := make([]string, 0, len(s.keys))
	for key := range s.keys {
		all = append(all, key)
	}
	go func() {
		for _, key := range all {
			keys <- key
		}
		close(keys)
		workers.Wait()
		close(done)
	}()
	failed := 0
	for r := range done {
		if r.err == nil {
			removed++
			delete(s.keys, r.key)
			continue
		}
		failed++
		err = r.err
	}
	if failed > 0 {
		err = fmt.Errorf("%d keys that begin with %s could not be removed; those that were written expire by themselves: %w",
			failed, s.Prefix, err)
	}
	return removed, err
}

type result struct {
	key string
	err error
}

func remove(ctx context.Context, storage store.Storage, key string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	err := storage.Put(ctx, key, 0, store.Forever)
	if errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil { // refused, such as throttled: once more
		err = storage.Put(ctx, key, 0, store.Forever)
	}
	return err
}
