package replay

import (
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
func (s *stream) advance(keys *keyrings, rep *Report) error {
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

func (s *stream) readLine(keys *keyrings, rep *Report) error {
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
	s.order.add(s.entry.UnixTime, keys.numbers(&s.entry))
	return nil
}

// before tells whether the head of s comes before that of other: it is earlier
// or, at the same time, of the stream that was named first.
func (s *stream) before(other *stream) bool {
	if s.head.unix != other.head.unix {
		return s.head.unix < other.head.unix
	}
	return s.index < other.index
}

// merge calls take for each second of the streams in the order of time, until
// all are at their end. Errors go to rep.
func merge(streams []*stream, keys *keyrings, rep *Report, take func(*second)) {
	next := minHeap[*stream]{less: (*stream).before}
	for _, s := range streams {
		rep.fail(s.advance(keys, rep))
		if s.head != nil {
			next.push(s)
		}
	}
	for len(next.items) > 0 {
		s := next.items[0]
		take(s.head)
		rep.fail(s.advance(keys, rep))
		if s.head == nil {
			next.pop()
			continue
		}
		next.settle()
	}
}
