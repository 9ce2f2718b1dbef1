package redis

import (
	_ "embed"
	"strconv"
	"sync"

	"github.com/penstock-go/penstock/engine"
)

//go:embed lua/atclock.lua
var atClockLua string

var atClockScripts = sync.OnceValue(func() *scripts { return newScripts(atClockLua) })

// borrowed is a client that stays open when its storage is closed.
type borrowed struct{ client }

func (borrowed) close() error { return nil }

// AtClock returns a storage on the client of s whose scripts decide at the time of c, the time since
// 1970-01-01 UTC, in place of the server's: to check what is decided at chosen times on a server that
// others use. Its keys live for ten minutes by the server's clock, whatever c says, so that it is of no
// use for limits that are enforced. Its times are 0 to 2^53 microseconds (285 years), waits included. It must not
// be used after s was closed; closing it leaves s open.
func (s *Storage) AtClock(c engine.Clock) *Storage {
	at := &Storage{
		client: borrowed{s.client}, scripts: atClockScripts(),
		extra: func() []string { return []string{strconv.FormatInt(int64(c.Now()/tick), 10)} },
	}
	at.shards.current.Store(s.shards.current.Load())
	at.shards.stop = make(chan struct{})
	return at
}
