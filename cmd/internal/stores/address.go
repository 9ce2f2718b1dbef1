// Package stores reaches the store that a user names by a URL: Redis, DynamoDB,
// or memory.
package stores

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// Forms are the forms of a URL, for help and errors.
const Forms = "redis://host:6379, rediss:// (TLS), redis-cluster://host:7000,host:7001, " +
	"dynamodb://table?region=eu-west-1, or memory://"

// Address is where a store is.
type Address struct {
	scheme string
	shown  string

	redis   rueidis.ClientOption
	cluster bool // it has to be one

	table, region, endpoint, profile string
	create, floats                   bool
}

// String returns the URL without user and password.
func (a *Address) String() string { return a.shown }

// options are the words that may follow the ? of a URL, by scheme.
var options = map[string][]string{
	"redis":    {"addr", "db", "dial_timeout", "master_set"},
	"rediss":   {"addr", "db", "dial_timeout", "master_set", "skip_verify"},
	"dynamodb": {"create", "endpoint", "floats", "profile", "region"},
	"memory":   {},
}

// Parse reads a URL. No error holds a part of it that could be a password.
func Parse(text string) (*Address, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return nil, fmt.Errorf("the store is not a URL; write %s", Forms)
	}
	a := &Address{scheme: scheme}
	if plain, ok := strings.CutSuffix(scheme, "-cluster"); ok && (plain == "redis" || plain == "rediss") {
		a.cluster, a.scheme = true, plain
		text = plain + "://" + oneHost(rest)
	}
	if _, ok := options[a.scheme]; !ok {
		return nil, fmt.Errorf("stores of the kind %s:// are not known; write %s", scheme, Forms)
	}
	u, err := url.Parse(text)
	if end := strings.IndexAny(rest, "/?#"); err != nil || end >= 0 && strings.LastIndexByte(rest, '@') > end {
		return nil, errors.New("the URL cannot be read; in user and password write characters other than letters and digits as %XX, " +
			"and the port as a number")
	}
	if err := a.checkOptions(u.Query()); err != nil {
		return nil, err
	}
	a.shown = scheme + "://" + shownHost(rest)
	switch a.scheme {
	case "memory":
		if u.Host != "" || u.Path != "" {
			return nil, errors.New("memory:// takes neither a host nor a path; write memory://")
		}
		return a, nil
	case "dynamodb":
		err = a.parseDynamoDB(u)
	default:
		err = a.parseRedis(u)
	}
	return a, err
}

// oneHost turns several hosts with commas between them into one and an option
// addr for each of the others.
func oneHost(rest string) string {
	before, query, _ := strings.Cut(rest, "?")
	hosts, path, slash := strings.Cut(before, "/")
	at := strings.LastIndexByte(hosts, '@') + 1
	all := strings.Split(hosts[at:], ",")
	out := hosts[:at] + all[0]
	if slash {
		out += "/" + path
	}
	for _, other := range all[1:] {
		if strings.HasSuffix(other, "]") || !strings.Contains(other, ":") {
			other += ":6379"
		}
		query += "&addr=" + url.QueryEscape(other)
	}
	return out + "?" + strings.TrimPrefix(query, "&")
}

// shownHost leaves out user and password.
func shownHost(rest string) string {
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	return rest[strings.LastIndexByte(rest[:end], '@')+1:]
}

func (a *Address) checkOptions(given url.Values) error {
	known := options[a.scheme]
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return fmt.Errorf("%s:// has no option %s; it has none", a.scheme, name)
		case !slices.Contains(known, name):
			return fmt.Errorf("%s:// has no option %s; it has %s", a.scheme, name, strings.Join(known, ", "))
		case len(given[name]) > 1 && name != "addr":
			return fmt.Errorf("the option %s is given twice; give it once", name)
		}
	}
	return nil
}

// dialTimeout is how long a connection may take to be made.
const dialTimeout = 5 * time.Second

func (a *Address) parseRedis(u *url.URL) error {
	if u.Hostname() == "" {
		return fmt.Errorf("the host is missing; write %s://host:6379", a.scheme)
	}
	if u.Path == "/" {
		u.Path = "" // as many write it
	}
	opt, err := rueidis.ParseURL(u.String())
	if err != nil {
		return fmt.Errorf("%w; a whole URL is %s://user:password@host:6379/0", err, a.scheme)
	}
	if a.cluster && opt.SelectDB != 0 {
		return errors.New("a cluster has the database 0 only; leave the database out")
	}
	if opt.Dialer.Timeout == 0 {
		opt.Dialer.Timeout = dialTimeout
	}
	opt.DisableRetry, opt.DisableCache = true, true // as redis.New does: nothing is sent twice
	a.redis = opt
	return nil
}

func (a *Address) parseDynamoDB(u *url.URL) error {
	q := u.Query()
	a.table, a.region, a.endpoint, a.profile = u.Host, q.Get("region"), q.Get("endpoint"), q.Get("profile")
	if u.User != nil {
		return errors.New("dynamodb:// takes no user and password: credentials come from the environment " +
			"(AWS_ACCESS_KEY_ID and so on), the shared configuration files, or the machine's role")
	}
	if a.table == "" || u.Path != "" && u.Path != "/" {
		return errors.New("the URL has to name one table, as in dynamodb://limits?region=eu-west-1")
	}
	if a.endpoint != "" {
		if e, err := url.Parse(a.endpoint); err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
			return errors.New("the option endpoint has to be a URL, such as endpoint=http://127.0.0.1:8000")
		}
	}
	return errors.Join(flag(q, "create", &a.create), flag(q, "floats", &a.floats))
}

// flag reads an option that is true or false.
func flag(q url.Values, name string, into *bool) (err error) {
	if !q.Has(name) {
		return nil
	}
	if *into, err = strconv.ParseBool(q.Get(name)); err != nil {
		return fmt.Errorf("the option %s has to be true or false", name)
	}
	return nil
}
