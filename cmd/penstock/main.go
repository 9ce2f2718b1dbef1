// Command penstock replays access logs against rate limits before they are
// enforced, checks limiters call by call, and shows what they do.
package main

import (
	"os"

	"github.com/penstock-go/penstock/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], cli.Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}
