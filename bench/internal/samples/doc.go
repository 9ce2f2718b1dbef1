// Package samples reads what benchmarks printed into rows of samples, reduces
// rows to medians with intervals and to ratios of paired runs, and judges
// targets. It is what the commands ratios, gate and report have in common.
//
// Nothing here writes to what it was given; all of it may be called from
// several goroutines at once.
package samples
