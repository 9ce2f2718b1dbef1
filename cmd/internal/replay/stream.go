package replay

import (
	"container/heap"
	"errors"
	"io"

	"github.com/penstock-go/penstock/cmd/internal/accesslog"
	"github.com/penstock-go/penstock/cmd/internal/input"
)

// MaxLine is the length from which a line is skipped as too long, in bytes.
const MaxLine = 1 << 20

// stream is one log that is being read, put in order second by second.
type stream struct {
	index  int // its place on the command line; breaks ties of time
	src    *input.Source
	lines  *input.Lines
	parser accesslog.Parser
	entry  accesslog.Entry
	order  *orderer
	head   *second // the second that is next in line to be replayed
	done   bool
}

// advance reads on until the next second is complete; head is nil at the end
// of the log. An error ends the log early; what was read before it counts.
func (s *stream) advance(keys *keyring, rep *Report) error {
	var failed error
	if s.head != nil {
		s.order.recycle(s.head)
	}
	for {
		if s.head = s.order.next(s.done); s.head != nil || s.done {
			return failed
		}
		if err := s.readLine(keys, rep); err != nil {
			s.done = true
			if !errors.Is(err, io.EOF) {
				failed = err
			}
		}
	}
}

func (s *stream) readLine(keys *keyring, rep *Report) error {
	line, tooLong, err := s.lines.Next()
	if err != nil {
		return err
	}
	rep.Lines++
	if tooLong {
		rep.skip(s.src.Name, s.lines.Number(), accesslog.ErrTooLong)
		return nil
	}
	if err := s.parser.Parse(line, &s.entry); err != nil {
		rep.skip(s.src.Name, s.lines.Number(), err)
		return nil
	}
	rep.see(s.entry.UnixTime)
	s.order.add(s.entry.UnixTime, keys.number(&s.entry))
	return nil
}

// streamHeap is a heap of streams, the one with the earliest head first; at
// the same time, the one that was named first.
type streamHeap []*stream

func (h streamHeap) Len() int { return len(h) }
func (h streamHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.head.unix != b.head.unix {
		return a.head.unix < b.head.unix
	}
	return a.index < b.index
}
func (h streamHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *streamHeap) Push(x any)   { *h = append(*h, x.(*stream)) }
func (h *streamHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// merge calls take for each second of the streams in the order of time, until
// all are at their end. Errors go to rep.
func merge(streams []*stream, keys *keyring, rep *Report, take func(*second)) {
	var h streamHeap
	for _, s := range streams {
		rep.fail(s.advance(keys, rep))
		if s.head != nil {
			h = append(h, s)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		s := h[0]
		take(s.head)
		rep.fail(s.advance(keys, rep))
		if s.head == nil {
			heap.Pop(&h)
			continue
		}
		heap.Fix(&h, 0)
	}
}
