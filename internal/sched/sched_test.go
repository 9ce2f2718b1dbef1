//go:build !interleave

package sched_test

import (
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/sched"
	"github.com/puzpuzpuz/xsync/v3"
	"github.com/stretchr/testify/require"
)

// TestNothingIsAdded: in a usual build each type is the one that it stands for, so that every program
// is the same as if it had named that.
func TestNothingIsAdded(t *testing.T) {
	for _, c := range [][2]reflect.Type{
		{reflect.TypeFor[sched.Bool](), reflect.TypeFor[atomic.Bool]()},
		{reflect.TypeFor[sched.Int64](), reflect.TypeFor[atomic.Int64]()},
		{reflect.TypeFor[sched.Uint32](), reflect.TypeFor[atomic.Uint32]()},
		{reflect.TypeFor[sched.Uint64](), reflect.TypeFor[atomic.Uint64]()},
		{reflect.TypeFor[sched.Pointer[int]](), reflect.TypeFor[atomic.Pointer[int]]()},
		{reflect.TypeFor[sched.Mutex](), reflect.TypeFor[sync.Mutex]()},
		{reflect.TypeFor[sched.Timer](), reflect.TypeFor[time.Timer]()},
		{reflect.TypeFor[sched.MapOf[string, int]](), reflect.TypeFor[xsync.MapOf[string, int]]()},
		{reflect.TypeFor[sched.Count](), reflect.TypeFor[atomic.Uint64]()},
		{reflect.TypeFor[sched.Counter](), reflect.TypeFor[xsync.Counter]()},
	} {
		require.Equal(t, c[1], c[0])
	}
}

// TestFunctionsAreInlined: those that are not types do nothing but call what they stand for.
func TestFunctionsAreInlined(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, name := range []string{"Since", "AfterFunc", "NewCounter"} {
		require.Regexp(t, "can inline "+name+`\b`, string(out))
	}
}

// TestNoneOfTheExplorerIsLinked in a usual build.
func TestNoneOfTheExplorerIsLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../engine").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "/internal/sched\n")
	require.NotContains(t, string(out), "/internal/interleave\n")
}

// TestNothingIsLostToInlining: the core calls no method of an atomic, it does what the method does.
func TestNothingIsLostToInlining(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the core")
	}
	out, err := exec.Command("go", "build", "-gcflags=-S", "../../sharded", "../../evict", "../../engine").CombinedOutput()
	require.NoError(t, err)
	code := string(out)
	require.Positive(t, strings.Count(code, "sharded.(*Table).Find STEXT"), "is this the code of the core?")
	require.Empty(t, regexp.MustCompile(`CALL\s+sync/atomic\.\(\*\S+`).FindAllString(code, 3), "see inline.go")
}
