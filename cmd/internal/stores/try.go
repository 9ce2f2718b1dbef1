package stores

import (
	"context"
	"errors"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// tryTimeout is how long the store may take for one call of Try.
const tryTimeout = 10 * time.Second

// Try makes one decision as programs do and removes its key, so that a store that
// takes no writes, or not from this user, is told once, with what helps. The key
// begins as those of [NewScratch] for name do.
func Try(ctx context.Context, a *Address, t Target, name string) error {
	backend, err := store.NewBackend(t.Storage(), store.WithDeadline(tryTimeout), store.WithPrefix(NewScratch(name).Prefix))
	if err != nil {
		return err
	}
	// The backend is not closed: that would close the storage.
	limiter, err := backend.Limiter("try", engine.TokenBucket(engine.PerSecond(1), 1), store.WithPolicy(store.Closed))
	if err != nil {
		return err
	}
	_, err = limiter.Take(ctx, "try", 1)
	if err == nil || errors.Is(err, store.ErrUnknownOutcome) {
		err = errors.Join(err, remove(context.WithoutCancel(ctx), t.Storage(), limiter.Key("try")))
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case a.scheme == "dynamodb":
		return a.explainDynamoDB(err)
	}
	return a.explainRedis(err)
}
