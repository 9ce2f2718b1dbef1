package cases

import (
	"encoding/json"
	"fmt"

	"github.com/penstock-go/penstock/internal/oracle"
)

// Recorded returns the project's recorded cases, each of which comes from a
// public report about some rate limiter.
func Recorded() ([]Case, error) {
	traces, err := oracle.Traces()
	if err != nil {
		return nil, err
	}
	out := make([]Case, len(traces))
	for i, trace := range traces {
		line, err := json.Marshal(trace)
		if err == nil {
			out[i], err = Parse(line)
		}
		if err != nil {
			return nil, fmt.Errorf("the recorded case %s: %w", trace.ID, err)
		}
	}
	return out, nil
}
