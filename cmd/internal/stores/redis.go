package stores

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/redis/rueidis"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/redis"
)

// Redis is a server, or a cluster of them.
type Redis struct {
	// Client is the one that the storage uses.
	Client rueidis.Client

	address *Address
	storage *redis.Storage
	about   string
}

// leastVersion is the first version that has what the scripts use: SET with PXAT.
var leastVersion = [2]int{6, 2}

func openRedis(ctx context.Context, a *Address) (Target, error) {
	client, err := rueidis.NewClient(a.redis)
	if err != nil {
		return nil, a.explainRedis(err)
	}
	r := &Redis{Client: client, address: a}
	if err := r.look(ctx); err != nil {
		client.Close()
		return nil, a.explainRedis(err)
	}
	if r.storage, err = redis.FromRueidis(client); err != nil { //nolint:contextcheck // what it starts ends with Close
		client.Close()
		return nil, a.explainRedis(err)
	}
	return r, nil
}

// look finds out what the server is.
func (r *Redis) look(ctx context.Context) error {
	clustered := r.Client.Mode() == rueidis.ClientModeCluster
	if r.address.cluster && !clustered {
		return errors.New("the server is not part of a cluster; write redis:// in place of redis-cluster://")
	}
	info, err := r.Client.Do(ctx, r.Client.B().Info().Section("server").Build()).ToString()
	if err != nil {
		return err
	}
	version := field(info, "redis_version:")
	var have [2]int
	if _, err := fmt.Sscanf(version, "%d.%d", &have[0], &have[1]); err == nil && slices.Compare(have[:], leastVersion[:]) < 0 {
		return fmt.Errorf("the server is Redis %s; penstock needs %d.%d or later", version, leastVersion[0], leastVersion[1])
	}
	r.about = "redis " + version
	if clustered {
		r.about += fmt.Sprintf(", cluster of %d masters", len(r.Masters(ctx)))
	}
	return nil
}

// field returns what follows a name at the beginning of a line.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok {
			return value
		}
	}
	return ""
}

// Masters returns a client for each node that takes writes.
func (r *Redis) Masters(ctx context.Context) []rueidis.Client {
	if r.Client.Mode() != rueidis.ClientModeCluster {
		return []rueidis.Client{r.Client}
	}
	var masters []rueidis.Client
	for _, node := range r.Client.Nodes() {
		role, err := node.Do(ctx, node.B().Info().Section("replication").Build()).ToString()
		if err == nil && field(role, "role:") == "master" {
			masters = append(masters, node)
		}
	}
	return masters
}

// About says what it is.
func (r *Redis) About() string { return r.about }

// Storage returns the storage as programs use it.
func (r *Redis) Storage() store.Storage { return r.storage }

// AtClock returns a storage at the time of c.
func (r *Redis) AtClock(_ context.Context, c engine.Clock) (store.Storage, error) {
	return r.storage.AtClock(c), nil
}

// Losing returns a storage whose answers may be lost.
func (r *Redis) Losing(_ context.Context, loss *Loss) (store.Storage, error) {
	opt := r.address.redis
	opt.DialCtxFn = loss.dial
	s, err := redis.New(opt) //nolint:contextcheck // what it starts ends with Close
	if err != nil {
		return nil, r.address.explainRedis(err)
	}
	return s, nil
}

// ForgetsByItself reports that keys expire.
func (r *Redis) ForgetsByItself() bool { return true }

// Close ends all connections.
func (r *Redis) Close() error {
	err := r.storage.Close()
	r.Client.Close()
	return err
}

// refusals are what a server says and what helps, the first that fits.
var refusals = []struct{ says, help string }{
	{"WRONGPASS", "the server does not know that user and password; write them as redis://user:password@host:6379, " +
		"with %XX for special characters"},
	{"NOAUTH", "the server wants a password; write redis://:password@host:6379, or redis://user:password@host:6379"},
	{"NOPERM", rights},
	{"The user executing the script", rights},
	{"DB index is out of range", "the server has no such database; write a smaller number behind the /"},
	{"CLUSTERDOWN", "the cluster does not serve all slots; see redis-cli cluster info"},
	{"unknown message type", "no answer of Redis; is it Redis that runs there, and does it speak TLS (then write rediss://)?"},
	{"READONLY", "the server is a replica; name its master, or sentinels by addr= and master_set="},
	{"MISCONF", "the server takes no writes, since it cannot save its data; see its log"},
	{"OOM", "the server's memory is full (maxmemory); give it more, or a server of its own to limits"},
	{"LOADING", "the server is reading its data; try again when it has started"},
}

const rights = "that user may not do what penstock needs: EVAL, EVALSHA, TIME, GET, SET, DEL, INFO, and CLUSTER SLOTS in a cluster, " +
	"on the keys penstock-*"

// explainRedis says what an error means and what helps.
func (a *Address) explainRedis(err error) error {
	for _, r := range refusals {
		if strings.Contains(err.Error(), r.says) {
			return fmt.Errorf("%s: %s (%w)", a, r.help, err)
		}
	}
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var op *net.OpError
	help := ""
	switch {
	case errors.As(err, &record):
		help = "the server does not speak TLS; write redis:// in place of rediss://"
	case errors.As(err, &unknown), errors.As(err, &host):
		help = "the server's certificate is not trusted; add its authority to the system's, or ?skip_verify=true to trust any"
	case errors.As(err, &op) && op.Op == "dial":
		help = "cannot connect; is Redis running there, and are host and port right?"
	case errors.Is(err, context.DeadlineExceeded), strings.Contains(err.Error(), "EOF"), errors.As(err, &op):
		help = "no answer of Redis; is it Redis that runs there, and does it speak TLS (then write rediss://)?"
		if a.scheme == "rediss" {
			help = "no answer over TLS; is it Redis that runs there, and does it speak TLS (else write redis://)?"
		}
	}
	if help == "" {
		return fmt.Errorf("%s: %w", a, err)
	}
	return fmt.Errorf("%s: %s (%w)", a, help, err)
}
