package linear

import "github.com/penstock-go/penstock/atomicstate"

// promise is a reservation that is to act later.
type promise struct {
	owner         int
	at, n         int64
	owed          int64 // units to be given back, if it was given up
	before, after uint64
	returns       uint8 // of all promises when it was made
}

// promises are the reservations that are still to act, in order of time. It is a value that can be
// compared.
type promises struct {
	of      [2 * clients]promise
	count   int
	returns uint8 // how often anything was given back to the word
}

// add puts p in its place, or reports that there are too many.
func (s *promises) add(p promise) bool {
	if s.count == len(s.of) {
		return false
	}
	i := s.count
	for i > 0 && s.of[i-1].at > p.at {
		s.of[i] = s.of[i-1]
		i--
	}
	s.of[i] = p
	s.count++
	return true
}

// remove takes the i-th away.
func (s *promises) remove(i int) {
	copy(s.of[i:s.count], s.of[i+1:s.count])
	s.count--
	s.of[s.count] = promise{}
}

// prune drops those that acted before now.
func (s *promises) prune(now int64) {
	for s.count > 0 && s.of[0].at < now {
		s.remove(0)
	}
}

// find returns the place of what a goroutine was given and has not given up, or -1.
func (s *promises) find(owner int, g given) int {
	for i := range s.count {
		if p := s.of[i]; p.owner == owner && p.at == g.at && p.owed == 0 {
			return i
		}
	}
	return -1
}

// after returns those that act after at.
func (s *promises) after(at int64) (later []atomicstate.Promise) {
	for _, p := range s.of[:s.count] {
		if p.at > at {
			later = append(later, atomicstate.Promise{Act: atomicstate.Act{At: p.at, N: p.n}, Owed: p.owed})
		}
	}
	return later
}

// settle takes units that were given back off what is owed, the last ones first.
func (s *promises) settle(units int64) {
	for i := s.count - 1; i >= 0 && units > 0; i-- {
		p := &s.of[i]
		part := min(units, p.owed)
		p.owed -= part
		units -= part
		if part > 0 && p.owed == 0 {
			s.remove(i)
		}
	}
}
