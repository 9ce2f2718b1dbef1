//go:build interleave

package sharded

// Invariants returns what is wrong with a table at rest, for programs that are explored.
func (t *Table) Invariants() error { return t.invariants() }
