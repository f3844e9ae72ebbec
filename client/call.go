package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
)

const (
	// answerWithin limits one attempt of a call that is not a wait.
	answerWithin = 30 * time.Second
	// maxAnswer limits the size of one response.
	maxAnswer = 256 << 20
)

var errAnswerTooLarge = errors.New("the answer is larger than any that the server gives")

// call is one call to the server.
type call struct {
	op     string
	method string // GET if empty
	path   []string
	named  bool // whether the last segment of path may be a kind, a colon and any text
	query  url.Values
	body   any    // sent as JSON, unless nil; content as it is
	accept string // JSON if empty
	key    string // the idempotency key, if it has one
	once   bool   // whether doing it twice does harm
	within time.Duration
}

// segments returns the path, escaped and without anything that could name another path
// than the one that is meant.
func (in call) segments() ([]string, error) {
	if !in.named {
		return in.path, checkPath(in.path)
	}
	path, last := slices.Clone(in.path), len(in.path)-1
	kind, _, found := strings.Cut(path[last], ":")
	path[last] = kind
	err := checkPath(path)
	if found { // with its colon it is neither . nor ..
		path[last] = url.PathEscape(in.path[last])
	}
	return path, err
}

// content is a body that is sent as it is.
type content struct {
	media string
	data  []byte
}

// CallOption changes how a call that creates something is made.
type CallOption func(*call)

// IdempotencyKey sets the idempotency key of a call, instead of a random one. Calls with
// the same key take effect once, also from different processes: the others receive the
// first response, or IdempotencyMismatch if their input differs. A key has at most
// shoal.MaxIdempotency visible ASCII characters.
func IdempotencyKey(key string) CallOption {
	return func(in *call) { in.key = key }
}

// create makes a call that creates an object.
func (c *Client) create(ctx context.Context, in call, out any, options []CallOption) error {
	in.method, in.key = http.MethodPost, rand.Text()
	for _, o := range options {
		o(&in)
	}
	return c.do(ctx, in, out)
}

// do makes a call, retries it while that may help, and decodes the response into out,
// unless out is nil. A *[]byte receives the body unchanged.
func (c *Client) do(ctx context.Context, in call, out any) error {
	delays := backoff{first: callFirst, most: callMost}
	began := time.Now()
	for tries := 1; ; tries++ {
		end := c.try(ctx, in, out)
		away := max(delays.next(), end.after)
		if end.err == nil || !end.mayRepeat(in.once) || c.gaveUp(tries, time.Since(began)+away) {
			return named(in.op, end.err)
		}
		if !pause(ctx, away) {
			return named(in.op, context.Cause(ctx))
		}
	}
}

// gaveUp reports whether there is no further attempt after this number of attempts and this
// time since the first.
func (c *Client) gaveUp(tries int, after time.Duration) bool {
	return tries >= attempts && after > c.retryFor
}

// outcome is how one attempt of a call ended.
type outcome struct {
	err     error         // nil when it was answered well
	sent    bool          // whether the server was reached
	refused bool          // whether it was not done for now
	unknown bool          // whether it may have been done all the same
	after   time.Duration // the Retry-After of the server
}

// mayRepeat reports whether another attempt is safe and may succeed.
func (o outcome) mayRepeat(once bool) bool {
	if o.after > mostAfter {
		return false
	}
	return o.refused || o.unknown && (!once || !o.sent)
}

// try makes one attempt of a call.
func (c *Client) try(ctx context.Context, in call, out any) outcome {
	limit := in.within
	if limit == 0 {
		limit = answerWithin
	}
	var sent atomic.Bool
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	traced := httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := c.encode(traced, in)
	if err != nil {
		return outcome{err: err}
	}
	status, header, body, err := c.exchange(req)
	switch {
	case ctx.Err() != nil:
		return outcome{err: context.Cause(ctx), sent: sent.Load()}
	case err != nil:
		return outcome{err: c.unreachable(err), sent: sent.Load(), unknown: true}
	case len(body) > maxAnswer:
		return outcome{err: c.stranger(status, errAnswerTooLarge), sent: true}
	case status/100 != 2:
		e := c.refusal(status, header, body)
		return outcome{
			err: e, sent: true, after: retryAfter(header), refused: status == http.StatusTooManyRequests,
			unknown: status == http.StatusServiceUnavailable || e.Kind == ErrUnreachable,
		}
	}
	if plain, ok := out.(*[]byte); ok {
		*plain = body
	} else if out != nil && len(body) > 0 {
		if err := json.Unmarshal(body, out); err != nil {
			return outcome{err: c.unreadable(status, header, err), sent: true}
		}
	}
	return outcome{sent: true}
}

// encode builds the request of a call.
func (c *Client) encode(ctx context.Context, in call) (*http.Request, error) {
	path, err := in.segments()
	if err != nil {
		return nil, err
	}
	req, err := c.request(ctx, in.method, path, in.query)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if in.accept != "" {
		req.Header.Set("Accept", in.accept)
	}
	if in.key != "" {
		req.Header.Set("Idempotency-Key", in.key)
	}
	if in.body == nil {
		return req, nil
	}
	body, ok := in.body.(content)
	if !ok {
		encoded, err := json.Marshal(in.body)
		if err != nil {
			return nil, &shoal.Error{Kind: shoal.InvalidArgument, Msg: "what is sent cannot be written as JSON", Err: err}
		}
		body = content{"application/json", encoded}
	}
	req.Header.Set("Content-Type", body.media)
	req.ContentLength = int64(len(body.data))
	req.Body = io.NopCloser(bytes.NewReader(body.data))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body.data)), nil }
	return req, nil
}

// exchange sends a request and reads the whole answer.
func (c *Client) exchange(req *http.Request) (int, http.Header, []byte, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, nil, silent(req.Context(), err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	return res.StatusCode, res.Header, body, silent(req.Context(), err)
}

// silent replaces the error of a request that was abandoned for lack of a response.
func silent(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}
