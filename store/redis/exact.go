package redis

import (
	"fmt"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// Exact returns by which fraction a limit is enforced slower here than it says: 0 if it is exact, else
// less than a millionth. Errors are those of [store.NewLaw]: of a limit that is refused.
func Exact(limit engine.Limit) (slower float64, err error) {
	if _, err := store.NewLaw(limit, (*Storage)(nil).Info()); err != nil {
		return 0, err
	}
	law, err := limit.Law(tick, maxUnits)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", store.ErrNotSupported, err)
	}
	switch law := law.(type) {
	case *atomicstate.Bucket:
		return law.RelativeError(), nil
	case *atomicstate.LeakyQueue:
		return law.RelativeError(), nil
	}
	return 0, nil
}
