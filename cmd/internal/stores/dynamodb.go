package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
)

// DynamoDB is a table.
type DynamoDB struct {
	// Client is the one that the storage uses, Table the table's name.
	Client *awsdynamodb.Client
	Table  string

	address *Address
	config  aws.Config
	storage *dynamodb.Store
	pool    *http.Transport
}

// connections is how many idle connections are kept: as many as there may be
// calls at once.
const connections = 512

func openDynamoDB(ctx context.Context, a *Address) (Target, error) {
	cfg, err := a.configuration(ctx)
	if err != nil {
		return nil, err
	}
	d := &DynamoDB{Table: a.table, address: a, config: cfg, pool: newPool()}
	d.Client = d.client(nil)
	if a.create {
		if err := dynamodb.CreateTable(ctx, d.Client, a.table); err != nil {
			return nil, a.explainDynamoDB(err)
		}
	}
	if d.storage, err = dynamodb.Open(ctx, d.Client, a.table, a.floatNumbers()...); err != nil {
		return nil, a.explainDynamoDB(err)
	}
	return d, nil
}

// configuration reads region and credentials from where all programs of AWS do.
// An emulator on this machine looks at neither, so it works without.
func (a *Address) configuration(ctx context.Context) (aws.Config, error) {
	with := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if a.region != "" {
		with = append(with, config.WithRegion(a.region))
	}
	if a.profile != "" {
		with = append(with, config.WithSharedConfigProfile(a.profile))
	}
	if a.emulated() && a.profile == "" && os.Getenv("AWS_ACCESS_KEY_ID") == "" && os.Getenv("AWS_PROFILE") == "" {
		with = append(with, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("none", "none", "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, with...)
	if err != nil {
		return cfg, fmt.Errorf("%s: %w", a, err)
	}
	if cfg.Region == "" && a.emulated() {
		cfg.Region = "us-east-1"
	}
	if cfg.Region == "" {
		return cfg, fmt.Errorf("%s: the region is missing; add region=, such as dynamodb://%s?region=eu-west-1, "+
			"or set AWS_REGION", a, a.table)
	}
	return cfg, nil
}

// emulated reports whether the endpoint is on this machine.
func (a *Address) emulated() bool {
	u, err := url.Parse(a.endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func newPool() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, TLSHandshakeTimeout: dialTimeout,
	}
}

// client makes a client; loss may be nil.
func (d *DynamoDB) client(loss *Loss) *awsdynamodb.Client {
	return awsdynamodb.NewFromConfig(d.config, func(o *awsdynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: d.pool}
		if loss != nil {
			o.HTTPClient = &http.Client{Transport: losingTransport{d.pool, loss}}
		}
		if d.address.endpoint != "" {
			o.BaseEndpoint = &d.address.endpoint
		}
	})
}

func (a *Address) floatNumbers() []dynamodb.Option {
	if a.floats {
		return []dynamodb.Option{dynamodb.WithFloatNumbers()}
	}
	return nil
}

// About says what it is.
func (d *DynamoDB) About() string {
	about := fmt.Sprintf("dynamodb table %s in %s", d.Table, d.config.Region)
	if endpoint := d.Client.Options().BaseEndpoint; endpoint != nil { // also of AWS_ENDPOINT_URL, or a profile
		about = fmt.Sprintf("dynamodb table %s at %s", d.Table, *endpoint)
	}
	if low, high, ok := d.storage.Skew(); ok {
		about += fmt.Sprintf(", this clock ahead of the server's by %v to %v", low.Round(dateGrain), high.Round(dateGrain))
	}
	return about
}

// dateGrain is how exactly the difference of the clocks is shown.
const dateGrain = 10_000_000

// Storage returns the storage as programs use it.
func (d *DynamoDB) Storage() store.Storage { return d.storage }

// AtClock returns a storage at the time of c.
func (d *DynamoDB) AtClock(ctx context.Context, c engine.Clock) (store.Storage, error) {
	return d.open(ctx, d.Client, dynamodb.WithClock(c), dynamodb.WithMaxSkew(dynamodb.AnySkew))
}

// Losing returns a storage whose answers may be lost.
func (d *DynamoDB) Losing(ctx context.Context, loss *Loss) (store.Storage, error) {
	return d.open(ctx, d.client(loss))
}

func (d *DynamoDB) open(ctx context.Context, client *awsdynamodb.Client, opts ...dynamodb.Option) (store.Storage, error) {
	s, err := dynamodb.Open(ctx, client, d.Table, append(opts, d.address.floatNumbers()...)...)
	if err != nil {
		return nil, d.address.explainDynamoDB(err)
	}
	return s, nil
}

// ForgetsByItself reports that items stay until they are collected, which takes
// DynamoDB up to some days.
func (d *DynamoDB) ForgetsByItself() bool { return false }

// Close ends all connections that are idle.
func (d *DynamoDB) Close() error {
	err := d.storage.Close()
	d.pool.CloseIdleConnections()
	return err
}

// refusalCodes are the codes of a server's errors and what helps.
var refusalCodes = map[string]string{
	"ResourceNotFoundException":    "there is no such table; add create=true to make it, or make it by dynamodb.CreateTable",
	"UnrecognizedClientException":  "the server does not know these credentials; look at AWS_ACCESS_KEY_ID, AWS_PROFILE, or profile=",
	"InvalidSignatureException":    "the secret key is wrong; look at AWS_SECRET_ACCESS_KEY, or the profile",
	"IncompleteSignatureException": "the credentials are not complete; look at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
	"MissingAuthenticationToken":   "the credentials are missing; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile=",
	"ExpiredTokenException":        "the credentials have expired; get new ones",
	"AccessDeniedException":        "these credentials may not do that; docs/stores-dynamodb.md lists the permissions",
	"UnknownOperationException":    "it is not DynamoDB that runs there",
	"ValidationException":          "the server refuses the request; is the table's name right?",
}

// explainDynamoDB says what an error means and what helps.
func (a *Address) explainDynamoDB(err error) error {
	var api smithy.APIError
	var op *net.OpError
	var name *net.DNSError
	help := ""
	switch {
	case errors.As(err, &api):
		help = refusalCodes[api.ErrorCode()]
	case errors.Is(err, dynamodb.ErrTable), errors.Is(err, dynamodb.ErrSkew):
	case strings.Contains(err.Error(), "get credentials"), strings.Contains(err.Error(), "refresh cached credentials"):
		help = "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile="
	case errors.As(err, &name):
		help = "there is no such host; is the region right, and the endpoint?"
	case errors.As(err, &op) && op.Op == "dial":
		help = "cannot connect; is it running there, and is the endpoint right?"
	case errors.Is(err, context.DeadlineExceeded):
		help = "no answer in time; are region and endpoint right?"
	}
	if help == "" {
		return fmt.Errorf("%s: %w", a, err)
	}
	return fmt.Errorf("%s: %s (%w)", a, help, err)
}
