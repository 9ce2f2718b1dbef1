package compare

import (
	"slices"
	"sync"

	"github.com/penstock-go/penstock/bench"
)

// Rivals returns every rival's subject.
func Rivals() []bench.Subject {
	return []bench.Subject{
		XSyncV4Subject(),
		XTimeSyncMapSubject(),
		XTimeMutexMapSubject(),
		GoLimiterSubject(),
		ThrottledSubject(),
		UluleSubject(),
		HTTPRateSubject(),
		TollboothSubject(),
		FailsafeSubject(),
		JujuSubject(),
		UberSubject(),
	}
}

// All returns what one comparison runs: the floors, penstock, the baseline and
// the rivals.
func All() []bench.Subject {
	return append([]bench.Subject{
		bench.FloorSubject(),
		bench.FloorNoClockSubject(),
		bench.FloorOrderedSubject(),
		bench.PenstockSubject(),
		bench.PenstockCoarseSubject(),
		bench.CellsSubject(),
	}, Rivals()...)
}

// Exact returns those of [All] with the exact clock.
func Exact() []bench.Subject {
	return slices.DeleteFunc(All(), func(s bench.Subject) bool { return s.Clock != "exact" })
}

// Limiters returns the subjects of the rows where neither floors nor clocks
// matter.
func Limiters() []bench.Subject {
	return append([]bench.Subject{bench.PenstockSubject(), bench.CellsSubject()}, Rivals()...)
}

// unknown is the Len of a limiter that cannot tell how many keys it holds.
const unknown = -1

// lenOf counts the keys of a map, in time proportional to their number.
func lenOf(m *sync.Map) int {
	count := 0
	m.Range(func(_, _ any) bool { count++; return true })
	return count
}
