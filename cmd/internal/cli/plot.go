package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/cmd/internal/plot"
)

// plotCmd is penstock plot.
type plotCmd struct {
	Out       string   `required:"true" placeholder:"DIR" example:"pictures" help:"The folder to write to; pictures in it are overwritten."`
	Algorithm []string `placeholder:"NAME" example:"token_bucket" help:"Draw these only, such as token_bucket,fixed_window (default: all)."`
}

// Run draws the pictures and says which files it has written.
func (c *plotCmd) Run(env Env) error {
	known := plot.Algorithms()
	for _, name := range c.Algorithm {
		if !slices.Contains(known, name) {
			return usageError("--algorithm: there is no picture of %q; there is one of %s", name, strings.Join(known, ", "))
		}
	}
	if len(c.Algorithm) == 0 {
		c.Algorithm = known
	}
	if err := os.MkdirAll(c.Out, 0o750); err != nil {
		return fmt.Errorf("cannot make the folder: %w", err)
	}
	for _, name := range c.Algorithm {
		picture, err := plot.SVG(name)
		if err != nil {
			return err
		}
		file := filepath.Join(c.Out, name+".svg")
		if err := os.WriteFile(file, picture, 0o644); err != nil { //nolint:gosec // a picture is for everyone to read
			return fmt.Errorf("cannot write the picture: %w", err)
		}
		if _, err := fmt.Fprintln(env.Stdout, "wrote", file); err != nil {
			return fmt.Errorf("cannot say what was written: %w", err)
		}
	}
	return nil
}
