package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/penstock-go/penstock/store"
)

// reloadSlots is how often a cluster client of go-redis looks where the slots are. By default it is a
// minute, and until then calls go to a node that is dead.
const reloadSlots = time.Second

// FromGoRedis makes a storage for programs that use go-redis: of a *redis.Client, also one by
// sentinels, or a *redis.ClusterClient. It copies the options of c, sets those that have to be set, and
// opens connections of its own, which Close closes. c itself stays as it is; its hooks are not taken along.
//
//	MaxRetries                  -1     else a call whose answer is lost is charged again
//	ContextTimeoutEnabled       true   else deadlines are not kept
//	DialerRetries               1      else a server that is away takes a deadline and more
//	ClusterStateReloadInterval  1s     at most: else the successor of a node is not found for a minute
//	ReadOnly, RouteByLatency, RouteRandomly  false: limits are written to
//
// A cluster client sends commands again too when a connection breaks, whatever MaxRetries is. The
// storage's commands say that they must not be. Errors: [store.ErrOption] for other clients, among
// them a Ring, which begins a key anew on another node when one fails. That the server of a *redis.Client
// is one of a cluster is not noticed here: its calls for the keys of other nodes fail, and their error says so.
//
// go-redis writes each connection that it cannot make to a log of its own; redis.SetLogger sets that.
func FromGoRedis(c goredis.UniversalClient) (*Storage, error) {
	switch c := c.(type) {
	case *goredis.Client:
		if c != nil {
			return newStorage(&goredisClient{goredis.NewClient(safeOptions(c.Options()))})
		}
	case *goredis.ClusterClient:
		if c != nil {
			return newStorage(&goredisClient{goredis.NewClusterClient(safeClusterOptions(c.Options()))})
		}
	}
	return nil, fmt.Errorf("%w: redis.FromGoRedis of a %T: use a *redis.Client or a *redis.ClusterClient", store.ErrOption, c)
}

func safeOptions(given *goredis.Options) *goredis.Options {
	opt := *given
	opt.MaxRetries, opt.ContextTimeoutEnabled, opt.DialerRetries = -1, true, 1
	opt.PushNotificationProcessor = nil // that of the other client; a new one is made
	return &opt
}

func safeClusterOptions(given *goredis.ClusterOptions) *goredis.ClusterOptions {
	opt := *given
	opt.MaxRetries, opt.ContextTimeoutEnabled, opt.DialerRetries = -1, true, 1
	opt.PushNotificationProcessor = nil // as above
	opt.ReadOnly, opt.RouteByLatency, opt.RouteRandomly = false, false, false
	if opt.ClusterStateReloadInterval <= 0 || opt.ClusterStateReloadInterval > reloadSlots {
		opt.ClusterStateReloadInterval = reloadSlots
	}
	return &opt
}

// goredisClient is a client of go-redis.
type goredisClient struct{ c goredis.UniversalClient }

// once is a command that is sent once, but for MOVED and ASK, with which a node says that it has not
// run it.
type once struct{ *goredis.Cmd }

// NoRetry makes go-redis not send it again.
func (once) NoRetry() bool { return true }

func (g *goredisClient) run(ctx context.Context, calls []call, replies []reply) {
	unknown := func(err error) bool {
		var text goredis.Error
		return errors.As(err, &text) && isNoScript(text.Error())
	}
	repaired(calls, replies, unknown, func(calls []call, replies []reply) { g.send(ctx, calls, replies) })
	for i := range replies {
		replies[i].err = goredisError(replies[i].err)
	}
}

// send sends calls once. The error of a command is in the command.
func (g *goredisClient) send(ctx context.Context, calls []call, replies []reply) {
	if len(calls) == 1 {
		cmd := command(ctx, &calls[0])
		err := g.c.Process(ctx, cmd)
		readGoredis(cmd, err, &replies[0])
		return
	}
	pipe, cmds := g.c.Pipeline(), make([]once, len(calls))
	for i := range calls {
		cmds[i] = command(ctx, &calls[i])
		if err := pipe.Process(ctx, cmds[i]); err != nil {
			cmds[i].SetErr(err)
		}
	}
	_, err := pipe.Exec(ctx)
	for i := range cmds {
		if cmds[i].Err() == nil && cmds[i].Val() == nil { // not even tried
			cmds[i].SetErr(err)
		}
		readGoredis(cmds[i], cmds[i].Err(), &replies[i])
	}
}

func command(ctx context.Context, c *call) once {
	args := make([]any, 0, 3+len(c.keys)+len(c.args))
	if c.text {
		args = append(args, "eval", c.script.text, len(c.keys))
	} else {
		args = append(args, "evalsha", c.script.sha, len(c.keys))
	}
	for _, key := range c.keys {
		args = append(args, key)
	}
	for _, arg := range c.args {
		args = append(args, arg)
	}
	cmd := once{goredis.NewCmd(ctx, args...)}
	cmd.SetFirstKeyPos(3)
	return cmd
}

// readGoredis reads the result of a script.
func readGoredis(cmd once, err error, r *reply) {
	r.reset()
	if r.err = err; err != nil {
		return
	}
	values, ok := cmd.Val().([]any)
	if !ok {
		r.err = errReply
		return
	}
	for _, value := range values {
		switch v := value.(type) {
		case int64:
			r.numbers = append(r.numbers, v)
		case string:
			r.word = v
		default:
			r.err = errReply
		}
	}
}

// goredisError says what an error means.
func goredisError(err error) error {
	var text goredis.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, goredis.Nil): // a reply, and none of the script's: the script may have run
		return errReply
	case errors.As(err, &text), unsent(err), errors.Is(err, goredis.ErrPoolTimeout),
		errors.Is(err, goredis.ErrPoolExhausted), errors.Is(err, goredis.ErrClosed):
		return refused(err)
	}
	return fmt.Errorf("redis: %w", err)
}

func (g *goredisClient) remove(ctx context.Context, key string) error {
	cmd := once{goredis.NewCmd(ctx, "del", key)}
	return goredisError(g.c.Process(ctx, cmd))
}

func (g *goredisClient) ranges(ctx context.Context) (shardMap, error) {
	cluster, ok := g.c.(*goredis.ClusterClient)
	if !ok {
		return nil, nil
	}
	parts, err := cluster.ClusterSlots(ctx).Result() //nolint:staticcheck // CLUSTER SHARDS is not there before Redis 7
	if err != nil {
		return nil, err
	}
	ranges := make([]slotRange, 0, len(parts))
	for _, part := range parts {
		if len(part.Nodes) > 0 {
			ranges = append(ranges, slotRange{int64(part.Start), int64(part.End), part.Nodes[0].Addr})
		}
	}
	return newShardMap(ranges), nil
}

func (g *goredisClient) close() error {
	if err := g.c.Close(); !errors.Is(err, goredis.ErrClosed) {
		return err
	}
	return nil // it was closed before
}
