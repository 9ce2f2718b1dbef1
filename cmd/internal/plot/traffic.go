package plot

import "time"

// The one load that every picture shows: the same arrivals, numbers and scales, so that what
// differs between two pictures is the algorithm.
const (
	// permits and window are the limit of the window algorithms; the buckets and the queue
	// earn as much, permits in a window, and hold as much, a burst or capacity of permits.
	permits = 6
	window  = 3 * time.Second
	// span is the time axis: ten windows.
	span = 10 * window
	// grain is the distance of the instants at which the limiter is asked what remains; all
	// arrivals lie on it.
	grain = 10 * time.Millisecond
)

// phase is a part of the load.
type phase struct {
	name     string
	from, to time.Duration
	arrivals []arrival
}

// arrival is a number of requests of one permit each that arrive at the same instant.
type arrival struct {
	at       time.Duration
	requests int
}

// load returns the phases in order of time; together they cover the span. Between them each
// algorithm has the time to forget, but for the first burst, which meets the trickle's count.
func load() []phase {
	ms := time.Millisecond
	return []phase{
		{"a trickle", 0, 3 * time.Second, every(500*ms, time.Second, 3)},
		{"a burst", 3 * time.Second, 10500 * ms, []arrival{{4000 * ms, 10}}},
		{"6, edge, 6, then 6", 10500 * ms, 16500 * ms, []arrival{
			{11900 * ms, 6}, {12100 * ms, 6}, {14500 * ms, 6},
		}},
		{"overload at twice the rate", 16500 * ms, 25 * time.Second, every(18100*ms, 250*ms, 24)},
		{"silence, then a burst", 25 * time.Second, span, []arrival{{27100 * ms, 10}}},
	}
}

// every returns n single requests, the first at from, a gap between one and the next.
func every(from, gap time.Duration, n int) []arrival {
	arrivals := make([]arrival, n)
	for i := range arrivals {
		arrivals[i] = arrival{from + time.Duration(i)*gap, 1}
	}
	return arrivals
}
