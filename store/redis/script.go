package redis

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts by their SHA-1; nothing depends on its strength
	_ "embed"
	"encoding/hex"
	"strings"

	"github.com/penstock-go/penstock/store"
)

// The parts of the scripts.
var (
	//go:embed lua/clock.lua
	clockLua string
	//go:embed lua/whole.lua
	wholeLua string
	//go:embed lua/bucket.lua
	bucketLua string
	//go:embed lua/fixed.lua
	fixedLua string
	//go:embed lua/sliding.lua
	slidingLua string
	//go:embed lua/one.lua
	oneLua string
	//go:embed lua/all.lua
	allLua string
	//go:embed lua/word.lua
	wordLua string
	//go:embed lua/get.lua
	getLua string
	//go:embed lua/swap.lua
	swapLua string
	//go:embed lua/put.lua
	putLua string
)

// script is a script and the name by which a server that has seen it knows it.
type script struct{ text, sha string }

func newScript(parts ...string) *script {
	text := shorten(strings.Join(parts, ""))
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	return &script{text, hex.EncodeToString(sum[:])}
}

// shorten leaves out comments and indentation, which a server would have to read. No string in the
// scripts has two dashes.
func shorten(lua string) string {
	var b strings.Builder
	for line := range strings.Lines(lua) {
		line, _, _ = strings.Cut(line, "--")
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// scripts are all scripts of a storage. They differ in where the time comes from.
type scripts struct {
	one            map[store.Kind]*script
	all            *script
	get, swap, put *script
}

// newScripts puts the scripts together on a clock: Lua that sets now, and keep(key, value, at).
func newScripts(clock string) *scripts {
	one := func(law, text string) *script {
		return newScript(clock, wholeLua, text, strings.ReplaceAll(oneLua, "LAW", law))
	}
	return &scripts{
		one: map[store.Kind]*script{
			store.KindBucket:        one("bucket", bucketLua),
			store.KindFixedWindow:   one("fixed", fixedLua),
			store.KindSlidingWindow: one("sliding", slidingLua),
		},
		all:  newScript(clock, wholeLua, bucketLua, fixedLua, slidingLua, allLua),
		get:  newScript(clock, wordLua, getLua),
		swap: newScript(clock, wordLua, swapLua),
		put:  newScript(clock, putLua),
	}
}
