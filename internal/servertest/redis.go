//go:build unix

// Package servertest starts real servers for the tests of other modules, on free ports of 127.0.0.1
// and in temporary folders, and ends them with the test.
//
// Where a server is missing the test is skipped, or fails if the environment variable CI is set.
package servertest

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startTimeout is how long a server may take to answer.
const startTimeout = 20 * time.Second

// Redis starts a server with further arguments, such as "--requirepass", "secret", and returns its
// host and port. Nothing is saved.
func Redis(tb testing.TB, args ...string) string {
	tb.Helper()
	need(tb, "redis-server")
	need(tb, "redis-cli")
	port := freePort(tb)
	dir := tb.TempDir()
	args = append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--logfile", "redis.log"}, args...)
	server := exec.Command("redis-server", args...) //nolint:gosec,noctx // of the test; its end is below
	if err := server.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	until(tb, "redis-server "+strings.Join(args, " "), func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port) //nolint:noctx // of this machine
		return err == nil && conn.Close() == nil
	})
	return "127.0.0.1:" + port
}

// RedisCluster starts a cluster of three masters without replicas and returns their hosts and ports.
func RedisCluster(tb testing.TB) []string {
	tb.Helper()
	const masters = 3
	create, nodes := []string{"--cluster", "create"}, []string{}
	for range masters {
		nodes = append(nodes, Redis(tb, "--cluster-enabled", "yes"))
	}
	create = append(append(create, nodes...), "--cluster-replicas", "0", "--cluster-yes")
	if out, err := exec.Command("redis-cli", create...).CombinedOutput(); err != nil { //nolint:gosec,noctx // of the test
		tb.Fatalf("redis-cli %v: %v\n%s", create, err, out)
	}
	for _, node := range nodes {
		until(tb, "the cluster", func() bool {
			info := RedisCLI(tb, node, "CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return nodes
}

// RedisCLI sends a command to a server and returns what it answers.
func RedisCLI(tb testing.TB, addr string, args ...string) string {
	tb.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		tb.Fatal(err)
	}
	args = append([]string{"-h", host, "-p", port}, args...)
	out, err := exec.Command("redis-cli", args...).CombinedOutput() //nolint:gosec,noctx // of the test
	if err != nil {
		tb.Fatalf("redis-cli %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

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

// until waits for something that a server does.
func until(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(startTimeout); !done(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("%s is not ready after %v", what, startTimeout)
		}
	}
}

// freePort returns a port that is free, and whose number plus 10000 is too: a cluster needs both.
func freePort(tb testing.TB) string {
	tb.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of this machine
		if err != nil {
			tb.Fatal(err)
		}
		_, text, err := net.SplitHostPort(first.Addr().String())
		_ = first.Close()
		if err != nil {
			tb.Fatal(err)
		}
		port, err := strconv.Atoi(text)
		if err != nil {
			tb.Fatal(err)
		}
		if port > 50000 {
			port -= 30000
		}
		if free(port) && free(port+10000) {
			return strconv.Itoa(port)
		}
	}
	tb.Fatal("no free port")
	return ""
}

func free(port int) bool {
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)) //nolint:noctx // of this machine
	return err == nil && l.Close() == nil
}
