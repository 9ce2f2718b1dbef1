package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// slots is how many slots a cluster has.
const slots = 16384

// shardMap names the shard of each range of slots, in order of the ranges. A shard is named by its
// first range: that stays the same when another node takes over, so that one circuit breaker sees
// the node fail and its successor answer.
type shardMap []shardRange

type shardRange struct {
	last uint16 // the range ends here and begins behind the one before
	name string
}

// slotRange is a range of slots and whose it is.
type slotRange struct {
	first, last int64
	owner       string
}

// newShardMap names the shards of ranges. Gaps belong to the range behind them.
func newShardMap(ranges []slotRange) shardMap {
	slices.SortFunc(ranges, func(a, b slotRange) int { return cmp.Compare(a.first, b.first) })
	names, m := map[string]string{}, shardMap{}
	for _, r := range ranges {
		if names[r.owner] == "" {
			names[r.owner] = fmt.Sprintf("slots %d-%d", r.first, r.last)
		}
		m = append(m, shardRange{uint16(min(r.last, slots-1)), names[r.owner]})
	}
	return m
}

// name returns the name of the shard of a slot, "" if it is not known.
func (m shardMap) name(slot uint16) string {
	i, _ := slices.BinarySearchFunc(m, slot, func(r shardRange, slot uint16) int { return cmp.Compare(r.last, slot) })
	if i == len(m) {
		return ""
	}
	return m[i].name
}

// slotOf returns the slot of a key: of what is between its first brace and the next closing one, if
// that is not nothing.
func slotOf(key string) uint16 {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if n := strings.IndexByte(key[open+1:], '}'); n > 0 {
			key = key[open+1 : open+1+n]
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^key[i]]
	}
	return crc % slots
}

// crcTable is that of CRC-16/XMODEM, polynomial 0x1021.
var crcTable = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			if crc <<= 1; carry {
				crc ^= 0x1021
			}
		}
		table[i] = crc
	}
	return table
}()

// shards follows which slots a cluster's shards have. When slots have moved between shards and it does
// not know yet, no more happens than that a breaker counts for another shard.
type shards struct {
	current atomic.Pointer[shardMap]
	stop    chan struct{}
	done    sync.WaitGroup
	once    sync.Once
}

// askShards is how often the ranges of slots are asked for, and how long an answer may take.
const (
	askShards     = 30 * time.Second
	shardsTimeout = 2 * time.Second
)

// follow begins to follow; a server that is no cluster is not asked again. every is [askShards].
func (s *shards) follow(c client, every time.Duration) error {
	s.stop = make(chan struct{})
	ask := func() (shardMap, error) {
		ctx, cancel := context.WithTimeout(context.Background(), shardsTimeout)
		defer cancel()
		return c.ranges(ctx)
	}
	m, err := ask()
	if err != nil || len(m) == 0 {
		return err
	}
	s.current.Store(&m)
	s.done.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-ticker.C:
			}
			if m, err := ask(); err == nil && len(m) > 0 {
				s.current.Store(&m)
			}
		}
	})
	return nil
}

// of returns the name of the shard that a key lives on.
func (s *shards) of(key string) string {
	m := s.current.Load()
	if m == nil {
		return ""
	}
	return m.name(slotOf(key))
}

// end ends the following.
func (s *shards) end() {
	s.once.Do(func() { close(s.stop) })
	s.done.Wait()
}
