// Command report writes what bench/results shows into the documents: the tables
// between the markers of docs/performance.md and README.md, and the charts in
// docs/img/performance.
//
// Usage, from the top of the repository:
//
//	report [-root folder]
//
// A row that several files have is taken from the one measured last; ratios and
// targets are of rows of one file. A marker is a comment "begin: name" to "end:
// name"; what no file has is said to be not measured. The same results give the
// same bytes, and a test holds the documents to them.
//
// Exit codes: 0; 2 when results, targets or documents cannot be read or written.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const exitError = 2

// chartFolder is where the charts are, from the top of the repository.
const chartFolder = "docs/img/performance"

// documents are the files with markers, from the top of the repository.
var documents = []string{"docs/performance.md", "README.md"}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "the top of the repository, a `folder`")
	if err := flags.Parse(args); err != nil {
		return exitError
	}
	if err := write(*root, stdout); err != nil {
		fmt.Fprintln(stderr, "report:", err)
		return exitError
	}
	return 0
}

// write writes every generated file and says so.
func write(root string, out io.Writer) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, chartFolder), 0o750); err != nil {
		return err
	}
	for _, f := range files {
		err := os.WriteFile(filepath.Join(root, f.name), f.text, 0o644) //nolint:gosec // documents are for everyone to read
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "wrote", f.name)
	}
	return nil
}

// file is a generated file, by its path from the top of the repository.
type file struct {
	name string
	text []byte
}

// generate returns every generated file as it should be.
func generate(root string) ([]file, error) {
	all, err := readResults(filepath.Join(root, "bench", "results"), filepath.Join(root, "bench", "targets.txt"))
	if err != nil {
		return nil, err
	}
	files := all.charts()
	blocks := all.blocks(files)
	for _, name := range documents {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		filled, err := fill(string(text), blocks)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, file{name, []byte(filled)})
	}
	return files, nil
}
