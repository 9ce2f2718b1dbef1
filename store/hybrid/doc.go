// Package hybrid decides in process, at in-process speed, on limits that several processes share: it
// charges permits to the store first, some at a time, and spends them later.
//
//	perClient, err := backend.Limiter("per-client", engine.TokenBucket(engine.PerSecond(5_000), 5_000))
//	fast, err := hybrid.New(perClient, hybrid.WithSlack(0.1))
//	defer fast.Close()
//	d, err := fast.Take(ctx, clientIP, 1)
//
// # Leases
//
// A lease is a number of permits of one key that were charged to the store and that this process may
// hand out until the lease ends: its life E after the request for it was sent, by the process's
// monotonic clock. What is not spent by then is lost, never refunded. At most L permits of a key
// are held or on their way at any moment.
//
//	sent         charged           first spent                          end
//	  |-------------|-------------------|--------------------------------|
//	  0             c <=                a                                E
//
// # The bound
//
// For every key and every interval of length W, all N processes together are admitted
//
//	A(W) <= B + R*W + min(N*L, R*E)
//
// under a bucket of burst B and rate R, with the additions that docs/stores-hybrid.md lists and proves.
// [WithSlack] sets E = s*B/R and so A(W) <= (1+s)*B + R*W whatever N is; [WithMaxLease] sets L. In the long
// run no more than R is admitted on average: what is spent was charged. Leases only move a burst in time.
//
// # A key's life
//
//	cold     few calls in a life: each is decided by the store, exactly; nothing is held
//	hot      from a lease; the next one is on its way before this one is used up
//	short    the store has little left: at most pacesPerLife requests in a life, for half of it each
//	refused  the store's "no" is kept until its retry-after and answered from memory
//	idle     what is held ends, and the key is forgotten
//
// # Failure
//
// A process that dies loses what it holds: at most L permits of a key are wasted. One that is cut off
// spends what it holds and then follows the limit's policy, see package store. A store that is
// slower than leases live is asked for each call.
package hybrid
