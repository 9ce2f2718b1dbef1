package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestGolden(t *testing.T) {
	for _, test := range []struct {
		golden string
		args   []string
		code   int
	}{
		{"table.golden", nil, 0},
		{"allocs.golden", []string{"-units", "allocs/op"}, 0},
		{"targets.golden", []string{"-targets", "testdata/targets.txt"}, 0},
		{"targets.golden", []string{"-targets", "testdata/targets.txt", "-enforce"}, exitMissed},
		{"targets.json.golden", []string{"-json", "-targets", "testdata/targets.txt"}, 0},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(append(test.args, "testdata/results.txt"), &stdout, &stderr); code != test.code {
			t.Errorf("%v: exit %d, want %d; %s", test.args, code, test.code, stderr.String())
		}
		compareGolden(t, test.golden, stdout.Bytes())
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got:\n%s", name, got)
	}
}

// TestEnforce: the exit code is the gate.
func TestEnforce(t *testing.T) {
	for _, test := range []struct {
		name, target string
		args         []string
		code         int
	}{
		{"met", "Allow/limiter=penstock/clock=exact ns/op <= 1.15 x limiter=floor", nil, 0},
		{"met by all", "Allow/limiter=penstock/clock=exact ns/op <= 1.15 x limiter=floor", []string{"-all"}, 0},
		{"missed", "Allow/limiter=penstock/clock=exact ns/op <= 1.05 x limiter=floor", nil, exitMissed},
		{"missed absolutely", "Tail/limiter=penstock p99.9-ns <= 350", nil, exitMissed},
		{"unproven", "Memory/limiter=penstock worst-B/key <= 51", nil, 0},
		{"unproven, all", "Memory/limiter=penstock worst-B/key <= 51", []string{"-all"}, exitMissed},
		{"absent", "GC/limiter=penstock gc-ns <= 1", nil, 0},
		{"absent, all", "GC/limiter=penstock gc-ns <= 1", []string{"-all"}, exitMissed},
		{"strictly faster", "Allow/limiter=penstock/clock=coarse ns/op < 1 x limiter=rival,clock=exact", nil, 0},
		{"strictly slower", "Allow/limiter=penstock/clock=coarse ns/op < 1 x limiter=floor,clock=none", nil, exitMissed},
	} {
		path := filepath.Join(t.TempDir(), "targets.txt")
		if err := os.WriteFile(path, []byte(test.target+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		args := append([]string{"-enforce", "-targets", path}, test.args...)
		if code := run(append(args, "testdata/results.txt"), &stdout, &stderr); code != test.code {
			t.Errorf("%s: exit %d, want %d\n%s%s", test.name, code, test.code, stdout.String(), stderr.String())
		}
	}
}

func TestBadInput(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.txt")
	if err := os.WriteFile(empty, []byte("PASS\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{empty}, {"testdata/none.txt"}, {"-units", "(", empty}, {"-nonsense"},
		{"-targets", "testdata/none.txt", "testdata/results.txt"},
		{"-targets", "testdata/results.txt", "testdata/results.txt"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code != exitUsage || stderr.Len() == 0 {
			t.Errorf("%v: exit %d, stderr %q; want %d and a reason", args, code, stderr.String(), exitUsage)
		}
	}
}
