package limits

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseLimit(t *testing.T) {
	spec := func(algorithm string, burst int64) Spec { return Spec{algorithm, 10, time.Second, burst} }
	for text, want := range map[string]Named{
		Example:                    {spec(TokenBucket, 20), "per-ip", "client_ip", true},
		"name=a rate=10/1s":        {spec(TokenBucket, 10), "a", "client_ip", false},
		" rate=10/s\t name=A.1_b ": {spec(TokenBucket, 10), "A.1_b", "client_ip", false},
		"algorithm=sliding_counter key=client_ip,path name=w rate=10/1s": {spec(SlidingCounter, 10), "w", "client_ip,path", false},
		"name=q burst=1 rate=10/1s algorithm=leaky_queue":                {spec(LeakyQueue, 1), "q", "client_ip", true},
	} {
		got, err := ParseLimit(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseLimitSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "name= is missing",
		"   ":                                "name= is missing",
		"rate=10/1s":                         "name= is missing",
		"name=a":                             "rate= is missing",
		"name=a rate":                        `"rate" is not of the form word=value`,
		"name=a rate=10/1s 20":               `"20" is not of the form word=value`,
		"name=a rate=10":                     `rate: "10" has no period; write N/DURATION`,
		"name=a rate=":                       `rate: "" has no period`,
		"name=a rate=10/1y":                  `rate: "10/1y": the duration "1y" has the unknown unit "y"`,
		"name=a rate=10/1s burst=0":          "burst: 0 is less than 1",
		"name=a rate=10/1s burst=":           `burst: "" is not a whole number that fits in 64 bits`,
		"name=a rate=10/1s burst=1e9":        `burst: "1e9" is not a whole number`,
		"name=a rate=10/1s brust=1":          `there is no word "brust" (words: name, key, rate, burst, algorithm)`,
		"name=a rate=10/1s Burst=1":          `there is no word "Burst"`,
		"name=a rate=10/1s =1":               `there is no word ""`,
		"name=a rate=10/1s name=a":           "name= stands there twice",
		"name=a rate=10/1s rate=11/1s":       "rate= stands there twice",
		"name=a rate=10/1s key=":             "the key is missing",
		"name=a rate=10/1s algorithm=":       `algorithm "" is not known; use one of token_bucket`,
		"name=a rate=10/1s algorithm=bucket": `algorithm "bucket" is not known; use one of token_bucket`,
		"name= rate=10/1s":                   `the name "" is not 1 to 64 letters, digits, dots, dashes or underscores`,
		"name=a/b rate=10/1s":                `the name "a/b" is not`,
		"name=\x1b[2J rate=10/1s":            `the name "\x1b[2J" is not`,
		"name=ä rate=10/1s":                  `the name "ä" is not`,
		"name=" + strings.Repeat("a", 65):    "is not 1 to 64",
		"name=a, rate=10/1s":                 `the name "a," is not`,
	} {
		_, err := ParseLimit(text)
		require.ErrorContains(t, err, want, text)
		assert.Contains(t, err.Error(), "(a whole limit: "+Example+")", text)
		assert.NotContains(t, err.Error(), "\x1b")
	}
}

func TestTwice(t *testing.T) {
	named := func(names ...string) (list []Named) {
		for _, name := range names {
			list = append(list, Named{Name: name})
		}
		return list
	}
	assert.Empty(t, Twice(nil))
	assert.Empty(t, Twice(named("a", "b", "A")))
	assert.Equal(t, "b", Twice(named("a", "b", "c", "b")))
}

// FuzzParseLimit: whatever is read has a name, a rate and an algorithm, and is
// written so that it is read back as the same; an error is one line that a
// terminal can show.
func FuzzParseLimit(f *testing.F) {
	for _, seed := range []string{
		Example, "name=a rate=10/1s", "name=a rate=10/1s burst=0", "rate=1/w  name=x algorithm=sliding_counter key=a,b",
		"name=a name=b", "key==", "=", "", "name=\x1b rate=1/1s", "burst=9223372036854775808",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := ParseLimit(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Fatalf("%q gave the error %q", text, err)
			}
			return
		}
		if limit.Name == "" || limit.Key == "" || limit.Tokens < 1 || limit.Per < 1 || limit.Burst < 1 || find(limit.Algorithm) == nil {
			t.Fatalf("%q gave %+v", text, limit)
		}
		again, err := ParseLimit(limit.String())
		if err != nil || again != limit {
			t.Fatalf("%q is written %q, which gave %+v, %v", text, limit, again, err)
		}
	})
}
