package main

import (
	"bytes"
	"net/netip"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

const logFile = "../../../testdata/access.log"

func TestLogIsWhatTheGeneratorWrites(t *testing.T) {
	var made bytes.Buffer
	require.NoError(t, write(&made))
	kept, err := os.ReadFile(logFile)
	require.NoError(t, err)
	require.True(t, bytes.Equal(made.Bytes(), kept), "testdata/access.log is out of date: run go generate ./internal/gen")
}

func TestLogHoldsDocumentationAddressesOnly(t *testing.T) {
	var made bytes.Buffer
	require.NoError(t, write(&made))
	ranges := []netip.Prefix{
		netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("2001:db8::/32"),
	}
	dotted := regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
	hosts := regexp.MustCompile(`(?m)^\[?([0-9a-fA-F:]*:[0-9a-fA-F:.]+)`)
	found := 0
	check := func(text string) {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return // 192.0.2.10:51000, whose address the other pattern finds, or a browser's version
		}
		found++
		for _, r := range ranges {
			if r.Contains(addr.Unmap()) {
				return
			}
		}
		if text != "140.0.0.0" { // a browser's version
			t.Errorf("%s is not reserved for documentation", text)
		}
	}
	for _, text := range dotted.FindAllString(made.String(), -1) {
		check(text)
	}
	for _, m := range hosts.FindAllStringSubmatch(made.String(), -1) {
		check(m[1])
	}
	require.Greater(t, found, 1000)
}
