//go:build unix

package servertest

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// RedisCluster is a cluster of servers.
type RedisCluster struct {
	Nodes []*Redis // masters and replicas, as they were begun
}

// masters is how many of the nodes begin as masters.
const masters = 3

// StartRedisCluster starts a cluster of three masters with some replicas each, and waits until all slots
// are served. Its nodes get further arguments, such as "--cluster-node-timeout", "1000".
func StartRedisCluster(tb testing.TB, replicas int, args ...string) *RedisCluster {
	tb.Helper()
	need(tb, "redis-cli")
	args = append([]string{
		"--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0",
		"--repl-diskless-sync-delay", "0",
	}, args...)
	c := &RedisCluster{}
	create := []string{"--cluster", "create"}
	for range masters * (1 + replicas) {
		s := StartRedis(tb, args...)
		c.Nodes = append(c.Nodes, s)
		create = append(create, s.Addr)
	}
	create = append(create, "--cluster-replicas", strconv.Itoa(replicas), "--cluster-yes")
	if out, err := exec.CommandContext(tb.Context(), "redis-cli", create...).CombinedOutput(); err != nil {
		tb.Fatalf("redis-cli %v: %v\n%s", create, err, out)
	}
	c.WaitReady(tb)
	return c
}

// Addrs returns the addresses of all nodes.
func (c *RedisCluster) Addrs() []string {
	var addrs []string
	for _, s := range c.Nodes {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// WaitReady waits until every node sees the cluster whole, and every replica is in step.
func (c *RedisCluster) WaitReady(tb testing.TB) {
	tb.Helper()
	for deadline := time.Now().Add(6 * startTimeout); !c.ready(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("the cluster is not ready: ", c.Nodes[0].Must(tb, "CLUSTER", "NODES"))
		}
	}
}

func (c *RedisCluster) ready() bool {
	for _, s := range c.Nodes {
		info, err := s.Do("CLUSTER", "INFO")
		if err != nil || !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_slots_ok:16384") {
			return false
		}
		repl, err := s.Do("INFO", "replication")
		if err != nil || strings.Contains(repl, "role:slave") && !strings.Contains(repl, "master_link_status:up") {
			return false
		}
	}
	return true
}

// Masters returns the nodes that are masters now.
func (c *RedisCluster) Masters() []*Redis {
	var found []*Redis
	for _, s := range c.Nodes {
		if role, err := s.Do("INFO", "replication"); err == nil && strings.Contains(role, "role:master") {
			found = append(found, s)
		}
	}
	return found
}
