package mcptool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// maxAnswer bounds an answer that is not a stream.
const maxAnswer = 64 << 20

// delivery watches the HTTP requests of one operation, by its context.
type delivery struct {
	mu   sync.Mutex
	last outcome
}

type deliveryKey struct{}

// outcome is what became of a request.
type outcome struct {
	seen        bool   // it was made
	undelivered bool   // no connection came about
	status      int    // 0 without an answer
	foreign     string // the type of an answer that no MCP server gives
}

func (d *delivery) outcome() outcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// note records the outcome of a message. The outcome of the separate stream counts
// only until there was a message.
func (d *delivery) note(method string, resp *http.Response, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if method != http.MethodPost && (method != http.MethodGet || d.last.seen) {
		return
	}
	d.last = outcome{seen: true}
	if resp != nil {
		d.last.status = resp.StatusCode
		kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
		if resp.StatusCode == http.StatusOK && kind != "application/json" && kind != "text/event-stream" {
			d.last.foreign = fmt.Sprintf("%q", kind)
		}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		d.last.undelivered = true
	}
}

// roundTripper makes the requests of one link.
type roundTripper struct {
	life    context.Context // ends every request
	server  *url.URL
	headers map[string]string
	next    http.RoundTripper
	own     *http.Transport // nil when next is the caller's
}

// httpClient returns the client of a link that lives as long as life.
func (c *Connection) httpClient(life context.Context) *http.Client {
	var client http.Client
	if c.server.HTTPClient != nil {
		client = *c.server.HTTPClient
		client.Timeout = 0 // streams stay open; every operation has its context
	}
	server, _ := url.Parse(c.server.URL) // checked by Connect
	rt := &roundTripper{life: life, server: server, headers: c.server.Headers, next: client.Transport}
	if rt.next == nil {
		rt.own = http.DefaultTransport.(*http.Transport).Clone()
		rt.next = rt.own
	}
	client.Transport = rt
	return &client
}

func (rt *roundTripper) closeIdle() {
	if rt.own != nil {
		rt.own.CloseIdleConnections()
	}
}

// RoundTrip adds the server's headers and ends the request with the link.
func (rt *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(rt.life, cancel)
	release := func() { stop(); cancel() }
	out := req.Clone(ctx)
	if out.URL.Scheme == rt.server.Scheme && out.URL.Host == rt.server.Host {
		for name, value := range rt.headers {
			out.Header.Set(name, value)
		}
	}
	resp, err := rt.next.RoundTrip(out)
	if d, ok := req.Context().Value(deliveryKey{}).(*delivery); ok {
		d.note(req.Method, resp, err)
	}
	if err != nil {
		release()
		return nil, err
	}
	b := &body{ReadCloser: resp.Body, release: release, left: maxAnswer}
	b.stream = strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	resp.Body = b
	return resp, nil
}

// body is an answer that releases its request when it is closed.
type body struct {
	io.ReadCloser
	release func()
	stream  bool
	left    int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); !b.stream && b.left < 0 {
		return 0, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return n, err
}

func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// secrets returns a replacer for what errors must not contain: the query, passwords,
// headers and Env.
func (s *Server) secrets() *strings.Replacer {
	var all []string
	if u, err := url.Parse(s.URL); err == nil {
		all = append(all, u.RawQuery)
		for _, values := range u.Query() {
			all = append(all, values...)
		}
		password, _ := u.User.Password()
		all = append(all, u.User.Username(), password)
	}
	for _, value := range s.Headers {
		all = append(append(all, value), strings.Fields(value)...)
	}
	for _, variable := range s.Env {
		_, value, _ := strings.Cut(variable, "=")
		all = append(all, value)
	}
	// The longest first, so that replacing a shorter secret does not leave a part of a
	// longer one. Values as short as a word are not secrets, and replacing them would
	// make errors unreadable.
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, secret := range all {
		if len(secret) >= 6 {
			pairs = append(pairs, secret, "…")
		}
	}
	return strings.NewReplacer(pairs...)
}

// rootCause is the innermost error, which no longer names the URL.
func rootCause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
