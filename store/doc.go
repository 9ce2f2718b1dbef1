// Package store enforces limits that several processes share, on words in a store such as Redis.
//
//	storage := store.NewMemory(time.Microsecond, nil) // or another module's
//	backend, err := store.NewBackend(storage, store.WithLogger(logger))
//	perClient, err := backend.Limiter("per-client", engine.TokenBucket(engine.PerSecond(10), 20),
//		store.WithPolicy(store.LocalShare), store.WithProcesses(4))
//	d, err := perClient.Take(ctx, clientIP, 1)
//
// # Layers
//
//	Limiter            what callers depend on: Take, Peek, TakeBatch, Reset
//	  Shared           on a store: deadline, circuit breaker, policy when it is away
//	  Local            on an engine.Limiter, in this process
//	Backend            a Storage in use, shared by its limits
//	Law                a limit compiled at the store's resolution: pure functions
//	Storage            Get, CompareAndSwap, Put of one word a key
//	  Applier          decides by itself, in one round trip
//	  Memory           the reference
//
// # Time
//
// Words are shared by processes whose clocks have different origins, so that their times are
// absolute: ticks since 1970-01-01 UTC, of the length of the store's resolution. Times are rounded
// down to ticks and waits are whole ticks: a retry-after is never too short.
// Where the store has a clock, that one alone counts. Where it has none each caller brings its own: then one that
// is ahead lets its callers take in advance what is earned by then, and others wait for it;
// the excess is once what the limit earns in the difference between the clocks, and not more with each call.
//
// # Words
//
// A word is that of package atomicstate: debt + now*L mod 2^62 for buckets. Nothing sweeps a store but
// its times to live: a word expires when it equals a new one, and not before, so that
// forgetting is invisible. A bucket is full again after at most 2^60/L ticks, and readable for 2^61/L:
// [NewLaw] refuses limits for which less than two minutes would lie between the two. See [Numbers] for
// the same laws without the modulus, as scripts compute them.
//
// A word that is there but is none (somebody else's, or a broken one) is taken as new, counted
// in [Stats], and overwritten by the next charge.
//
// # Failure
//
// A store that fails is no limit that is exceeded. What is answered then is the limit's [Policy]:
// a share of the limit in this process ([LocalShare]), an error ([Closed]), or leave ([Open]); the
// decision names its source and the cause. Calls that were surely not executed are made once more within the deadline.
// Calls without an answer never are: they may have been charged.
package store
