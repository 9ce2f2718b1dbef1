package compare

import (
	"testing"

	"github.com/penstock-go/penstock/bench/benchtest"
)

func TestAdapters(t *testing.T) { benchtest.Check(t, All()) }
