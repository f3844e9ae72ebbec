package guard

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

func TestHosts(t *testing.T) {
	loopback := []string{
		"localhost", "localhost:7462", "LocalHost:1", "localhost.", "127.0.0.1", "127.0.0.1:80", "127.255.0.9:7462", "[::1]", "[::1]:7462",
	}
	foreign := []string{
		"evil.example", "evil.example:7462", "localhost.evil.example", "127.0.0.1.evil.example", "evil-localhost", "0.0.0.0", "[::]", "10.0.0.1",
		"127.1", "2130706433", "0x7f000001", "127.0.0.1:x", "localhost:80:80", "::1", "[::1:80", "[localhost]", "[127.0.0.1]",
	}
	for _, tt := range []struct {
		name          string
		opts          Options
		pass, refused []string
	}{
		{"loopback listener", Options{}, loopback, foreign},
		{
			"loopback listener with hosts",
			Options{AllowHosts: []string{"Shoal.example", "shoal.test:8443", "192.0.2.1", "[2001:db8::1]:80"}},
			append([]string{
				"shoal.example", "SHOAL.example:7462", "shoal.example.", "shoal.test:8443", "192.0.2.1:1", "[2001:db8::1]:80",
			}, loopback...),
			append([]string{"shoal.test", "shoal.test:8444", "x.shoal.example", "[2001:db8::1]", "[2001:db8::1:80]"}, foreign...),
		},
		{"public listener", Options{Public: true}, append(foreign, loopback...), nil},
		{
			"public listener with hosts",
			Options{Public: true, AllowHosts: []string{"shoal.example"}},
			append([]string{"shoal.example", "shoal.example:443"}, loopback...), foreign,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDoor(t, tt.opts, httptest.NewServer)
			for _, host := range tt.pass {
				d.wantPassed(d.send("GET", "/v1/x", "", "Host", host), "")
				d.wantPassed(d.send("POST", "/mcp", `{}`, "Host", host, "Content-Type", jsonType), `{}`)
			}
			for _, host := range tt.refused {
				d.wantRefusal(d.send("GET", "/v1/x", "", "Host", host), 421, shoal.Forbidden, `does not answer to the host "`+host+`"`)
				d.wantRefusal(d.send("POST", "/v1/x", `{}`, "Host", host, "Content-Type", jsonType), 421, shoal.Forbidden, "localhost")
				d.wantRPCRefusal(d.send("POST", "/mcp", `{}`, "Host", host, "Content-Type", jsonType), 403, -32600, "forbidden: This server does not")
				d.wantRPCRefusal(d.send("GET", "/sse", "", "Host", host), 403, -32600, "forbidden: This server does not")
			}
		})
	}
}

// Every endpoint and every method refuses foreign web pages, event streams too.
func TestOrigins(t *testing.T) {
	d := newDoor(t, Options{AllowOrigins: []string{"https://App.example", "http://dev.test:5173", "vscode-webview://x1"}}, httptest.NewServer)
	check := func(ok bool, headers ...string) {
		t.Helper()
		t.Logf("headers %q", headers)
		withType := append([]string{"Content-Type", jsonType}, headers...)
		if ok {
			d.wantPassed(d.send("GET", "/v1/spaces/s/events", "", headers...), "")
			d.wantPassed(d.send("OPTIONS", "/v1/x", "", headers...), "")
			d.wantPassed(d.send("POST", "/v1/x", `{}`, withType...), `{}`)
			d.wantPassed(d.send("GET", "/sse", "", headers...), "")
			d.wantPassed(d.send("POST", "/mcp", `{}`, withType...), `{}`)
			return
		}
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE"} {
			if a := d.send(method, "/v1/spaces/s/events", "", headers...); method != "HEAD" {
				d.wantRefusal(a, 403, shoal.Forbidden, "may not call this server")
			} else if d.wantUntouched(); a.status != 403 {
				t.Errorf("HEAD is answered %d, want 403", a.status)
			}
		}
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			d.wantRefusal(d.send(method, "/v1/x", `{}`, withType...), 403, shoal.Forbidden, "may not call this server")
		}
		d.wantRPCRefusal(d.send("GET", "/sse", "", headers...), 403, -32600, "forbidden: Web pages")
		d.wantRPCRefusal(d.send("POST", "/mcp", `{}`, withType...), 403, -32600, "forbidden: Web pages")
	}

	check(true)
	check(true, "Origin", d.URL)
	check(true, "Origin", d.URL, "Sec-Fetch-Site", "same-origin")
	check(true, "Origin", "http://localhost:7462", "Host", "localhost:7462")
	check(true, "Origin", "http://localhost", "Host", "localhost:80")
	check(true, "Sec-Fetch-Site", "none")
	check(true, "Origin", "https://app.example", "Sec-Fetch-Site", "cross-site")
	check(true, "Origin", "https://app.example:443")
	check(true, "Origin", "http://dev.test:5173", "Sec-Fetch-Site", "same-site")
	check(true, "Origin", "vscode-webview://x1")

	check(false, "Origin", "null")
	check(false, "Origin", "")
	check(false, "Origin", "https://evil.example")
	check(false, "Origin", "http://localhost")
	check(false, "Origin", "http://localhost:7463", "Host", "localhost:7462")
	check(false, "Origin", "https://localhost:7462", "Host", "localhost:7462")
	check(false, "Origin", d.URL+"/")
	check(false, "Origin", d.URL+"@evil.example")
	check(false, "Origin", d.URL, "Origin", "https://evil.example")
	check(false, "Origin", "https://app.example", "Origin", "https://evil.example")
	check(false, "Origin", "http://app.example")
	check(false, "Origin", "https://app.example.evil.example")
	check(false, "Origin", d.URL, "Sec-Fetch-Site", "cross-site")
	check(false, "Sec-Fetch-Site", "cross-site")
	check(false, "Sec-Fetch-Site", "same-site")
	check(false, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image")
	check(false, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe")
}

// Where neither the Origin nor the Host can be read, they are not the same.
func TestUnreadableOriginAndHost(t *testing.T) {
	d := newDoor(t, Options{Public: true}, httptest.NewServer)
	d.wantPassed(d.send("GET", "/v1/x", "", "Host", "127.0.0.1:x"), "")
	d.wantRefusal(d.send("GET", "/v1/x", "", "Host", "127.0.0.1:x", "Origin", "null"), 403, shoal.Forbidden, "may not call")
}

// The scheme belongs to the origin: a page that came without TLS is another one.
func TestOriginsWithTLS(t *testing.T) {
	d := newDoor(t, Options{}, httptest.NewTLSServer)
	d.wantPassed(d.send("GET", "/v1/x", "", "Origin", d.URL), "")
	d.wantPassed(d.send("GET", "/v1/x", "", "Origin", "https://localhost", "Host", "localhost:443"), "")
	d.wantRefusal(d.send("GET", "/v1/x", "", "Origin", strings.Replace(d.URL, "https", "http", 1)), 403, shoal.Forbidden, "may not call")
}

// A link on a foreign page may be followed, but not into MCP, and not by a form.
func TestLinks(t *testing.T) {
	d := newDoor(t, Options{}, httptest.NewServer)
	for _, site := range []string{"cross-site", "same-site"} {
		link := []string{"Sec-Fetch-Site", site, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
		d.wantPassed(d.send("GET", "/", "", link...), "")
		d.wantRPCRefusal(d.send("GET", "/sse", "", link...), 403, -32600, "forbidden")
		d.wantRefusal(d.send("POST", "/", "", link...), 403, shoal.Forbidden, "may not call")
		d.wantRefusal(d.send("GET", "/", "", append(link, "Origin", "https://evil.example")...), 403, shoal.Forbidden, "may not call")
	}
}

func TestNewRefusesOptions(t *testing.T) {
	for _, opts := range []Options{
		{AllowHosts: []string{""}},
		{AllowHosts: []string{"ok.example", "https://shoal.example"}},
		{AllowHosts: []string{"*.example"}},
		{AllowHosts: []string{"*"}},
		{AllowHosts: []string{":80"}},
		{AllowHosts: []string{"shoal.example/x"}},
		{AllowHosts: []string{"::1"}},
		{AllowOrigins: []string{"*"}},
		{AllowOrigins: []string{"null"}},
		{AllowOrigins: []string{""}},
		{AllowOrigins: []string{"shoal.example"}},
		{AllowOrigins: []string{"https://shoal.example/"}},
		{AllowOrigins: []string{"https://*.example"}},
		{AllowOrigins: []string{"https://ann@shoal.example"}},
		{MCPPaths: []string{"mcp"}},
		{MCPPaths: []string{""}},
	} {
		if _, err := New(opts); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("New(%+v) = %v, want an error of kind invalid_argument", opts, err)
		}
	}
}
