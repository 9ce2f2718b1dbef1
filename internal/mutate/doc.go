// Package mutate breaks the core on purpose, one rule at a time, and sees a test fail for each: a proof
// that nobody has seen fail proves little. It has no code of its own to import.
//
// breaks_test.go lists the breaks, each as pieces of text to replace and the test that has to catch it.
// They are compiled in by an overlay: no file of the repository is touched. Where the core was rewritten
// and a piece is not found any more, a test says which.
//
// `make mutate` runs all of them, and writes docs/mutations.md.
package mutate
