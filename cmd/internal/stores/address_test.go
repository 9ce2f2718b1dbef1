package stores

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRedis(t *testing.T) {
	for text, want := range map[string]struct {
		shown string
		hosts []string
		user  string
		db    int
		tls   bool
	}{
		"redis://h":                           {"redis://h", []string{"h:6379"}, "", 0, false},
		"redis://h:1/":                        {"redis://h:1/", []string{"h:1"}, "", 0, false},
		"redis://u:p%40@h:1/3":                {"redis://h:1/3", []string{"h:1"}, "u", 3, false},
		"rediss://:p@h:1?skip_verify=true":    {"rediss://h:1?skip_verify=true", []string{"h:1"}, "", 0, true},
		"redis-cluster://u:p@a:1,b:2,c":       {"redis-cluster://a:1,b:2,c", []string{"a:1", "b:2", "c:6379"}, "u", 0, false},
		"rediss-cluster://a:1,b:2/?db=0":      {"rediss-cluster://a:1,b:2/?db=0", []string{"a:1", "b:2"}, "", 0, true},
		"redis://s:1?addr=t:2&master_set=one": {"redis://s:1?addr=t:2&master_set=one", []string{"s:1", "t:2"}, "", 0, false},
	} {
		a, err := Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want.shown, a.String(), text)
		assert.Equal(t, want.hosts, a.redis.InitAddress, text)
		assert.Equal(t, want.user, a.redis.Username, text)
		assert.Equal(t, want.db, a.redis.SelectDB, text)
		assert.Equal(t, want.tls, a.redis.TLSConfig != nil, text)
		assert.True(t, a.redis.DisableRetry, "nothing is sent twice")
		assert.Equal(t, strings.Contains(text, "-cluster"), a.cluster, text)
	}
}

func TestParseDynamoDB(t *testing.T) {
	a, err := Parse("dynamodb://my_Table.1-x?region=eu-west-1&endpoint=http://localhost:8000&create=true&floats=1&profile=p")
	require.NoError(t, err)
	assert.Equal(t, []string{"my_Table.1-x", "eu-west-1", "http://localhost:8000", "p"}, []string{a.table, a.region, a.endpoint, a.profile})
	assert.True(t, a.create && a.floats && a.emulated())
	for endpoint, emulated := range map[string]bool{
		"http://127.0.0.1:8000": true, "http://[::1]:8000": true, "http://db.example.com": false, "http://10.0.0.1": false,
	} {
		a, err := Parse("dynamodb://t?endpoint=" + endpoint)
		require.NoError(t, err)
		assert.Equal(t, emulated, a.emulated(), endpoint)
	}
}

// Whatever is wrong with a URL, its password is not told.
func TestNoErrorTellsThePassword(t *testing.T) {
	for _, text := range []string{
		"redis://u:hunter2@", "redis://u:hunter2@h:port", "redis://u:hunter2%@h", "redis://u:hunter2@h/x/y", "redis://u:hunter2@h?odd=1",
		"redis-cluster://u:hunter2@a,b:c/2", "dynamodb://u:hunter2@t", "redis://u:hunter2 @h", "odd://u:hunter2@h", "redis://u:hunter2#@h:1",
		"redis://u:hunter2/@h:1", "redis://u:12/hunter2@h", "redis://u:12?hunter2@h", "redis://u:12#hunter2@h", "redis://u:12/hunter2@h/1",
	} {
		a, err := Parse(text)
		if err == nil {
			assert.NotContains(t, a.String(), "hunter2")
			continue
		}
		assert.NotContains(t, err.Error(), "hunter2", text)
	}
}
