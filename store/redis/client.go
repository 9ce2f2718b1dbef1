package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/penstock-go/penstock/store"
)

// client is what the two client libraries are used for. None of its methods sends a script a second
// time, except where the server said that it has not run it: NOSCRIPT, MOVED, ASK.
type client interface {
	// run sends all calls, those for one node in one go, and writes what came of calls[i] to
	// replies[i]. len(replies) == len(calls).
	run(ctx context.Context, calls []call, replies []reply)
	// remove deletes a key.
	remove(ctx context.Context, key string) error
	// ranges asks a cluster for the ranges of slots, one range for each shard. It is empty if the
	// server is none.
	ranges(ctx context.Context) (shardMap, error)
	close() error
}

// call is one script to run.
type call struct {
	script *script
	text   bool // send the text, since the server does not know the script
	keys   []string
	args   []string
}

// maxNumbers is how many numbers a reply of one limit has.
const maxNumbers = 5

// reply is what a script returned: an array of integers, and at most one string among them.
type reply struct {
	numbers []int64
	word    string
	few     [maxNumbers]int64 // where numbers begins
	err     error
}

// reset makes the reply an empty one.
func (r *reply) reset() {
	r.word, r.err = "", nil
	r.numbers = r.few[:0]
}

// errReply reports a reply of another form than the script's.
var errReply = errors.New("redis: the reply is none of the script's: does something else rewrite commands")

// Errors of a server with which it refuses a call before it runs, or its write: the script has changed
// nothing. All error replies are of this kind, since a script writes with its last command.
func refused(err error) error {
	if strings.HasPrefix(err.Error(), "MOVED ") {
		return fmt.Errorf("%w: redis: the server is one of a cluster, and this client does not follow: "+
			"use one for clusters (redis.ClusterClient of go-redis): %w", store.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: redis: %w", store.ErrUnavailable, err)
}

// unsent reports whether an error is that no connection could be made.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// isNoScript reports whether an error is that of a server that does not know a script.
func isNoScript(text string) bool { return strings.HasPrefix(text, "NOSCRIPT") }

// begun returns an error if ctx has ended before a call was made.
func begun(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: redis: not asked: %w", store.ErrUnavailable, err)
	}
	return nil
}

// repaired runs calls, and those again whose script a server did not know, with their text this
// time: it knows it from then on. send sends calls once.
func repaired(calls []call, replies []reply, unknown func(error) bool, send func([]call, []reply)) {
	send(calls, replies)
	var again []call
	var of []int
	for i := range replies {
		if unknown(replies[i].err) {
			c := calls[i]
			c.text = true
			again, of = append(again, c), append(of, i)
		}
	}
	if len(again) == 0 {
		return
	}
	second := make([]reply, len(again))
	send(again, second)
	for k, i := range of {
		first := &replies[i]
		first.reset()
		first.word, first.err = second[k].word, second[k].err
		first.numbers = append(first.numbers, second[k].numbers...)
	}
}
