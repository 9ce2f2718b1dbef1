package dynamodbtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// DynaliteVersion is the version that the tests are made for.
const DynaliteVersion = "4.0.0"

// dynaliteScript serves from a folder, or from memory, on a port, 0 for any, says which, and ends when its standard input does:
// so that it never outlives the test, however that ends.
const dynaliteScript = `
const [folder, path, port] = process.argv.slice(1)
const server = require(folder)({ path: path || undefined, createTableMs: 0, deleteTableMs: 0 })
server.listen(Number(port), '127.0.0.1', () => console.log('port ' + server.address().port))
process.stdin.on('end', () => process.exit(0)).resume()
`

// process is a running dynalite.
type process struct {
	folder, data, port string
	command            *exec.Cmd
	stdin              io.Closer
}

// dynaliteFolder returns where the emulator is: in the folder that PENSTOCK_DYNALITE names, else in the
// user's cache.
func dynaliteFolder() (string, error) {
	root := os.Getenv("PENSTOCK_DYNALITE")
	if root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		root = filepath.Join(cache, "penstock", "dynalite-"+DynaliteVersion)
	}
	folder := filepath.Join(root, "node_modules", "dynalite")
	if _, err := os.Stat(filepath.Join(folder, "package.json")); err != nil { //nolint:gosec // the folder that the user names
		return "", fmt.Errorf("%w: install it by `npm install --prefix %s dynalite@%s`", err, root, DynaliteVersion)
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "", fmt.Errorf("%w: install node", err)
	}
	return folder, nil
}

// Dynalite starts an emulator in a process of its own, empty, that keeps its items in memory. It ends with
// the test. Where it is not installed the test is skipped, in CI it fails.
func Dynalite(tb testing.TB) *Server {
	tb.Helper()
	return dynalite(tb, "")
}

// DynaliteOnDisk starts one that finds its items again when it is started again.
func DynaliteOnDisk(tb testing.TB) *Server {
	tb.Helper()
	return dynalite(tb, tb.TempDir())
}

func dynalite(tb testing.TB, data string) *Server {
	tb.Helper()
	folder, err := dynaliteFolder()
	if err != nil && os.Getenv("CI") != "" {
		tb.Fatal(err)
	}
	if err != nil {
		tb.Skip(err)
	}
	p := &process{folder: folder, data: data, port: "0"}
	s := &Server{Name: "dynalite", process: p}
	s.Start(tb)
	s.URL = "http://" + net.JoinHostPort("127.0.0.1", p.port)
	tb.Cleanup(func() { s.Kill(tb) })
	return s
}

// Start starts the process again, with the items that it had and on the same port.
func (s *Server) Start(tb testing.TB) {
	tb.Helper()
	p := s.process
	p.command = exec.Command("node", "-e", dynaliteScript, p.folder, p.data, p.port) //nolint:gosec,noctx // of the test; Kill ends it
	p.command.Stderr = os.Stderr
	stdin, err := p.command.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		tb.Fatal(err)
	}
	p.stdin = stdin
	line, err := bufio.NewReader(stdout).ReadString('\n')
	port, ok := strings.CutPrefix(strings.TrimSpace(line), "port ")
	if err != nil || !ok {
		tb.Fatalf("%s does not start: %q, %v", s.Name, line, err)
	}
	p.port = port
}

// Kill ends the process at once (SIGKILL). It may be called again.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	p := s.process
	if p.command == nil {
		return
	}
	if err := p.command.Process.Kill(); err != nil {
		tb.Error(err)
	}
	_ = p.command.Wait() // it was killed: that is its error
	_ = p.stdin.Close()  // closed by Wait
	p.command = nil
}

// Pid returns the process.
func (s *Server) Pid() int { return s.process.command.Process.Pid }

// Address returns host and port of a server.
func (s *Server) Address(tb testing.TB) string {
	tb.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		tb.Fatal(err)
	}
	return u.Host
}
