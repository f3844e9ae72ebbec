package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// Options configure the server that a client calls and the identity that it uses.
type Options struct {
	// URL is the address of the server, such as http://127.0.0.1:7462. A path in it
	// is a prefix of all paths of the API.
	URL string
	// Key is the secret that authenticates the caller. It may be empty if the server
	// requires none.
	Key string
	// As names the acting entity. Only an admin may name one that is not its
	// key's own.
	As shoal.EntityID
	// HTTP makes the requests; nil means a client that reuses connections and respects the
	// usual proxy variables. It should have no Timeout: each request has its own limit, and
	// waits and followers are long.
	HTTP *http.Client
	// RetryFor is how long a call is retried while the server is unreachable, so that
	// calls survive a restart. Zero means 10 seconds. Every call is tried five times; if
	// RetryFor is negative, there are no more attempts than these.
	RetryFor time.Duration
}

// Client makes calls that belong to no session.
type Client struct {
	base     *url.URL
	key      string
	as       shoal.EntityID
	http     *http.Client
	retryFor time.Duration
}

// New returns a client. It makes no call yet. The error, of kind InvalidArgument, states
// what is wrong with the URL, the key or the entity.
func New(o Options) (*Client, error) {
	const op = "client.New"
	base, err := url.Parse(o.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("%q is not the URL of a server; one looks like http://127.0.0.1:7462", o.URL))
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, shoal.E(op, shoal.InvalidArgument, "the URL of a server holds no user, query or fragment; the key is given apart")
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, shoal.E(op, shoal.InvalidArgument, "the key holds characters that no key has; it is one word")
	}
	if o.As != "" {
		if err := shoal.CheckID("as", string(o.As)); err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Transport: transport()}
	}
	if o.RetryFor == 0 {
		o.RetryFor = defaultRetryFor
	}
	return &Client{base, o.Key, o.As, o.HTTP, o.RetryFor}, nil
}

// transport returns the usual transport, with idle connections for as many
// callers of the one server as it has for all servers.
func transport() http.RoundTripper {
	usual, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport // the program has put its own there
	}
	own := usual.Clone()
	own.MaxIdleConnsPerHost = own.MaxIdleConns
	return own
}

// Health returns nil if the server process is running.
func (c *Client) Health(ctx context.Context) error {
	return c.do(ctx, call{op: "client.Health", path: []string{"healthz"}}, nil)
}

// Ready returns nil if the server has recovered and accepts calls.
func (c *Client) Ready(ctx context.Context) error {
	return c.do(ctx, call{op: "client.Ready", path: []string{"readyz"}}, nil)
}

// request builds one request to a path of the server.
func (c *Client) request(ctx context.Context, method string, path []string, query url.Values) (*http.Request, error) {
	at := c.base.JoinPath(path...)
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set(apiHeader, shoal.APIVersion)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.as != "" {
		req.Header.Set("X-Shoal-Entity", string(c.as))
	}
	return req, nil
}

// checkPath refuses segments that are neither ids nor an emoji: escaped or not, they
// could name another path than the one that is meant.
func checkPath(path []string) error {
	for _, segment := range path {
		if err := shoal.CheckID("id", segment); err != nil && shoal.CheckEmoji("emoji", segment) != nil {
			var e *shoal.Error
			errors.As(err, &e)
			return shoal.E("", shoal.InvalidArgument, fmt.Sprintf("%q is not a valid ID here: it %s", segment, e.Fields[0].Message))
		}
	}
	return nil
}
