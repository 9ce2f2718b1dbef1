package accesslog

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const layout = "02/Jan/2006:15:04:05 -0700"

func TestTimeAgreesWithTheStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	end := time.Date(lastYear, 12, 31, 0, 0, 0, 0, time.UTC).Unix()
	for range 20_000 {
		zone := time.FixedZone("", (rng.IntN(28*60)-14*60)*60)
		want := rng.Int64N(end-2*daySecs) + daySecs
		text := time.Unix(want, 0).In(zone).Format(layout)
		got, err := parseTime([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestTimeZones(t *testing.T) {
	for text, want := range map[string]int64{
		"01/Jan/1970:00:00:00 +0000": 0,
		"01/Jan/1970:01:00:00 +0100": 0,
		"31/Dec/1969:19:00:00 -0500": -1, // the year says no
		"29/Mar/2026:01:59:59 +0100": 1774745999,
		"29/Mar/2026:03:00:00 +0200": 1774746000, // the next second: the clocks went forward
		"25/Oct/2026:02:30:00 +0200": 1792888200,
		"25/Oct/2026:02:30:00 +0100": 1792891800, // an hour later: the clocks went back
		"29/Feb/2024:12:00:00 +0545": 1709187300,
		"30/Jun/2015:23:59:60 +0000": 1435708800, // a leap second is the second after
		"01/jan/2000:00:00:00 -0000": 946684800,
		"01/JAN/2000:00:00:00 -0000": 946684800,
	} {
		got, err := parseTime([]byte(text))
		if want < 0 {
			assert.Equal(t, errYear, err, text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

// The parser remembers the last time it read; it must not answer with it for
// another one, nor after a bad one.
func TestTimeMemory(t *testing.T) {
	var p Parser
	for _, step := range []struct {
		text string
		want int64
	}{
		{"01/Jan/2000:00:00:00 +0000", 946684800},
		{"01/Jan/2000:00:00:00 +0000", 946684800},
		{"01/Jan/2000:00:00:01 +0000", 946684801},
		{"01/Jan/2000:00:00:99 +0000", -1},
		{"01/Jan/2000:00:00:99 +0000", -1},
		{"01/Jan/2000:00:00:01 +0000", 946684801},
		{"01/Jan/2000:00:00:01 +0100", 946681201},
	} {
		got, err := p.unixTime([]byte(step.text))
		assert.Equal(t, step.want < 0, err != nil, step.text)
		if err == nil {
			assert.Equal(t, step.want, got, step.text)
		}
	}
}
