//go:build unix

package bench

import (
	"syscall"
	"time"
)

// CPUTime returns the processor time of the whole process so far, user and
// system, all threads, the garbage collector's too; false if the system does
// not tell.
func CPUTime() (time.Duration, bool) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}
