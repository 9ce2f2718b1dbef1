package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

// The files in testdata are 24 rounds of one tree as base and as head, on a machine
// of two processors under a load of 16 to 24.
func recorded(t *testing.T) (base, head []*samples.Row) {
	t.Helper()
	base, err := samples.Read(&benchfmt.Files{Paths: []string{"testdata/base.txt"}})
	require.NoError(t, err)
	head, err = samples.Read(&benchfmt.Files{Paths: []string{"testdata/head.txt"}})
	require.NoError(t, err)
	return base, head
}

// resample draws as many rounds, with repetition, and who is base and who is head
// in each by a coin; head is slowed down in the rows that slow picks.
func resample(t *testing.T, seed uint64, slow func(r *samples.Row) float64) *report {
	t.Helper()
	base, head := recorded(t)
	random := rand.New(rand.NewPCG(seed, 1))
	rounds := len(base[0].Values)
	picks, coins := make([]int, rounds), make([]bool, rounds)
	for i := range picks {
		picks[i], coins[i] = random.IntN(rounds), random.IntN(2) == 0
	}
	for at := range base {
		before, after := base[at].Values, head[at].Values
		newBefore, newAfter := make([]float64, rounds), make([]float64, rounds)
		for i, pick := range picks {
			newBefore[i], newAfter[i] = before[pick], after[pick]
			if coins[i] {
				newBefore[i], newAfter[i] = newAfter[i], newBefore[i]
			}
			newAfter[i] *= slow(base[at])
		}
		base[at].Values, head[at].Values = newBefore, newAfter
	}
	rep, err := newReport(base, head, 3)
	require.NoError(t, err)
	return rep
}

func TestUnchangedPasses(t *testing.T) {
	for seed := range uint64(10) {
		rep := resample(t, seed, func(*samples.Row) float64 { return 1 })
		require.False(t, rep.regressed(), "seed %d", seed)
		require.Len(t, rep.rows, 9)
	}
}

func TestCatchesFivePercent(t *testing.T) {
	for seed := range uint64(10) {
		rep := resample(t, seed, func(*samples.Row) float64 { return 1.05 })
		require.True(t, rep.regressed(), "seed %d", seed)
	}
}

// TestCatchesOneRow: nothing else is said to be slower than the row that is.
func TestCatchesOneRow(t *testing.T) {
	const slowed = "Gate/call=deny/limiter=penstock/keys=1"
	for seed := range uint64(10) {
		rep := resample(t, seed, func(r *samples.Row) float64 {
			if r.Name() == slowed {
				return 1.05
			}
			return 1
		})
		for _, c := range rep.rows {
			require.Equal(t, c.name == slowed, c.verdict == regressed, "seed %d: %s is %s", seed, c.name, c.verdict)
		}
	}
}

// TestJudge: each verdict, and what instructions decide.
func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name             string
		lo, median, hi   float64
		baseSays, headIs float64
		want             verdict
	}{
		{"slower beyond noise", 1.01, 1.05, 1.09, 0, 0, regressed},
		{"slower, no more instructions", 1.01, 1.05, 1.09, 100, 100, regressed},
		{"slower by little", 1.01, 1.02, 1.09, 100, 200, unchanged},
		{"certainly not slower", 0.98, 1, 1.02, 100, 200, unchanged},
		{"faster", 0.90, 0.95, 0.99, 0, 0, faster},
		{"wide", 0.9, 1.05, 1.2, 0, 0, unsure},
		{"wide, as many instructions", 0.9, 1.05, 1.2, 100, 103, unsure},
		{"wide, more instructions", 0.9, 1.0, 1.2, 100, 104, regressed},
	} {
		c := &comparison{change: samples.Summary{N: 20, Median: test.median, Lo: test.lo, Hi: test.hi}, baseCount: test.baseSays, headCount: test.headIs}
		rep := &report{threshold: 3, rows: []*comparison{c}}
		rep.judge()
		require.Equal(t, test.want, c.verdict, test.name)
		require.Equal(t, test.want == regressed, rep.regressed(), test.name)
	}
}

func TestReportNeedsPairs(t *testing.T) {
	base, head := recorded(t)
	_, err := newReport(nil, head, 3)
	require.ErrorContains(t, err, "BenchmarkGate")
	for _, r := range head {
		r.Values = r.Values[1:]
	}
	_, err = newReport(base, head, 3)
	require.ErrorContains(t, err, "24 rounds of base, 23 of head")
}

func TestFewRoundsDecideNothing(t *testing.T) {
	base, head := recorded(t)
	for i := range head {
		base[i].Values, head[i].Values = base[i].Values[:5], head[i].Values[:5]
		for round := range head[i].Values {
			head[i].Values[round] *= 2
		}
	}
	rep, err := newReport(base, head, 3)
	require.NoError(t, err)
	require.False(t, rep.regressed(), "five rounds have no interval")
}

// TestLeastRoundsOfManyRows: so many rounds have an interval at the level of each of 102 rows, fewer
// rounds or more rows have none.
func TestLeastRoundsOfManyRows(t *testing.T) {
	closed := func(rounds, rows int) bool {
		before, after := &samples.Row{}, &samples.Row{}
		for i := range rounds {
			before.Values, after.Values = append(before.Values, 1), append(after.Values, 1+float64(i)/100)
		}
		return ratioOf(pair{before, after}, 1-level/float64(rows)).Closed()
	}
	require.True(t, closed(minRounds, 102))
	require.False(t, closed(minRounds, 103))
	require.False(t, closed(minRounds-1, 102))
}

func TestWrite(t *testing.T) {
	rep := resample(t, 1, func(*samples.Row) float64 { return 1.05 })
	rep.note = "no counter"
	rep.rows[0].baseCount, rep.rows[0].headCount = 200, 210
	var text, object bytes.Buffer
	require.NoError(t, writeText(&text, rep))
	require.Contains(t, text.String(), "200 to 210 (+5.0 %)")
	require.Contains(t, text.String(), "without instructions: no counter")
	require.Regexp(t, `\n[1-9] of 9 rows are slower by more than 3 % beyond the noise`, text.String())
	require.NoError(t, writeJSON(&object, rep))
	var form jsonReport
	require.NoError(t, json.Unmarshal(object.Bytes(), &form))
	require.True(t, form.Regressed)
	require.Len(t, form.Rows, 9)
	require.Equal(t, 24, form.Rows[0].Rounds)
}

// TestUnsureRowsAreCounted: that no row is slower is not said of what nobody can tell.
func TestUnsureRowsAreCounted(t *testing.T) {
	row := func(v verdict) *comparison { return &comparison{change: samples.Summary{N: 20}, verdict: v} }
	rep := &report{threshold: 3, rows: []*comparison{row(faster), row(unsure), row(unchanged), row(unsure)}}
	require.Equal(t, "0 of 4 rows are slower by more than 3 % beyond the noise; "+
		"of 2 the noise is too wide to tell: try -rounds 40", rep.sentence())
	rep.rows = []*comparison{row(regressed), row(unchanged)}
	require.Equal(t, "1 of 2 rows are slower by more than 3 % beyond the noise", rep.sentence())
}

func TestBadUsage(t *testing.T) {
	for fault, args := range map[string][]string{
		"no -base":          nil,
		"fewer than 12":     {"-base", "x", "-rounds", "5"},
		"unknown argument":  {"-base", "x", "y"},
		"not be negative":   {"-base", "x", "-threshold", "-1"},
		`-keys "1,1e6"`:     {"-base", "x", "-keys", "1,1e6"},
		`-keys ""`:          {"-base", "x", "-keys", ""},
		"not defined":       {"-nonsense"},
		"no such revision!": {"-base", "no such revision!"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitError, run(t.Context(), args, &stdout, &stderr), fault)
		require.Contains(t, stderr.String(), fault)
	}
}

// TestNothingToCount is said, and said to be for the want of keys, not of a counter.
func TestNothingToCount(t *testing.T) {
	rep := &report{rows: []*comparison{{name: "Gate/call=allow/keys=1"}, {name: "Gate/call=allow/keys=100k"}}}
	var progress bytes.Buffer
	require.Contains(t, countRows(t.Context(), rep, "no base", "no head", &progress), "-keys has no 1k")
	require.Empty(t, progress.String())
	rep.rows = append(rep.rows, &comparison{name: "Gate/call=allow/keys=1k"})
	require.NotContains(t, countRows(t.Context(), rep, "no base", "no head", &progress), "-keys")
}

// TestInstructionsAreFound: the numbers in what the counters print.
func TestInstructionsAreFound(t *testing.T) {
	for i, printed := range []string{"BenchmarkGate 1\n123456,,instructions:u,100,100.00,,\n", "==1== Collected : 123456\n"} {
		match := counters[i].count.FindStringSubmatch(printed)
		require.NotNil(t, match, counters[i].name)
		require.Equal(t, "123456", match[1])
	}
}
