package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Lines cuts a stream into lines. It keeps at most its limit of one line in
// memory, however long the line is.
type Lines struct {
	r      *bufio.Reader
	limit  int
	long   []byte // a line that does not fit in r's buffer
	number int
}

// NewLines reads lines from r. A line of limit bytes or more, not counting its
// end, is too long.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, bufferSize), limit: limit}
}

// Number is the number of the line that Next returned last, from 1.
func (l *Lines) Number() int { return l.number }

// Next returns the next line without its end (\n or \r\n), valid until the
// next call. tooLong tells that the line was skipped because it is too long;
// line is then empty. The last line needs no end. The error is io.EOF after
// the last line, or whatever the stream said; what was read of the line that
// the error cut off is not returned.
func (l *Lines) Next() (line []byte, tooLong bool, err error) {
	line, err = l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, tooLong, err = l.nextLong(line)
	}
	if errors.Is(err, io.EOF) && (len(line) > 0 || tooLong) {
		err = nil // the last line, without its end
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, false, err
	case err != nil:
		return nil, false, fmt.Errorf("%w; it has been read up to line %d", err, l.number)
	}
	line = trimEnd(line)
	l.number++
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // a byte order mark
	}
	if tooLong || len(line) >= l.limit {
		return nil, true, nil
	}
	return line, false, nil
}

// nextLong collects a line that is longer than the buffer, or skips it to its
// end without keeping it.
func (l *Lines) nextLong(head []byte) (line []byte, tooLong bool, err error) {
	const end = 2 // \r\n
	l.long = append(l.long[:0], head...)
	err = bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) {
		var part []byte
		part, err = l.r.ReadSlice('\n')
		if tooLong = tooLong || len(l.long)+len(part) > l.limit+end; !tooLong {
			l.long = append(l.long, part...)
		}
	}
	if tooLong {
		return nil, true, err
	}
	return l.long, false, err
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}
