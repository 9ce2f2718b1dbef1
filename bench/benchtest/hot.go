package benchtest

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

// HotGoroutines are the numbers of goroutines of the rows Hot.
func HotGoroutines() []int { return []int{1, 2, 8, 64, 1024} }

// Hot measures decisions on one key by many goroutines at once: a row for each
// number of goroutines and subject. ns/op is time on the clock by the decisions of
// all, so its inverse is the throughput; the number of processors is -cpu's.
func Hot(b *testing.B, load bench.Load, goroutines []int, subjects []bench.Subject) {
	for _, workers := range goroutines {
		for _, subject := range subjects {
			name := fmt.Sprintf("limiter=%s/goroutines=%d/keys=1/clock=%s", subject.Name, workers, subject.Clock)
			DecideRow(b, name, Row{Subject: subject, Load: load, Count: 1, Size: bench.KeySize, Workers: workers})
		}
	}
}
