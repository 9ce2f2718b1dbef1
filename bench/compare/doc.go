// Package compare measures rivals beside penstock, the floor and the simplest
// lock-free design, in one process and through the loops of package benchtest.
// It is a module of its own, so that no rival becomes a dependency of penstock.
//
// A rival is one file: an adapter that satisfies bench.Limiter and a constructor
// of its bench.Subject, listed in rivals.go. What an adapter must do:
//
//   - Fill takes the load's Charge from each key, copying the key if the rival
//     keeps it.
//   - Run is the loop around the rival's own fastest call for "one permit of this
//     key, now". It calls the rival directly.
//   - Nothing is tuned against the rival: its options are those that its own
//     documentation recommends for many keys, and where it offers several, each
//     gets a row.
package compare
