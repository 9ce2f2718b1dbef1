//go:build unix

package servertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startTimeout is how long a server may take to answer.
const startTimeout = 10 * time.Second

// Redis is a running server.
type Redis struct {
	Addr string // host and port

	dir  string
	args []string
	cmd  *exec.Cmd
}

// need ends the test if a program is missing.
func need(tb testing.TB, program string) {
	tb.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	const how = "%s is missing: install the packages redis-server and redis-tools"
	if os.Getenv("CI") != "" {
		tb.Fatalf(how, program)
	}
	tb.Skipf(how, program)
}

// StartRedis starts a server with further arguments, such as "--maxmemory", "3mb". Nothing is saved unless
// they say so.
func StartRedis(tb testing.TB, args ...string) *Redis {
	tb.Helper()
	need(tb, "redis-server")
	s := &Redis{Addr: "127.0.0.1:" + strconv.Itoa(freePort(tb)), dir: tb.TempDir(), args: args}
	s.Restart(tb)
	tb.Cleanup(s.Kill)
	return s
}

// freePort returns a port that is free, and whose number plus 10000 is too: a cluster needs both.
func freePort(tb testing.TB) int {
	tb.Helper()
	for range 100 {
		first, err := listen(0)
		if err != nil {
			tb.Fatal(err)
		}
		port := first.Addr().(*net.TCPAddr).Port //nolint:errcheck // a TCP listener has a TCP address
		if port > 50000 {
			port -= 30000
		}
		_ = first.Close()
		if free(port) && free(port+10000) {
			return port
		}
	}
	tb.Fatal("no free port")
	return 0
}

func free(port int) bool {
	l, err := listen(port)
	return err == nil && l.Close() == nil
}

func listen(port int) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(context.Background(), "tcp", "127.0.0.1:"+strconv.Itoa(port))
}

// Restart starts the server again, on the same port and with the same folder.
func (s *Redis) Restart(tb testing.TB) {
	tb.Helper()
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		tb.Fatal(err)
	}
	log := filepath.Join(s.dir, "redis.log")
	args := append([]string{
		"--port", port, "--bind", host, "--dir", s.dir, "--save", "", "--logfile", log,
	}, s.args...)
	// It outlives the test's context, since what the test cleans up still needs it.
	s.cmd = exec.CommandContext(context.WithoutCancel(tb.Context()), "redis-server", args...) //nolint:gosec // arguments of tests
	s.cmd.SysProcAttr = dieWithParent()
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	for deadline := time.Now().Add(startTimeout); ; <-time.After(5 * time.Millisecond) {
		reply, err := s.Do("PING")
		if reply == "+PONG" || strings.HasPrefix(reply, "-NOAUTH") { // one that wants a password serves too
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log)
			tb.Fatalf("redis-server %v does not answer: %v\n%s", args, err, text)
		}
	}
}

// Kill ends the server at once, as kill -9 does, and waits for its end.
func (s *Redis) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Pause stops the process where it stands: connections stay, and nothing is answered. Resume goes on.
func (s *Redis) Pause(tb testing.TB) {
	tb.Helper()
	s.signal(tb, syscall.SIGSTOP)
}

// Resume ends a Pause.
func (s *Redis) Resume(tb testing.TB) {
	tb.Helper()
	s.signal(tb, syscall.SIGCONT)
}

func (s *Redis) signal(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		tb.Fatal(err)
	}
}

// Do sends one command over a connection of its own and returns the first line of its reply, and of a
// string what it holds.
func (s *Redis) Do(args ...string) (string, error) {
	dial := net.Dialer{Timeout: startTimeout}
	conn, err := dial.DialContext(context.Background(), "tcp", s.Addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(startTimeout)); err != nil {
		return "", err
	}
	return send(conn, args...)
}

// send sends a command and reads its reply.
func send(conn net.Conn, args ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := conn.Write([]byte(b.String())); err != nil {
		return "", err
	}
	reader := bufio.NewReader(conn)
	line, err := reader.ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	switch {
	case err != nil:
		return "", err
	case strings.HasPrefix(line, "-"):
		return line, errors.New(line)
	case !strings.HasPrefix(line, "$") || line == "$-1":
		return line, nil
	}
	size, err := strconv.Atoi(line[1:])
	if err != nil {
		return "", err
	}
	text := make([]byte, size)
	for got := 0; got < size; {
		n, err := reader.Read(text[got:])
		if err != nil {
			return "", err
		}
		got += n
	}
	return string(text), nil
}

// Must is Do that ends the test on an error.
func (s *Redis) Must(tb testing.TB, args ...string) string {
	tb.Helper()
	reply, err := s.Do(args...)
	if err != nil {
		tb.Fatalf("%v: %v", args, err)
	}
	return reply
}

// Integer is Must for a reply that is an integer.
func (s *Redis) Integer(tb testing.TB, args ...string) int64 {
	tb.Helper()
	n, err := strconv.ParseInt(strings.TrimPrefix(s.Must(tb, args...), ":"), 10, 64)
	if err != nil {
		tb.Fatalf("%v: %v", args, err)
	}
	return n
}

// Calls returns how often the server has run a command, such as "evalsha", refused ones left out.
func (s *Redis) Calls(tb testing.TB, command string) int64 {
	tb.Helper()
	for line := range strings.Lines(s.Must(tb, "INFO", "commandstats")) {
		rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls=")
		if !ok {
			continue
		}
		n, _, _ := strings.Cut(rest, ",")
		calls, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return calls
	}
	return 0
}
