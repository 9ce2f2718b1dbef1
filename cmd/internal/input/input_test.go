package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readLines returns all lines; one that is too long is "<long>".
func readLines(r io.Reader, limit int) (lines []string, err error) {
	l := NewLines(r, limit)
	for {
		line, tooLong, err := l.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		if tooLong {
			line = []byte("<long>")
		}
		lines = append(lines, string(line))
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		"\n":                   {""},
		"a":                    {"a"},
		"a\n":                  {"a"},
		"a\nb":                 {"a", "b"},
		"a\r\nb\r\n":           {"a", "b"},
		"a\r":                  {"a"},
		"a\n\nb":               {"a", "", "b"},
		"\xef\xbb\xbfa\n":      {"a"},
		"a\n\xef\xbb\xbfb":     {"a", "\xef\xbb\xbfb"},
		"a\x00b\n":             {"a\x00b"},
		"123456789\nb\n":       {"123456789", "b"},
		"1234567890\nb\n":      {"<long>", "b"},
		"123456789\r\nb":       {"123456789", "b"},
		"b\n1234567890":        {"b", "<long>"},
		"1234567890\n12345678": {"<long>", "12345678"},
	} {
		got, err := readLines(strings.NewReader(text), 10)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q", text)
		got, err = readLines(iotest.OneByteReader(strings.NewReader(text)), 10)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q byte by byte", text)
	}
}

// Lines around the sizes of the buffer and of the limit come out whole or are
// skipped, and do not disturb their neighbours.
func TestLinesAroundTheBuffer(t *testing.T) {
	const limit = 3 * bufferSize
	for _, size := range []int{
		bufferSize - 2, bufferSize - 1, bufferSize, bufferSize + 1, 2*bufferSize - 1, 2 * bufferSize,
		limit - 2, limit - 1, limit, limit + 1, limit + 2, limit + 3, 10 * limit,
	} {
		for _, end := range []string{"\n", "\r\n"} {
			long := strings.Repeat("x", size)
			want := []string{"before", long, "after"}
			if size >= limit {
				want[1] = "<long>"
			}
			got, err := readLines(strings.NewReader("before"+end+long+end+"after"+end), limit)
			require.NoError(t, err)
			require.Equal(t, want, got, "%d bytes, end %q", size, end)
			got, err = readLines(strings.NewReader("before"+end+long), limit)
			require.NoError(t, err)
			require.Equal(t, want[:2], got, "%d bytes, no end", size)
		}
	}
}

func TestLinesCountTheirNumber(t *testing.T) {
	l := NewLines(strings.NewReader("a\n"+strings.Repeat("x", 99)+"\nb"), 10)
	for want := 1; want <= 3; want++ {
		_, tooLong, err := l.Next()
		require.NoError(t, err)
		assert.Equal(t, want, l.Number())
		assert.Equal(t, want == 2, tooLong)
	}
}

// A line of any length costs no more memory than the limit.
func TestLongLineTakesBoundedMemory(t *testing.T) {
	const limit, size = 1 << 20, 64 << 20
	endless := io.MultiReader(io.LimitReader(repeated('x'), size), strings.NewReader("\nafter"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := readLines(endless, limit)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, []string{"<long>", "after"}, got)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*limit))
}

type repeated byte

func (c repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

func TestLinesReportAnErrorAfterTheWholeLines(t *testing.T) {
	broken := errors.New("the disk is gone")
	got, err := readLines(io.MultiReader(strings.NewReader("a\nb\ncut"), iotest.ErrReader(broken)), 10)
	assert.Equal(t, []string{"a", "b"}, got)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "; it has been read up to line 2")
}

// zip compresses text as one gzip member.
func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// file writes a file and returns its name.
func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func TestOpenReadsWhatIsThere(t *testing.T) {
	zipped := zip(t, "a\nb\n")
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"empty.log":   {nil, ""},
		"short.log":   {[]byte("a"), "a"},
		"plain.log":   {[]byte("a\nb\n"), "a\nb\n"},
		"plain.gz":    {[]byte("a\nb\n"), "a\nb\n"}, // the name does not decide
		"zipped.gz":   {zipped, "a\nb\n"},
		"zipped.log":  {zipped, "a\nb\n"},
		"members.gz":  {append(bytes.Clone(zipped), zip(t, "c")...), "a\nb\nc"},
		"nothing.gz":  {zip(t, ""), ""},
		"half-id.log": {[]byte{0x1f}, "\x1f"},
	} {
		for _, source := range []string{file(t, name, test.content), Stdin} {
			read := 0
			s, err := Open(source, bytes.NewReader(test.content), func(n int) { read += n })
			require.NoError(t, err, name)
			got, err := io.ReadAll(s)
			require.NoError(t, err, name)
			assert.Equal(t, test.want, string(got), name)
			assert.Equal(t, len(test.content), read, "progress of %s", name)
			assert.NoError(t, s.Close())
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	zipped := zip(t, strings.Repeat("a line\n", 1000))
	damaged := bytes.Clone(zipped)
	damaged[len(damaged)-6] ^= 1 // the checksum
	for name, want := range map[string]string{
		filepath.Join(t.TempDir(), "missing.log"): "no such file",
		t.TempDir(): "it is a directory",
		file(t, "cut.gz", zipped[:len(zipped)-20]):          "the gzip data is cut short (unexpected EOF); copy the file again, or wait until it is written in full",
		file(t, "header.gz", zipped[:5]):                    "it starts like gzip, but the gzip data is cut short",
		file(t, "damaged.gz", damaged):                      "the gzip data is damaged (gzip: invalid checksum); see what gzip -t says of the file",
		file(t, "fake.gz", []byte("\x1f\x8bnot gzip at")):   "it starts like gzip, but the gzip data is damaged",
		file(t, "a.zst", []byte("\x28\xb5\x2f\xfd\x00")):    "zstd -dc",
		file(t, "a.bz2", []byte("BZh91AY&SY")):              "bzip2 -dc",
		file(t, "a.xz", []byte("\xfd7zXZ\x00\x00\x04\xe6")): "xz -dc",
	} {
		s, err := Open(name, nil, nil)
		if err == nil {
			_, err = io.ReadAll(s)
			require.NoError(t, s.Close())
		}
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "cannot read "+name+": ")
		require.Equal(t, 1, strings.Count(err.Error(), name+": "), "the name once: %v", err)
	}
}

func TestOpenOfAFileWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("everything may be read by the superuser")
	}
	path := file(t, "secret.log", []byte("a"))
	require.NoError(t, os.Chmod(path, 0))
	_, err := Open(path, nil, nil)
	require.ErrorContains(t, err, "no permission")
}

func TestOpenOfBrokenStdin(t *testing.T) {
	_, err := Open(Stdin, iotest.ErrReader(errors.New("the pipe is gone")), nil)
	require.EqualError(t, err, "cannot read stdin: the pipe is gone")
}
