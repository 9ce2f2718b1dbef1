// Package input opens what a command was told to read (plain files, gzip
// files, standard input) and cuts it into lines in bounded memory.
package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Stdin is the name that stands for standard input.
const Stdin = "-"

// bufferSize is the size of the read buffer of one source. Lines that fit in
// it are never copied.
const bufferSize = 64 << 10

// Source is one opened input. Read gives its content, decompressed. It is not
// safe for concurrent use.
type Source struct {
	Name   string // as the user wrote it; "stdin" for "-"
	r      io.Reader
	closer io.Closer
}

// Open opens the named file, or stdin for "-". Gzip is recognised by its first
// bytes, whatever the name, and may have several members. progress, if not
// nil, is called with the number of raw bytes of each read. Close the source
// after use.
func Open(name string, stdin io.Reader, progress func(n int)) (*Source, error) {
	s := &Source{Name: name, r: stdin, closer: io.NopCloser(nil)}
	if name == Stdin {
		s.Name = "stdin"
	} else {
		f, err := openFile(name)
		if err != nil {
			return nil, err
		}
		s.r, s.closer = f, f
	}
	if progress != nil {
		s.r = &countingReader{s.r, progress}
	}
	if err := s.decompress(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func openFile(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, explain(name, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a directory; name the files in it, for example " + name + "/*.log")
	}
	if err != nil {
		return nil, errors.Join(explain(name, err), f.Close())
	}
	return f, nil
}

func explain(name string, err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot read %s: no such file; check the path", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot read %s: no permission; check who may read it", name)
	case errors.As(err, &path):
		err = path.Err
	}
	return fmt.Errorf("cannot read %s: %w", name, err)
}

// decompress looks at the first bytes and puts a gzip reader in between where
// they say so. Other compressed files are refused with the way around.
func (s *Source) decompress() error {
	buffered := bufio.NewReaderSize(s.r, bufferSize)
	s.r = buffered
	head, err := buffered.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return explain(s.Name, err)
	}
	for _, other := range []struct{ magic, tool string }{
		{"\x28\xb5\x2f\xfd", "zstd"}, {"BZh", "bzip2"}, {"\xfd7zXZ\x00", "xz"},
	} {
		if bytes.HasPrefix(head, []byte(other.magic)) {
			return fmt.Errorf("cannot read %s: it is compressed with %[2]s; decompress it on the way in: %[2]s -dc %[1]s | penstock ... -",
				s.Name, other.tool)
		}
	}
	if !bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return nil
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return explain(s.Name, fmt.Errorf("it starts like gzip, but %w", gzipError(err)))
	}
	s.r = unzipped
	return nil
}

// Read gives the content; an error names the source.
func (s *Source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		err = gzipError(err)
	}
	return n, explain(s.Name, err)
}

// gzipError says what to do about an error of the gzip reader.
func gzipError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the gzip data is cut short (%w); copy the file again, or wait until it is written in full", err)
	}
	return fmt.Errorf("the gzip data is damaged (%w); see what gzip -t says of the file", err)
}

// Close closes the file; standard input stays open.
func (s *Source) Close() error { return s.closer.Close() }

type countingReader struct {
	r     io.Reader
	count func(n int)
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.count(n)
	return n, err
}
