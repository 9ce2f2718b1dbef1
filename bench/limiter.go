package bench

import "time"

// Limiter is the adapter that everything measured stands behind. The decision
// loop is part of it, so that the limiter itself is called directly.
//
// Run and Allow may be called from several goroutines at once, each with its
// own Keys.
type Limiter interface {
	// Fill makes the first decision for the keys from..to-1, charging the
	// load's Charge for each. It copies a key where the limiter keeps it.
	Fill(k *Keys, from, to uint64)
	// Run decides n times about random keys of k and returns how many calls
	// were admitted.
	Run(k *Keys, n int) (admitted int)
	// Allow decides once. The key is valid during the call only.
	Allow(key string) bool
	// Len returns how many keys are held; -1 if the limiter cannot tell.
	Len() int
	// Close stops what the limiter runs in the background.
	Close()
}

// Subject is one row's limiter and how to make it.
type Subject struct {
	Name  string // the limiter's name in the benchmark's name
	Clock string // exact, coarse, none, or ordered (a floor only)
	// Bound marks a lower bound that is no limiter: its answers and its Len
	// mean nothing and are not checked.
	Bound bool
	// New makes a limiter without keys. The count of keys to come is for
	// bounds only; a limiter must not use it to make room beforehand.
	New func(count int, load Load) Limiter
	// Lacks names the benchmarks ("Deny") that the limiter cannot run, with the
	// reason, which is printed in the place of their rows.
	Lacks map[string]string
}

// Load is a limit together with the charge that puts every key where the row
// needs it: far from new, so that no key may be forgotten, and either far from
// empty or empty.
type Load struct {
	Name   string
	Tokens int64         // tokens per Per
	Per    time.Duration // > 0
	Burst  int64
	Charge int64 // permits taken from each key by Fill, <= Burst
	Admit  bool  // what every later call must be answered
}

// AllowLoad admits every call: each key has 5e11 tokens left after Fill, which
// one key cannot use up in an hour of calls, and would be new again after 15
// years only.
var AllowLoad = Load{
	Name: "allow", Tokens: 1_000, Per: time.Second,
	Burst: 1_000_000_000_000, Charge: 500_000_000_000, Admit: true,
}

// SpendLoad leaves each key four permits after Fill, and no other for the hour
// after it: the check of an adapter that admissions are limited.
var SpendLoad = Load{
	Name: "spend", Tokens: 5, Per: time.Hour,
	Burst: 5, Charge: 1, Admit: true,
}

// DenyLoad denies every call for the hour after Fill: the one token of each key
// has been taken.
var DenyLoad = Load{
	Name: "deny", Tokens: 1, Per: time.Hour,
	Burst: 1, Charge: 1, Admit: false,
}
