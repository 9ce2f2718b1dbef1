// Package examples_test holds what the examples need together.
package examples_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// What the examples tell their reader to start is in the compose file, on the address that they use.
func TestComposeFile(t *testing.T) {
	text, err := os.ReadFile("compose.yaml")
	require.NoError(t, err)
	var file struct {
		Services map[string]struct {
			Image   string
			Command []string
			Ports   []string
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	up := regexp.MustCompile(`docker compose up --detach --wait (\S+)`)
	for program, want := range map[string]struct{ service, addr string }{
		"redis": {"redis", "127.0.0.1:6379"}, "hybrid": {"redis", "127.0.0.1:6379"},
		"redis-cluster": {"cluster", "127.0.0.1:7001"}, "dynamodb": {"dynamodb", "127.0.0.1:8000"},
	} {
		source, err := os.ReadFile(program + "/main.go")
		require.NoError(t, err)
		call := up.FindStringSubmatch(string(source))
		require.Len(t, call, 2, program)
		assert.Equal(t, want.service, call[1], program)
		service, ok := file.Services[call[1]]
		require.True(t, ok, program)
		assert.NotEmpty(t, service.Image, program)
		assert.NotEmpty(t, service.Command, program)
		assert.Contains(t, string(source), want.addr, program)
		assert.True(t, slices.ContainsFunc(service.Ports, func(p string) bool { return strings.HasPrefix(p, want.addr) }),
			"%s: %s is not among the ports %v", program, want.addr, service.Ports)
	}
}
