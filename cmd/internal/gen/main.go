// Command gen writes testdata/access.log: an access log in the combined format
// that looks like a small site's night, made up from a fixed seed. All of its
// addresses and names are reserved for documentation.
//
// The night is the one on which Central Europe moves its clocks forward, so
// the zone changes in the middle. In it are people, a crawler, a monitor, a
// partner's script, a scanner, a flood, IPv6 clients that change their address
// within their network, lines that are slightly out of order, and bad lines.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

//go:generate go run . ../../../testdata/access.log

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FILE")
		os.Exit(2)
	}
	if err := writeFile(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func writeFile(name string) error {
	f, err := os.Create(name) //nolint:gosec // the file that the caller names is what it writes
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return err
	}
	return f.Close()
}

// night is the traffic as it is made up; lines are written in the order of
// written, which is when the answer was complete.
type night struct {
	rng   *rand.Rand
	lines []line
}

type line struct {
	written time.Duration // since start
	text    string
}

// start is half an hour before the clocks go forward by one.
var start = time.Date(2026, time.March, 29, 0, 30, 0, 0, time.UTC)

const length = time.Hour

// write writes the whole log. It is the same every time.
func write(w io.Writer) error {
	n := &night{rng: rand.New(rand.NewPCG(20260329, 1))}
	n.people(70)
	n.networks()
	n.crawler()
	n.monitor()
	n.partner()
	n.scanner()
	n.flood()
	n.badLines()
	slices.SortStableFunc(n.lines, func(a, b line) int { return int(a.written - b.written) })
	out := bufio.NewWriter(w)
	for _, l := range n.lines {
		fmt.Fprintln(out, l.text)
	}
	return out.Flush()
}

// hit is one request.
type hit struct {
	host, user string
	at         time.Duration
	request    string
	status     int
	referer    string
	agent      string
	took       time.Duration // until the line is written
}

func (n *night) add(h hit) {
	if h.at >= length {
		return
	}
	zone := time.FixedZone("", 3600)
	if stamp := start.Add(h.at); !stamp.Before(time.Date(2026, time.March, 29, 1, 0, 0, 0, time.UTC)) {
		zone = time.FixedZone("", 7200)
	}
	if h.user == "" {
		h.user = "-"
	}
	if h.referer == "" {
		h.referer = "-"
	}
	size := 150 + n.rng.IntN(24000)
	if h.status == 304 {
		size = 0
	}
	n.lines = append(n.lines, line{h.at + h.took, fmt.Sprint(
		h.host, " - ", h.user, start.Add(h.at).In(zone).Format(" [02/Jan/2006:15:04:05 -0700] "),
		`"`, h.request, `" `, h.status, " ", size, ` "`, h.referer, `" "`, h.agent, `"`)})
}

func (n *night) badLines() {
	for i, text := range []string{
		"",
		"198.18.40.9 - - [29/Mar/2026:03:0",
		"198.18.40.9 - - [31/Feb/2026:03:05:00 +0200] \"GET / HTTP/1.1\" 200 512 \"-\" \"-\"",
		"198.18.40.9 - - [29/Mar/2026:25:61:00 +0200] \"GET / HTTP/1.1\" 200 512 \"-\" \"-\"",
		"\x00\x01\x02\x7f\xff",
		"- - - [29/Mar/2026:03:10:00 +0200] \"GET / HTTP/1.1\" 200 512 \"-\" \"-\"",
		"logrotate: nothing to do",
		"",
		"198.18.40.9 - - [29/Mar/2026:03:20:00] \"GET / HTTP/1.1\" 200 512 \"-\" \"-\"",
		"{\"remote_ip\":\"198.18.40.9\",\"status\":200}",
	} {
		n.lines = append(n.lines, line{time.Duration(5+5*i) * time.Minute, text})
	}
}
