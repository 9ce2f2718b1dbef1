package lineartest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

// wordCall is an operation on one of a few words, and wordAnswer what it returned.
type wordCall struct {
	call      storetest.Call
	key       string
	old, next uint64
}

type wordAnswer struct {
	word  uint64
	ok    bool
	known bool
}

// words makes a history of Get, CompareAndSwap and Put and judges it.
func words(ctx context.Context, s store.Storage, seed uint64, faults bool) error {
	s = faulty(s, seed, faults)
	input := func(rnd *rand.Rand) wordCall {
		word := func() uint64 { return rnd.Uint64N(4)<<2 | 1 }
		call := wordCall{key: fmt.Sprintf("storetest:{%d/%d}:linear", seed, rnd.IntN(keys)), old: word(), next: word()}
		switch r := rnd.IntN(10); {
		case r < 3:
			call.call = storetest.CallGet
		case r < 9:
			if call.call = storetest.CallSwap; rnd.IntN(4) == 0 {
				call.old = 0
			}
		default:
			if call.call = storetest.CallPut; rnd.IntN(2) == 0 {
				call.next = 0
			}
		}
		return call
	}
	history := record(seed, input, func(c wordCall) (wordAnswer, effect) {
		var at store.Reading
		var ok bool
		var err error
		switch c.call {
		case storetest.CallGet:
			if at, err = s.Get(ctx, c.key); err != nil {
				return wordAnswer{}, none // a read without an answer says nothing
			}
		case storetest.CallSwap:
			at, ok, err = s.CompareAndSwap(ctx, c.key, c.old, c.next, time.Hour)
		default:
			err = s.Put(ctx, c.key, c.next, time.Hour)
		}
		return wordAnswer{at.Word, ok, err == nil}, effectOf(err)
	})
	return judge(wordModel().ToModel(), history)
}

// wordModel is one word.
func wordModel() *porcupine.NondeterministicModel {
	return &porcupine.NondeterministicModel{
		Partition: byKey(func(c wordCall) string { return c.key }),
		Init:      func() []any { return []any{uint64(0)} },
		Step: func(state, input, output any) []any {
			word, c, a := state.(uint64), input.(wordCall), output.(wordAnswer) //nolint:errcheck // there is nothing else in them
			return wordStep(word, c, a)
		},
	}
}

// wordStep returns the words that may stand there after an operation, none if it could not have
// answered as it did.
func wordStep(word uint64, c wordCall, a wordAnswer) []any {
	after := word
	switch {
	case c.call == storetest.CallPut, c.call == storetest.CallSwap && word == c.old:
		after = c.next
	}
	switch {
	case !a.known:
		return []any{word, after}
	case c.call == storetest.CallGet && a.word != word,
		c.call == storetest.CallSwap && a.ok != (word == c.old),
		c.call == storetest.CallSwap && !a.ok && a.word != word:
		return nil
	}
	return []any{after}
}
