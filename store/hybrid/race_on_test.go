//go:build race

package hybrid_test

// raceEnabled says that the race detector is on.
const raceEnabled = true
