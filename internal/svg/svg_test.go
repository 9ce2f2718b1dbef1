package svg

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLength(t *testing.T) {
	for length, want := range map[Length]string{0: "0", 3: "0.3", 640: "64", 643: "64.3", -5: "-0.5", -640: "-64", Px(7): "7"} {
		require.Equal(t, want, length.String())
	}
}
