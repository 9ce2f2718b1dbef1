package benchtest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

// skipIfLacking leaves the row out if the subject cannot run its benchmark, and
// prints why as a comment line, which readers of results ignore.
func skipIfLacking(b *testing.B, subject bench.Subject) {
	b.Helper()
	base, _, _ := strings.Cut(strings.TrimPrefix(b.Name(), "Benchmark"), "/")
	if why := subject.Lacks[base]; why != "" {
		fmt.Fprintf(os.Stdout, "# left out: %s: %s\n", b.Name(), why)
		b.SkipNow()
	}
}
