package store

import (
	"context"

	"github.com/penstock-go/penstock/engine"
)

// Limiter is what callers depend on, wherever the words are: [Shared], [Local], or one of their own
// in tests.
//
// All methods are safe for concurrent use. An error is never the answer "limit exceeded": that is a
// Decision that is not Allowed, with a nil error. Together with an error the Decision is not Allowed
// and has no meaning besides its Source and Cause.
type Limiter interface {
	// Take takes n permits of key, all or none. n == 0 is allowed and changes nothing; n < 0 is an
	// error of the caller: not allowed, RetryAfter engine.Never.
	Take(ctx context.Context, key string, n int64) (Decision, error)
	// Peek returns what Take(ctx, key, 1) would answer, and charges nothing.
	Peek(ctx context.Context, key string) (Decision, error)
	// TakeBatch makes each of the requests as Take would, for itself, in one round trip where the
	// store can. len(outcomes) == len(requests), in their order.
	TakeBatch(ctx context.Context, requests []Request) (outcomes []Outcome)
	// Reset makes key equal to a new one.
	Reset(ctx context.Context, key string) error
	// Close frees what the limiter has made, and not what it was given. It may be called again.
	Close() error
}

// Request is one call of a batch.
type Request struct {
	Key string // as for Take
	N   int64  // permits
}

// Outcome is what became of one call of a batch.
type Outcome struct {
	Decision Decision // as of Take
	Err      error    // as of Take
}

// Decision is an answer, and whose it is.
type Decision struct {
	// Decision says how it came out. RetryAfter and ResetAfter are multiples of the store's tick.
	// Under [Open] and [Closed] all fields but Allowed are zero: nobody knows the key's quota.
	engine.Decision
	// Source is who decided.
	Source Source
	// Cause is why the store did not, nil if it did or was not to be asked.
	Cause error
}

// Source is who made a decision.
type Source uint8

// The sources of decisions.
const (
	SourceNone     Source = iota // nobody: there is an error
	SourceStore                  // the store
	SourceLease                  // permits that were charged to the store before
	SourceNegative               // what the store said before: nothing can have come free since
	SourceLocal                  // this process alone: by its share while the store is away, or always
	SourceOpen                   // the policy: the store is away and everything passes
	SourceClosed                 // the policy: the store is away and nothing passes
	SourceFixed                  // the limit itself, unlimited or blocked, or a call that can never pass
)

// String returns the source in lower case, such as "store".
func (s Source) String() string {
	names := [...]string{"none", "store", "lease", "negative", "local", "open", "closed", "fixed"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}
