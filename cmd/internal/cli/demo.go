package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/penstock-go/penstock/engine"
)

type demoCmd struct{}

// demoCall is one call of the demonstration, at a time of its own.
type demoCall struct {
	key string
	at  time.Duration
}

// Run prints the demonstration: two limiters, called at fixed times, so that
// the output is the same on every machine.
func (demoCmd) Run(env Env) error {
	var b strings.Builder
	ms := time.Millisecond
	fmt.Fprintln(&b, "token bucket (3 burst, 1/s)")
	err := demonstrate(&b, engine.TokenBucket(engine.PerSecond(1), 3), []demoCall{
		{"alice", 0}, {"alice", 0}, {"alice", 0}, {"alice", 0}, {"bob", 0},
		{"alice", 1000 * ms}, {"alice", 1000 * ms},
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(&b, "sliding window (2 per 1000 ms)")
	err = demonstrate(&b, engine.SlidingLog(2, time.Second), []demoCall{
		{"alice", 0}, {"alice", 300 * ms}, {"alice", 600 * ms},
		{"alice", 1001 * ms}, {"alice", 1301 * ms},
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, b.String())
	return err
}

func demonstrate(w io.Writer, limit engine.Limit, calls []demoCall) error {
	limiter, err := engine.New[string](limit)
	if err != nil {
		return err
	}
	for _, c := range calls {
		answer := "rejected"
		if limiter.TakeAt(c.at, c.key, 1).Allowed {
			answer = "allowed"
		}
		fmt.Fprintf(w, "  %s at %d ms: %s\n", c.key, c.at.Milliseconds(), answer)
	}
	return limiter.Close()
}
