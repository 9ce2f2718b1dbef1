// Package redis keeps the words of shared limits in Redis, standalone or a cluster, or in a server that
// speaks the same protocol and runs the same scripts.
//
//	storage, err := redis.New(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
//	backend, err := store.NewBackend(storage, store.WithLogger(logger))
//	perClient, err := backend.Limiter("per-client", engine.TokenBucket(engine.PerSecond(10), 20))
//	d, err := perClient.Take(ctx, clientIP, 1)
//
// [New] makes a client of rueidis, [FromGoRedis] one of go-redis for programs that have that. Both are
// set up so that a call that was perhaps executed is never sent again.
//
// # How a limit is decided
//
// By one script a call, on the server and by the server's clock, in one round trip: token bucket, GCRA,
// leaky bucket, leaky queue, fixed and sliding window. Lua has only doubles: the scripts never make a
// number of 2^53 or more, so that all arithmetic is that of integers. A rate that does not fit in that
// exactly is enforced up to a millionth slower, [Exact] tells; one that would be slower by more is
// refused. Windows of more than 71 years and counts above 2^52 go by compare-and-swap, which takes two
// round trips.
//
// A key expires when it equals a new one, rounded up to the next millisecond, and never before. It is
// written together with its time to live, so that none is without, except that of a bucket to which
// nothing is ever added back. A refusal writes nothing, but what a clock that stepped back has left
// in the future is brought back to the present.
//
// # Keys in a cluster
//
// All keys of one caller's key carry it as their hash tag and live on one node. So several limits of one
// key are charged all or nothing by one script: [All].
//
// # Failures
//
// See package store. A reply that is an error was not executed: a script writes with its last
// command only. Neither was a call for which no connection could be made. Of all others nobody knows.
package redis
