package compare

import "github.com/penstock-go/penstock/bench"

// Rivals returns every rival's subject.
func Rivals() []bench.Subject {
	return []bench.Subject{
		XTimeSyncMapSubject(),
		XTimeMutexMapSubject(),
	}
}

// All returns what one comparison runs: the floors, penstock, the baseline and
// the rivals.
func All() []bench.Subject {
	return append([]bench.Subject{
		bench.FloorSubject(),
		bench.FloorNoClockSubject(),
		bench.PenstockSubject(),
		bench.PenstockCoarseSubject(),
		bench.CellsSubject(),
	}, Rivals()...)
}

// Limiters returns the subjects of the rows where neither floors nor clocks
// matter.
func Limiters() []bench.Subject {
	return append([]bench.Subject{bench.PenstockSubject(), bench.CellsSubject()}, Rivals()...)
}
