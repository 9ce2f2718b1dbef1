package storecheck

import (
	"context"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/store"
)

// word makes a word that a law could have made.
func word(n uint64) uint64 { return n<<2 | 1 }

// wordStep is one operation on a word and what it has to come to.
type wordStep struct {
	what      string
	old, next uint64 // of a CompareAndSwap
	put       bool   // a Put of next in its place
	swaps     bool   // whether it has to
	there     uint64 // the word that has to be there after it
}

// wordSteps take a key through its life. All 62 bits have to come back, also
// where no float holds them.
var wordSteps = []wordStep{
	{what: "of an absent key with a wrong word", old: word(1), next: word(2)},
	{what: "of an absent key", next: word(1), swaps: true, there: word(1)},
	{what: "as if there were none", next: word(2), there: word(1)},
	{what: "with a wrong word", old: word(2), next: word(3), there: word(1)},
	{what: "to all bits", old: word(1), next: word(1<<62 - 1), swaps: true, there: word(1<<62 - 1)},
	{what: "to what no float holds", old: word(1<<62 - 1), next: word(1<<53 + 1), swaps: true, there: word(1<<53 + 1)},
	{what: "over a word", put: true, next: word(7), there: word(7)},
	{what: "of nothing", put: true},
	{what: "of a removed key", next: word(9), swaps: true, there: word(9)},
}

// words checks Get, CompareAndSwap and Put, under keys of all kinds of bytes.
func (r *run) words(ctx context.Context, c *Check) error {
	c.Note = "get, compare-and-swap and put, under keys of any bytes"
	s := r.scratch.Over(r.target.Storage())
	long := make([]byte, 512)
	for i := range long {
		long[i] = 'x'
	}
	for name, key := range map[string]string{"plain": "a", "bytes": "\x00\xff\n", "braces": "{}}{", "long": string(long)} {
		if err := wordLife(ctx, s, fmt.Sprintf("%s:{%s}:words", r.scratch.Prefix, key)); err != nil {
			c.judged(fmt.Sprintf("FAIL words of a key that is %s: %v", name, err))
			continue
		}
		c.judged()
	}
	return nil
}

func wordLife(ctx context.Context, s store.Storage, key string) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for _, step := range wordSteps {
		if err := step.make(ctx, s, key); err != nil {
			return err
		}
		at, err := s.Get(ctx, key)
		if err != nil {
			return fmt.Errorf("get: %w", err)
		}
		if at.Word != step.there || at.Now <= 0 {
			return fmt.Errorf("after a write %s: word %#x at time %d; want %#x and a time after 1970",
				step.what, at.Word, at.Now, step.there)
		}
	}
	return nil
}

func (step wordStep) make(ctx context.Context, s store.Storage, key string) error {
	if step.put {
		if err := s.Put(ctx, key, step.next, time.Hour); err != nil {
			return fmt.Errorf("put %s: %w", step.what, err)
		}
		return nil
	}
	at, swapped, err := s.CompareAndSwap(ctx, key, step.old, step.next, time.Hour)
	switch {
	case err != nil:
		return fmt.Errorf("compare-and-swap %s: %w", step.what, err)
	case swapped != step.swaps:
		return fmt.Errorf("compare-and-swap %s: swapped is %t; want %t", step.what, swapped, step.swaps)
	case !swapped && at.Word != step.there:
		return fmt.Errorf("compare-and-swap %s: found %#x; want %#x", step.what, at.Word, step.there)
	}
	return nil
}
