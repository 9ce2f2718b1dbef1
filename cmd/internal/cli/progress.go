package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/penstock-go/penstock/cmd/internal/input"
)

// progress shows how much of the input has been read. Nil shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress returns a bar over the sizes of the files if w is a terminal,
// or else nil. With standard input among them the end is not known.
func newProgress(w io.Writer, files []string) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{progressbar.NewOptions64(totalSize(files),
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("reading"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// totalSize is the size of the files as they lie on disk, or -1 if one is not
// a regular file.
func totalSize(files []string) int64 {
	const unknown = -1
	var sum int64
	for _, name := range files {
		info, err := os.Stat(name)
		if name == input.Stdin || err != nil || !info.Mode().IsRegular() {
			return unknown
		}
		sum += info.Size()
	}
	return sum
}

// add notes that n more bytes were read. A bar that cannot be drawn is no
// reason to stop.
func (p *progress) add(n int) { _ = p.bar.Add(n) }

func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
