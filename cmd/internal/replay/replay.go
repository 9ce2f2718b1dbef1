// Package replay runs the requests of access logs through one or several
// limits at the log's own time and counts what would have been denied.
//
// The answer is an upper bound from an open loop: the log holds what clients
// sent without the limit, and a client that is denied may slow down.
package replay

import (
	"io"
	"slices"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/accesslog"
	"github.com/penstock-go/penstock/cmd/internal/input"
)

// Options say what to replay against what.
type Options struct {
	Limits   []Limit // at least one; a request must pass all of them
	Format   accesslog.Format
	Files    []string  // merged by time; "-" is Stdin
	Stdin    io.Reader // read for "-"
	Progress func(n int)

	// ReorderWindow is how far behind a later line a line may come and still
	// be put in its place; 0 keeps the order of the log. It is rounded up to
	// whole seconds.
	ReorderWindow time.Duration
	// ReorderLines bounds how many lines are held back for that, over all
	// files, at 4 bytes each for every different key of the limits. At least 1.
	ReorderLines int
}

// Run replays the logs. Problems with single files and lines are in the
// report; the error is for a limit that the engine does not take.
//
// It takes memory for the keys, for ReorderLines and for one line of each
// file, whatever the size of the logs.
func Run(o Options) (*Report, error) {
	keys := newKeyrings(o.Limits)
	g, err := newGate(o.Limits, keys.of)
	if err != nil {
		return nil, err
	}
	rep := newReport(o.Limits)
	streams := open(o, rep, len(keys.rings))
	merge(streams, keys, rep, func(s *second) {
		now := time.Duration(s.unix) * time.Second
		for each := range slices.Chunk(s.keys, len(keys.rings)) {
			rep.count(g, each, g.take(now, each))
		}
	})
	for _, s := range streams {
		rep.Reordered += s.order.reordered
		rep.Late += s.order.late
		rep.LateCrowded += s.order.crowded
		rep.fail(s.src.Close())
	}
	rep.names = keys.rings[0].names
	for i := range rep.Limits {
		rep.Limits[i].names = keys.rings[keys.of[i]].names
	}
	return rep, g.close()
}

func open(o Options, rep *Report, rings int) []*stream {
	var streams []*stream
	each := max(1, o.ReorderLines/max(1, len(o.Files)))
	for i, name := range o.Files {
		src, err := input.Open(name, o.Stdin, o.Progress)
		if err != nil {
			rep.fail(err)
			continue
		}
		streams = append(streams, &stream{
			index:  i,
			src:    src,
			lines:  input.NewLines(src, MaxLine),
			parser: accesslog.Parser{Format: o.Format},
			order:  newOrderer(o.ReorderWindow, each, rings),
		})
	}
	return streams
}
