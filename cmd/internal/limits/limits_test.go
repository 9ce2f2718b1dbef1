package limits

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRate(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]Rate{
		"10/1s":                   {10, time.Second},
		"10/s":                    {10, time.Second},
		"100/1m":                  {100, time.Minute},
		"1/1w":                    {1, 7 * day},
		"1/w":                     {1, 7 * day},
		"3/2d":                    {3, 2 * day},
		"5/1h30m":                 {5, 90 * time.Minute},
		"5/30m1h":                 {5, 90 * time.Minute},
		"1/500ms":                 {1, 500 * time.Millisecond},
		"1/250us":                 {1, 250 * time.Microsecond},
		"1/250µs":                 {1, 250 * time.Microsecond},
		"4000000000/1000000000ns": {4_000_000_000, time.Second},
		"9223372036854775807/1s":  {math.MaxInt64, time.Second},
	} {
		got, err := ParseRate(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseRateSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "has no period",
		"10":                      "has no period",
		"10s":                     "has no period",
		"/1s":                     `"" is not a whole number`,
		"10/":                     "the duration is missing",
		"0/1s":                    `"0" must be 1 or more`,
		"-1/1s":                   `"-1" must be 1 or more`,
		"+1/1s":                   `"+1" is not a whole number`,
		"1.5/1s":                  `"1.5" is not a whole number`,
		"1e3/1s":                  `"1e3" is not a whole number`,
		"ten/1s":                  `"ten" is not a whole number`,
		" 1/1s":                   `" 1" is not a whole number`,
		"9223372036854775808/1s":  "is larger than 9223372036854775807",
		"1/0":                     "longer than 0",
		"1/0s":                    "longer than 0",
		"1/1":                     "is not a whole number and a unit",
		"1/1.5s":                  "is not a whole number and a unit",
		"1/.5s":                   "is not a whole number and a unit",
		"1/-1s":                   "is not a whole number and a unit",
		"1/1s ":                   "is not a whole number and a unit",
		"1/1y":                    `the unknown unit "y"`,
		"1/1S":                    "is not a whole number and a unit",
		"1/1s/2":                  "is not a whole number and a unit",
		"1/16000w":                "longer than 292 years",
		"1/15000w15000w":          "longer than 292 years",
		"1/99999999999999999999s": "longer than 292 years",
	} {
		_, err := ParseRate(text)
		require.ErrorContains(t, err, want, text)
		assert.Contains(t, err.Error(), "for example", text)
		assert.True(t, strings.HasPrefix(err.Error(), `"`+text+`"`), "%q does not begin with the value", err)
	}
}

// FuzzParseRate: whatever is read is a rate, and is written so that it is read
// back as the same.
func FuzzParseRate(f *testing.F) {
	for _, seed := range []string{"10/1s", "1/w", "5/1h30m", "1/1.5s", "0/1s", "", "/", "1/9223372036854775807ns", "1/µs"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rate, err := ParseRate(text)
		if err != nil {
			return
		}
		if rate.Tokens < 1 || rate.Per < 1 {
			t.Fatalf("%q gave %+v", text, rate)
		}
		again, err := ParseRate(rate.String())
		if err != nil || again != rate {
			t.Fatalf("%q is written %q, which gave %+v, %v", text, rate, again, err)
		}
	})
}

func TestFormatDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "1ns": 1, "1s": time.Second, "1m30s": 90 * time.Second, "1w": 7 * 24 * time.Hour,
		"1d1h": 25 * time.Hour, "1ms500us": 1500 * time.Microsecond,
	} {
		assert.Equal(t, want, FormatDuration(d))
	}
}
