package bench

import (
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/sharded"
)

// Steps takes the way of a call of the engine apart: each loop goes one step
// further than the one before, so that the difference of two is what a step
// costs on this way. The processor overlaps the steps, so a step on its own costs
// more than it adds here.
type Steps struct {
	table  *sharded.Table
	hasher *sharded.Hasher[string]
	law    *atomicstate.Bucket
	number uint32
	start  time.Time
	charge int64
}

// NewSteps returns steps without keys for the load. It panics if the load is no
// limit.
func NewSteps(load Load) *Steps {
	law, err := atomicstate.NewBucket(load.Tokens, load.Per, load.Burst)
	if err != nil {
		panic(err)
	}
	hasher, err := sharded.NewHasher[string]()
	if err != nil {
		panic(err)
	}
	s := &Steps{hasher: hasher, law: law, start: time.Now(), charge: load.Charge}
	s.table = sharded.NewTable(s.now, 0)
	s.number = s.table.Register(law)
	return s
}

func (s *Steps) now() int64 { return int64(time.Since(s.start)) }

// Fill makes the first decision for the keys from..to-1.
func (s *Steps) Fill(k *Keys, from, to uint64) {
	for i := from; i < to; i++ {
		s.insert(s.hasher.Key(k.At(i)))
	}
}

func (s *Steps) insert(key sharded.Key) {
	for {
		now := s.now()
		if now >= s.table.SweepDue() {
			s.table.CatchUp(now) // the first call of all: what leaps are measured from
		}
		if outcome, _, _ := s.table.Insert(key, s.number, now, s.charge, nil); outcome != sharded.Retry && outcome != sharded.Leapt {
			return
		}
	}
}

// Len returns the number of keys.
func (s *Steps) Len() int { return s.table.Len() }

// Step is one of the steps, with all before it: it goes n times over random keys of k.
// The sum is to be kept, so that nothing can be left out; done is how many of the
// n went through, as all must.
type Step struct {
	Name string
	Run  func(k *Keys, n int) (sum uint64, done int)
}

// All returns the steps in their order.
func (s *Steps) All() []Step {
	return []Step{
		{"key", s.makeKey}, {"fingerprint", s.fingerprint}, {"find", s.find},
		{"clock", s.readClock}, {"transition", s.transition}, {"cas", s.swap},
	}
}

func (s *Steps) makeKey(k *Keys, n int) (sum uint64, done int) {
	for range n {
		sum += uint64(k.Next()[0])
	}
	return sum, n
}

func (s *Steps) fingerprint(k *Keys, n int) (sum uint64, done int) {
	for range n {
		key := s.hasher.Key(k.Next())
		sum += key.Hash ^ key.Check
	}
	return sum, n
}

func (s *Steps) find(k *Keys, n int) (sum uint64, done int) {
	for range n {
		if word, old := s.table.Find(s.hasher.Key(k.Next()), s.number); word != nil {
			sum += old
			done++
		}
	}
	return sum, done
}

func (s *Steps) readClock(k *Keys, n int) (sum uint64, done int) {
	for range n {
		if word, old := s.table.Find(s.hasher.Key(k.Next()), s.number); word != nil {
			sum += old + uint64(s.now())
			done++
		}
	}
	return sum, done
}

func (s *Steps) transition(k *Keys, n int) (sum uint64, done int) {
	for range n {
		if word, old := s.table.Find(s.hasher.Key(k.Next()), s.number); word != nil {
			if next, ok := s.law.Take(old, s.now(), 1); ok {
				sum += next
				done++
			}
		}
	}
	return sum, done
}

func (s *Steps) swap(k *Keys, n int) (sum uint64, done int) {
	for range n {
		if s.take(s.hasher.Key(k.Next())) {
			done++
		}
	}
	return 0, done
}

// take is the way of a call from the fingerprint on.
func (s *Steps) take(key sharded.Key) bool {
	word, old := s.table.Find(key, s.number)
	if word == nil {
		return false
	}
	for {
		next, ok := s.law.Take(old, s.now(), 1)
		if !ok {
			return false
		}
		if word.CompareAndSwap(old, next) {
			return true
		}
		old = word.Load()
	}
}
