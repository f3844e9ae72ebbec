// Package wire contains what the provider packages share: the connection to a vendor,
// the classification of its failures, the parser of its event stream, and the parts of
// a message that all of them encode alike.
//
//	c := wire.New(vendor, name, wire.Reach{APIKey: key})
//	return c.Call(ctx, func(x *wire.Exchange) error {
//		resp, err := x.Do(request)
//		… for each event: x.Emit(chunk) …
//		x.Finish(reason)
//		return nil
//	})
//
// The package guarantees:
//   - One call is one HTTP request, or two around a refreshed key. No redirect is
//     followed: it would carry the key to wherever the answer points.
//   - The environment's key goes to the vendor, or to where the environment
//     itself points, nowhere else.
//   - The same cause has the same class at every vendor. A package explains only
//     what its vendor's own codes say beyond the status.
//   - No key, no header that the user set and no URL shows up in an error.
package wire

import (
	"cmp"
	"context"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// Vendor is what a provider package knows about its vendor.
type Vendor struct {
	Provider string   // the name in errors and in [agent.ModelInfo]
	URL      string   // the vendor's own base URL
	URLVar   string   // the variable that holds another one, empty for none
	KeyVars  []string // the variables that hold the key; the first that is set wins
	// Authorize puts a key into the headers of a request.
	Authorize func(h http.Header, key string)
	// Sign authorizes a request with this body in place of a key, after every other header
	// was set; nil for vendors that take keys. refresh says that what it used before was
	// refused. It returns what no error may repeat.
	Sign func(req *http.Request, body []byte, refresh bool) (secrets []string, err error)
	// Explain says what the vendor's words mean. Status is 0 within a stream.
	Explain func(status int, said []byte) Problem
	// Words returns what Explain reads, for vendors that write a part of it into the
	// headers of a refusal; nil for all others.
	Words func(h http.Header, said []byte) []byte
}

// Reach says how a user wants a vendor to be reached. Options of the provider
// packages hold the same fields and make the same promises.
type Reach struct {
	APIKey     string
	Key        func(ctx context.Context, refresh bool) (string, error)
	BaseURL    string
	HTTPClient *http.Client
	Headers    map[string]string
	Window     int
}

// Client calls one model of a vendor. Nothing in it changes after [New].
type Client struct {
	// Own says that the URL is the vendor's own.
	Own bool
	// Invalid is what is wrong with the options, if anything is.
	Invalid error

	info   agent.ModelInfo
	url    *url.URL
	vendor Vendor
	reach  Reach
	http   http.Client
}

// New returns a client. It reads the environment; what is wrong shows as Invalid.
func New(v Vendor, name string, reach Reach) *Client {
	c := &Client{vendor: v, reach: reach, info: agent.ModelInfo{Provider: v.Provider, Name: name, Window: reach.Window}}
	if reach.HTTPClient != nil {
		c.http = *reach.HTTPClient
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	base := reach.BaseURL
	if base == "" {
		base = cmp.Or(getenv(v.URLVar), v.URL)
	}
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The URL itself may hold a password, so it is not repeated here.
		c.Invalid = agent.Invalid("baseURL", "must be an http or https URL such as "+v.URL)
		return c
	}
	u.RawPath, u.Fragment = "", ""
	c.url = u
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	c.info.Address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	own, err := url.Parse(v.URL)
	c.Own = err == nil && u.Scheme == "https" && within(u, own.Hostname())
	if reach.Key == nil && (c.Own || reach.BaseURL == "") {
		for _, name := range v.KeyVars {
			c.reach.APIKey = cmp.Or(c.reach.APIKey, getenv(name))
		}
	}
	switch {
	case name == "":
		c.Invalid = agent.Invalid("model", "must name a model")
	case c.Own && v.Sign == nil && reach.Key == nil && c.reach.APIKey == "" && !c.authorized():
		c.Invalid = &agent.ModelError{
			Class: agent.ClassAuth, Provider: v.Provider,
			Detail: "no API key: set the environment variable " + strings.Join(v.KeyVars, " or ") + ", or Options.APIKey",
		}
	}
	return c
}

func getenv(name string) string {
	if name == "" {
		return ""
	}
	return os.Getenv(name)
}

// authorized reports whether the user's headers authorize a call themselves.
func (c *Client) authorized() bool {
	h := http.Header{"Authorization": {"any"}}
	c.vendor.Authorize(h, "any")
	for name := range c.reach.Headers {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}

// URL returns the base URL with a path after its own; a query in it stays.
func (c *Client) URL(path string) *url.URL {
	u := *c.url
	u.Path = strings.TrimRight(u.Path, "/") + path
	return &u
}

// Escaped is [Client.URL] with a path whose escapes are sent as they are. One with a wrong
// escape is sent as text.
func (c *Client) Escaped(path string) *url.URL {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return c.URL(path)
	}
	u := c.URL(plain)
	u.RawPath = strings.TrimRight(c.url.EscapedPath(), "/") + path
	return u
}

// Within reports whether the URL's host is a domain or below it.
func (c *Client) Within(domain string) bool { return c.url != nil && within(c.url, domain) }

func within(u *url.URL, domain string) bool {
	host := strings.ToLower(u.Hostname())
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// Over returns options, of which a later one wins field by field where it sets
// something.
func Over[T any](options ...T) T {
	var all T
	to := reflect.ValueOf(&all).Elem()
	for _, o := range options {
		from := reflect.ValueOf(o)
		for i := range from.NumField() {
			if !from.Field(i).IsZero() {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
	return all
}

// Info names the model.
func (c *Client) Info() agent.ModelInfo { return c.info }

// Call makes one call as an [agent.Model]'s Stream does. The error that call returns is
// yielded last, unless the consumer has left the range; if ctx has ended, its cause is
// yielded instead.
func (c *Client) Call(ctx context.Context, call func(x *Exchange) error) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		x := &Exchange{client: c, yield: yield}
		err := c.Invalid
		if err == nil {
			err = call(x)
		}
		if err == nil || x.Stopped {
			return
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		yield(agent.Chunk{}, err)
	}
}
