// Package dynamodb keeps the state of limits in an Amazon DynamoDB table: a store.Storage and a
// store.Applier on aws-sdk-go-v2.
//
//	client := awsdynamodb.NewFromConfig(cfg)
//	storage, err := dynamodb.Open(ctx, client, "limits")
//	backend, err := store.NewBackend(storage)
//	limiter, err := backend.Limiter("per-user", engine.TokenBucket(engine.PerSecond(10), 20))
//
// # Decisions
//
// DynamoDB runs no scripts, but it adds to a number under a condition, atomically. That is enough for
// each law to be decided by one UpdateItem that commutes with those of others, so that nobody
// loses a race for an item: what one writer adds does not make the next one's condition false unless
// the limit is used up. A bucket is one integer, TAT = now*Rate + debt, see store.Numbers; N has 38 digits,
// so it is exact and never wraps:
//
//	busy     SET t = t + inc      IF t BETWEEN now AND now + Units - inc
//	idle     SET t = now + inc    IF attribute_not_exists(t) OR t < now
//
// A window is its number i, its count c, and for a sliding one the count p of the window before it:
//
//	same     SET c = c + n           IF i = now AND c <= Limit - n               (fixed)
//	same     SET c = c + n           IF i = now AND p = P AND c <= Limit - n - weight of P
//	next     SET i = now, p = c, c = n    IF i = now - 1 AND c <= what weighs Limit - n at most
//	new      SET i = now, p = 0, c = n    IF attribute_not_exists(i) OR i < now (sliding: now - 1)
//
// Which form to send is guessed from what this process last saw of the key, of which it remembers the last
// 4096 or so. If the guess is wrong the condition fails, the answer says what stands there (ALL_OLD; a
// consistent read where the server does not give it), and the right form or the refusal follows. A call
// that is refused by what was last seen begins with a consistent read, which costs a fifth of a write.
//
// A call that takes what there is up to a maximum (store.Op, Min below Max) is exact too: where it can
// have only a part, its condition admits no state but those in which that part is all there is.
// It may lose the race, and is then tried again, 8 times in all.
//
// # Items
//
//	k  B  the key, in full: any bytes        (partition key)
//	t  N  TAT of a bucket, in units
//	i, p, c  N  number and counts of a window
//	w  B  a word, for limits that go by compare-and-swap
//	x  N  when the item may be collected, in seconds since 1970: the table's TTL attribute
//
// The TTL attribute is for collecting garbage only: nothing is decided by whether DynamoDB, which takes up
// to some days, has done it yet. It lies an hour after the time at which the item equals a new one, so that no
// difference between clocks makes it early. Each charge writes it. An item has less than 1 KB: one write unit.
//
// An item whose fields cannot be read, because somebody else has written them, equals a new one: the next charge writes
// over it, on the condition that they still stand as they were seen.
//
// # Time
//
// DynamoDB tells no time to conditions: each process brings its own clock, in microseconds. What is
// admitted in any time W is at most B + R*(W + D), where D is how far the fastest clock is ahead
// of the slowest: the difference counts once, not with each call. A [Store] measures how far its own clock
// is from the server's by the Date of each answer, and refuses to decide when that is surely more than its
// bound ([WithMaxSkew]); see [Store.Skew].
//
// # Failure
//
// No request is sent twice: the SDK's retries are switched off for each call, whatever the client is
// configured to. Requests that did not get a connection, and those that were refused, are
// store.ErrUnavailable; throttled ones, a hot partition among them, store.ErrThrottled; those without an answer,
// and answers of 500 and above, have an unknown outcome.
//
// # Sliding log
//
// It is not supported ([store.ErrNotSupported]): it keeps the time of each admission, so that an item
// would grow with the limit, each admission would write all of it again (a write unit for each KB),
// and expired times cannot be removed under a condition on how many remain. Use a sliding window.
package dynamodb
