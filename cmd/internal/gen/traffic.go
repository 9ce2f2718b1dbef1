package main

import (
	"fmt"
	"time"
)

// agents are what browsers call themselves.
var agents = []string{
	"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/604.1",
}

var pages = []string{"/", "/docs/", "/docs/install", "/docs/limits?tab=go", "/blog/", "/blog/a b.html", "/search?q=rate+limit&page=2"}

var assets = []string{"/static/site.css", "/static/site.js", "/static/logo.svg", "/static/font.woff2", "/favicon.ico"}

// pick returns one of the choices.
func pick[T any](n *night, choices []T) T { return choices[n.rng.IntN(len(choices))] }

// upTo draws a duration below d.
func (n *night) upTo(d time.Duration) time.Duration { return time.Duration(n.rng.Int64N(int64(d))) }

// visit is one page with its assets, which a browser asks for at once.
func (n *night) visit(host, agent string, at time.Duration) {
	page := pick(n, pages)
	n.add(hit{host: host, at: at, request: "GET " + page + " HTTP/1.1", status: 200, agent: agent, took: n.upTo(900 * time.Millisecond)})
	for _, asset := range assets[:1+n.rng.IntN(len(assets))] {
		status := 200
		if n.rng.IntN(3) == 0 {
			status = 304
		}
		n.add(hit{
			host: host, at: at + 300*time.Millisecond + n.upTo(time.Second), request: "GET " + asset + " HTTP/1.1",
			status: status, referer: "https://www.example.net" + page, agent: agent, took: n.upTo(300 * time.Millisecond),
		})
	}
	if n.rng.IntN(12) == 0 { // a download takes a while, and its line comes late
		n.add(hit{
			host: host, at: at + 2*time.Second, request: "GET /download/penstock.tar.gz HTTP/1.1", status: 200, agent: agent,
			took: n.upTo(20 * time.Second),
		})
	}
}

// people read a few pages each.
func (n *night) people(count int) {
	for i := range count {
		host := fmt.Sprintf("198.18.%d.%d", i/9, 1+n.rng.IntN(254))
		agent := pick(n, agents)
		at := n.upTo(length)
		for range 1 + n.rng.IntN(5) {
			n.visit(host, agent, at)
			at += 3*time.Second + n.upTo(90*time.Second)
		}
	}
}

// networks are IPv6 clients: one household whose machines change their
// addresses, one client in all the ways to write it, and one that comes over
// both protocols.
func (n *night) networks() {
	for range 40 {
		host := fmt.Sprintf("2001:db8:5:1:%x:%x:%x:%x", n.rng.IntN(1<<16), n.rng.IntN(1<<16), n.rng.IntN(1<<16), n.rng.IntN(1<<16))
		n.visit(host, agents[2], 10*time.Minute+n.upTo(4*time.Minute))
	}
	for i, host := range []string{"2001:db8:7:0:0:0:0:1", "2001:0DB8:7::1", "[2001:db8:7::1]:40001", "2001:db8:7::2"} {
		n.visit(host, agents[1], time.Duration(20+i)*time.Minute)
	}
	for i, host := range []string{"192.0.2.10", "::ffff:192.0.2.10", "192.0.2.10:51000"} {
		n.visit(host, agents[0], time.Duration(30+i)*time.Minute)
	}
}

// crawler walks the whole site at an even pace, under a host name.
func (n *night) crawler() {
	for at := time.Duration(0); at < length; at += 2 * time.Second {
		n.add(hit{
			host: "crawler-7.example.net", at: at, request: fmt.Sprintf("GET /docs/page-%04d HTTP/1.1", n.rng.IntN(2000)),
			status: 200, agent: "ExampleBot/2.1 (+https://www.example.net/bot)", took: n.upTo(400 * time.Millisecond),
		})
	}
}

// monitor asks for the health of the site every 15 seconds.
func (n *night) monitor() {
	for at := 4 * time.Second; at < length; at += 15 * time.Second {
		n.add(hit{host: "192.0.2.1", at: at, request: "GET /healthz HTTP/1.1", status: 200, agent: "curl/8.14.1"})
	}
}

// partner is a script with a name and a password that fetches in batches.
func (n *night) partner() {
	for batch := range 6 {
		at := time.Duration(batch)*9*time.Minute + n.upTo(time.Minute)
		for range 45 {
			n.add(hit{
				host: "198.51.100.23", user: "partner", at: at, request: "POST /api/v1/orders HTTP/1.1", status: 201,
				agent: "python-requests/2.32.4",
			})
			at += 60*time.Millisecond + n.upTo(80*time.Millisecond)
		}
	}
}

// scanner tries what broken and hostile clients send.
func (n *night) scanner() {
	requests := []string{
		"", "-", `\x16\x03\x01\x02\x00\x01\x00`, "HELLO", "GET /wp-login.php HTTP/1.1", "GET /.env HTTP/1.1",
		`GET /cgi-bin/\x22;id HTTP/1.0`, `GET /?q=\"quoted\" HTTP/1.1`, "CONNECT 203.0.113.99:443 HTTP/1.1", "OPTIONS * HTTP/1.0",
	}
	at := 33 * time.Minute
	for i := range 120 {
		n.add(hit{host: "192.0.2.66", at: at, request: requests[i%len(requests)], status: 400, agent: "-"})
		at += 20*time.Millisecond + n.upTo(120*time.Millisecond)
	}
}

// flood is one client that tries passwords as fast as it can, while a few
// others join in more slowly.
func (n *night) flood() {
	for i, every := range []time.Duration{40 * time.Millisecond, 160 * time.Millisecond, 400 * time.Millisecond} {
		host := fmt.Sprintf("203.0.113.%d", 7+i)
		for at := 41 * time.Minute; at < 41*time.Minute+25*time.Second; at += every + n.upTo(every/2) {
			n.add(hit{host: host, at: at, request: "POST /login HTTP/1.1", status: 401, agent: "Go-http-client/1.1"})
		}
	}
}
