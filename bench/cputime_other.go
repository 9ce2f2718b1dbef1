//go:build !unix

package bench

import "time"

// CPUTime reports that this system does not tell the processor time.
func CPUTime() (time.Duration, bool) { return 0, false }
