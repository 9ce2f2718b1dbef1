package storebench

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts by their SHA-1; nothing depends on its strength
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/penstock-go/penstock/cmd/internal/stores"
)

// The floors of Redis.
const (
	wayPing   = "raw PING"
	wayScript = "raw EVALSHA"
)

// trivial is the least that a script can be.
const trivial = "return 1"

// redisFloors are a PING and the least script, by the client that the storage uses.
func redisFloors(ctx context.Context, target *stores.Redis, scratch *stores.Scratch) ([]way, error) {
	c, sum := target.Client, sha1.Sum([]byte(trivial)) //nolint:gosec // see the import
	sha := hex.EncodeToString(sum[:])
	for _, node := range target.Masters(ctx) { // which know the script from then on
		if err := node.Do(ctx, node.B().Eval().Script(trivial).Numkeys(0).Build()).Error(); err != nil {
			return nil, fmt.Errorf("running the script that is the floor: %w", err)
		}
	}
	full := make([]string, keyCount) // never written to: they pick the node
	for i := range full {
		full[i] = scratch.Prefix + ":{" + keys[i] + "}:floor"
	}
	return []way{
		{name: wayPing, command: "ping", call: func(ctx context.Context, _ int) (bool, error) {
			return true, c.Do(ctx, c.B().Ping().Build()).Error()
		}},
		{name: wayScript, command: "evalsha", call: func(ctx context.Context, key int) (bool, error) {
			n, err := c.Do(ctx, c.B().Evalsha().Sha1(sha).Numkeys(1).Key(full[key]).Build()).AsInt64()
			return n == 1, err
		}},
	}, nil
}

// meter reads the time that servers have spent on commands; one of no nodes
// knows nothing.
type meter struct{ nodes []rueidis.Client }

// read returns the microseconds spent on each command so far, over all nodes,
// nil if a server does not tell.
func (m meter) read(ctx context.Context) map[string]float64 {
	if len(m.nodes) == 0 {
		return nil
	}
	sum := map[string]float64{}
	for _, node := range m.nodes {
		text, err := node.Do(ctx, node.B().Info().Section("commandstats").Build()).ToString()
		if err != nil {
			return nil
		}
		addStats(sum, text)
	}
	return sum
}

// addStats adds the lines cmdstat_NAME:calls=N,usec=N,... of a server.
func addStats(sum map[string]float64, text string) {
	for line := range strings.Lines(text) {
		name, fields, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cmdstat_"), ":")
		if !found {
			continue
		}
		for field := range strings.SplitSeq(fields, ",") {
			if value, ok := strings.CutPrefix(field, "usec="); ok {
				micros, err := strconv.ParseFloat(value, 64)
				if err == nil {
					sum[name] += micros
				}
			}
		}
	}
}

// usage is the time that servers have spent in the turns of one way.
type usage struct {
	known bool
	spent map[string]float64
}

func (u *usage) add(before, after map[string]float64) {
	if before == nil || after == nil {
		return
	}
	if u.spent == nil {
		u.known, u.spent = true, map[string]float64{}
	}
	for name, micros := range after {
		u.spent[name] += micros - before[name]
	}
}

// micros returns the time spent on a command.
func (u *usage) micros(command string) float64 { return u.spent[command] }
