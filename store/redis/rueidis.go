package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/penstock-go/penstock/store"
)

// New connects to Redis by a client of rueidis of its own: to one server, a cluster (which it finds
// out), or by sentinels. Whatever opt says, retries, the client-side cache and the lifetime of connections
// are switched off, and calls go to masters only: rueidis sends again what waits on a connection whose
// lifetime ends, whether it was executed or not. Errors: [store.ErrOption], and those of connecting, which say what
// may be wrong with the address or the options.
func New(opt rueidis.ClientOption) (*Storage, error) {
	if err := checkOptions(&opt); err != nil {
		return nil, err
	}
	opt.DisableRetry, opt.DisableCache, opt.ConnLifetime = true, true, 0
	opt.SendToReplicas, opt.ReadNodeSelector = nil, nil
	opt.ReplicaSelector = nil //nolint:staticcheck // deprecated, but obeyed where somebody has set it
	opt.Standalone.ReplicaAddress = nil
	c, err := rueidis.NewClient(opt)
	if err != nil {
		return nil, connecting(fmt.Sprintf("connecting to %v", opt.InitAddress), err)
	}
	return newStorage(&rueidisClient{c, true})
}

// checkOptions returns what is wrong with options.
func checkOptions(opt *rueidis.ClientOption) error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: redis.New "+format, append([]any{store.ErrOption}, args...)...))
	}
	if len(opt.InitAddress) == 0 {
		bad(`without InitAddress: name servers, such as []string{"127.0.0.1:6379"}`)
	}
	if opt.ReplicaOnly {
		bad("with ReplicaOnly: limits are written to, use masters")
	}
	if most := rueidis.MaxPipelineMultiplex; opt.PipelineMultiplex > most {
		bad("with PipelineMultiplex %d: use up to %d, or leave it out", opt.PipelineMultiplex, most)
	}
	if d := opt.ClusterOption.ShardsRefreshInterval; d < 0 {
		bad("with ShardsRefreshInterval %v: use one above 0, or leave it out", d)
	}
	if d := opt.Sentinel.TopologyRefreshInterval; d < 0 {
		bad("with TopologyRefreshInterval %v: use one above 0, or leave it out", d)
	}
	return errors.Join(errs...)
}

// FromRueidis uses a client that the program has already, and does not close it. rueidis itself
// retries commands that only read: of those there are none here. It must not send scripts to replicas,
// and must have no ConnLifetime, with which calls may be charged twice, see [New].
func FromRueidis(c rueidis.Client) (*Storage, error) {
	if c == nil {
		return nil, fmt.Errorf("%w: redis.FromRueidis(nil): pass a client", store.ErrOption)
	}
	return newStorage(&rueidisClient{c, false})
}

// rueidisClient is a client of rueidis, which brings the commands of concurrent callers together by
// itself and follows MOVED and ASK.
type rueidisClient struct {
	c   rueidis.Client
	own bool
}

func (r *rueidisClient) run(ctx context.Context, calls []call, replies []reply) {
	unknown := func(err error) bool {
		text, ok := rueidis.IsRedisErr(err)
		return ok && text.IsNoScript()
	}
	repaired(calls, replies, unknown, func(calls []call, replies []reply) { r.send(ctx, calls, replies) })
	for i := range replies {
		replies[i].err = rueidisError(replies[i].err)
	}
}

func (r *rueidisClient) send(ctx context.Context, calls []call, replies []reply) {
	if len(calls) == 1 {
		readRueidis(r.c.Do(ctx, r.command(&calls[0])), &replies[0])
		return
	}
	commands := make(rueidis.Commands, len(calls))
	for i := range calls {
		commands[i] = r.command(&calls[i])
	}
	for i, result := range r.c.DoMulti(ctx, commands...) {
		readRueidis(result, &replies[i])
	}
}

func (r *rueidisClient) command(c *call) rueidis.Completed {
	if c.text {
		return r.c.B().Eval().Script(c.script.text).Numkeys(int64(len(c.keys))).Key(c.keys...).Arg(c.args...).Build()
	}
	return r.c.B().Evalsha().Sha1(c.script.sha).Numkeys(int64(len(c.keys))).Key(c.keys...).Arg(c.args...).Build()
}

// readRueidis reads the result of a script.
func readRueidis(result rueidis.RedisResult, r *reply) {
	r.reset()
	values, err := result.ToArray()
	if err != nil {
		r.err = err
		return
	}
	for i := range values {
		if values[i].IsString() {
			r.word, err = values[i].ToString()
		} else {
			var n int64
			n, err = values[i].AsInt64()
			r.numbers = append(r.numbers, n)
		}
		if err != nil {
			r.err = errReply
			return
		}
	}
}

// rueidisError says what an error means.
func rueidisError(err error) error {
	switch {
	case err == nil:
		return nil
	case isServerError(err), unsent(err), errors.Is(err, rueidis.ErrNoSlot):
		return refused(err)
	}
	return fmt.Errorf("redis: %w", err)
}

func isServerError(err error) bool {
	_, ok := rueidis.IsRedisErr(err)
	return ok
}

func (r *rueidisClient) remove(ctx context.Context, key string) error {
	return rueidisError(r.c.Do(ctx, r.c.B().Del().Key(key).Build()).Error())
}

func (r *rueidisClient) ranges(ctx context.Context) (shardMap, error) {
	if r.c.Mode() != rueidis.ClientModeCluster {
		return nil, nil
	}
	parts, err := r.c.Do(ctx, r.c.B().ClusterSlots().Build()).ToArray()
	if err != nil {
		return nil, err
	}
	ranges := make([]slotRange, 0, len(parts))
	for _, part := range parts {
		one, err := part.ToArray()
		if err != nil || len(one) < 3 {
			return nil, errReply
		}
		first, err1 := one[0].AsInt64()
		last, err2 := one[1].AsInt64()
		master, err3 := one[2].ToArray()
		if errors.Join(err1, err2, err3) != nil || len(master) < 2 {
			return nil, errReply
		}
		host, _ := master[0].ToString() // empty where a node does not know its own address
		port, _ := master[1].AsInt64()
		ranges = append(ranges, slotRange{first, last, fmt.Sprint(host, ":", port)})
	}
	return newShardMap(ranges), nil
}

func (r *rueidisClient) close() error {
	if r.own {
		r.c.Close()
	}
	return nil
}
