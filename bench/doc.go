// Package bench measures penstock against the least that any limiter of its
// kind can cost (the floor) and against the simplest lock-free design (a
// pointer cell in an xsync map). Rivals live in bench/compare, a module of its
// own, behind the same adapter and in the same loops.
//
// # What is the same for everyone
//
//   - Keys are made hot in a buffer of the calling goroutine and passed as a
//     string over that buffer ([Keys]): no measured call pays for an allocation
//     or a cache miss of the key's own bytes, and everyone pays for making it.
//   - Keys are drawn at random over the whole count, and the draw is replayed
//     after each run to prove that the number of distinct keys was really met.
//   - The loop around the decision belongs to the adapter ([Limiter.Run]), so
//     the limiter is called directly, as its users call it: the one interface
//     call is paid once for 1,024 decisions, by the floor too.
//   - Rows by Zipf's law ([Zipf]) draw from a sequence that was made before, the
//     same for everyone, and call the limiter through the adapter's Allow.
//   - Every answer is counted. A row in which one call was admitted that had to
//     be denied, or denied that had to be admitted, fails instead of printing a
//     number; so does one whose limiter lost or gained a key.
//   - Nobody is told how many keys are coming, except the floor, which is an
//     array.
//
// # The floor
//
// See [Floor]: key, two seeded 64-bit hashes, monotonic clock and one
// compare-and-swap on a random cache line of an array with as many lines as
// there are keys. Ratios to the floor of the same run are what the targets in
// targets.txt are about; nanoseconds are of one machine only. The ordered floor
// ([FloorOrderedSubject]) reads the clock after the line and tries a lost swap
// again, as a limiter must: it is the bound where goroutines share a key.
//
// # What else is here
//
//   - BenchmarkParts accounts for the nanoseconds of Allow step by step ([Steps]),
//     in batches that take turns with Allow and the floor.
//   - BenchmarkNeighbours sets hot keys in neighbouring slots beside hot keys that
//     share no cache line ([Hot]).
//   - BenchmarkGate is what bench/gate compares revisions by: a batch of calls and
//     one of the floor take turns, so that load on the machine slows both.
//   - bench/ratios prints medians, intervals and ratios of results and judges
//     targets; bench/report writes docs/performance.md from them.
//
// The exported names serve bench/compare; they may change in any release.
package bench
