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
//   - What a rival cannot do is in the Lacks of its subject, with the reason, which
//     is printed in the place of the rows. Answers are counted and checked like
//     everyone's: TestAdapters, and each row.
//
// A limiter that gives back a whole burst at once (go-limiter, ulule, failsafe-go)
// or counts by windows (httprate) gets the window in which the limit earns its
// burst; the decisions that the rows demand are the same.
//
// Of each rival it is the newest version that could be had as a module when its
// adapter was written. Not here is gubernator. Its algorithms are not exported, but
// can be reached in process by requests to its pool of workers, over a channel and
// back; its module brings the clients of etcd and Kubernetes, which every build in
// the workspace of this repository would have to load.
package compare
