package app_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// overLimit is a connection of a caller that has made all the calls that it may make for now.
type overLimit struct {
	net.Conn
	in  *bufio.Reader
	t   *testing.T
	key string
}

func newOverLimit(t *testing.T) *overLimit {
	t.Helper()
	s, key := apptest.Run(t, app.Config{MaxCallsPerSecond: 1})
	admin, err := client.New(client.Options{URL: s.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	c := &overLimit{t: t, key: apptest.Key(t, admin, "bot")}
	if c.Conn, err = net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	c.in = bufio.NewReader(c.Conn)
	for status := http.StatusOK; status != http.StatusTooManyRequests; {
		c.send("GET", "/v1/sessions/default/spaces", "")
		status, _ = c.answer()
	}
	return c
}

func (c *overLimit) send(method, path, rest string) {
	c.t.Helper()
	if rest == "" {
		rest = "\r\n"
	}
	if _, err := fmt.Fprintf(c.Conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s", method, path, c.key, rest); err != nil {
		c.t.Fatal(err)
	}
}

// answer reads a response to its end and returns its status, and whether it announces the end
// of the connection.
func (c *overLimit) answer() (status int, closes bool) {
	c.t.Helper()
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.StatusCode == http.StatusTooManyRequests && (res.Header.Get("Retry-After") == "" || !strings.Contains(string(body), `"code":"rate_limited"`)) {
		c.t.Errorf("the refusal is %v %s", res.Header, body)
	}
	return res.StatusCode, res.Close
}

const toShop = "/v1/sessions/default/spaces/shop/messages"

// A caller over its limit is refused before its body is read: a body that is not JSON is not
// reported, and a client that expects 100 Continue does not receive it.
func TestLimitsComeBeforeBodies(t *testing.T) {
	c := newOverLimit(t)
	for _, path := range []string{toShop, "/agui/agents/nobody"} {
		c.send("POST", path, "Content-Length: 7\r\n\r\nno JSON")
		if status, _ := c.answer(); status != http.StatusTooManyRequests {
			t.Errorf("%s: %d, want 429", path, status)
		}
	}
	c.send("POST", toShop, "Content-Length: 7\r\nExpect: 100-continue\r\n\r\n")
	if status, _ := c.answer(); status != http.StatusTooManyRequests {
		t.Errorf("a body that waits: %d, want 429", status)
	}
}

// A refused body of at most 64 KiB leaves the connection usable, also if its size was not
// announced; a larger one ends the connection.
func TestRefusedBodiesAreReadUpTo64KiB(t *testing.T) {
	text := func(size int) string { return strings.Repeat("x", size) }
	sized := func(size int) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, text(size)) }
	chunked := func(size int) string {
		return fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, text(size))
	}
	for name, tt := range map[string]struct {
		rest  string
		stays bool
	}{
		"nothing": {"Content-Length: 0\r\n\r\n", true}, "64 KiB": {sized(64 << 10), true}, "64 KiB in chunks": {chunked(64 << 10), true},
		"more": {sized(64<<10 + 1), false}, "more in chunks": {chunked(64<<10 + 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newOverLimit(t)
			c.send("POST", toShop, tt.rest)
			if status, closes := c.answer(); status != http.StatusTooManyRequests || closes == tt.stays {
				t.Fatalf("%d, it announces the end: %v", status, closes)
			}
			if tt.stays {
				c.send("GET", "/healthz", "")
				if status, _ := c.answer(); status != http.StatusOK {
					t.Errorf("the next call: %d", status)
				}
				return
			}
			if _, err := c.in.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("after the answer: %v, want the end of the connection", err)
			}
		})
	}
}
