package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

const maxErrorBody = 64 << 10

// binaryEvents is the media type of a stream whose events are not lines of text. What reads
// it marks the halves in its events (see [MarkHalves]).
const binaryEvents = "application/vnd.amazon.eventstream"

// Exchange is one call of a model: a request and what comes of it. It belongs to
// the goroutine that ranges over the answer.
type Exchange struct {
	// Stopped says that nobody wants more.
	Stopped bool

	client *Client
	yield  func(agent.Chunk, error) bool
	keys   []string // that were used
	status int
	kind   string            // content type
	held   map[stream]string // halves of characters whose other half has not come yet
}

// Emit yields a chunk and reports whether the consumer wants more. It joins characters
// that the provider split into their UTF-16 halves.
func (x *Exchange) Emit(c agent.Chunk) bool {
	if c.Text != "" {
		if c.Text = x.join(stream{c.Kind, c.Index}, c.Text); c.Text == "" {
			return !x.Stopped
		}
	} else if len(x.held) > 0 && !x.release(c) {
		return false
	}
	return x.emit(c)
}

// release emits, as U+FFFD, the unpaired halves of the texts that end with c.
func (x *Exchange) release(c agent.Chunk) bool {
	for of := range x.held {
		if c.Kind == agent.ChunkFinish || c.Kind == agent.ChunkCallEnd && of == (stream{agent.ChunkCallDelta, c.Index}) {
			delete(x.held, of)
			if !x.emit(agent.Chunk{Kind: of.kind, Index: of.index, Text: "\uFFFD"}) {
				return false
			}
		}
	}
	return true
}

func (x *Exchange) emit(c agent.Chunk) bool {
	if c.Kind >= agent.ChunkUsage {
		c.Model = &x.client.info
	}
	x.Stopped = x.Stopped || !x.yield(c, nil)
	return !x.Stopped
}

// Finish ends an answer that is whole. Whether one without a word is an answer is
// for the agent to decide, which knows what came before it.
func (x *Exchange) Finish(reason agent.FinishReason) {
	x.Emit(agent.Chunk{Kind: agent.ChunkFinish, Reason: reason})
}

// Post sends a JSON body with the given headers as Do does; headers without a value are
// left out.
func (x *Exchange) Post(ctx context.Context, to string, header map[string]string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, agent.Invalid("baseURL", "cannot be called")
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return x.Do(req)
}

// Do sends a request with the key and the user's headers, once more if a
// refreshed key may help. It returns an answer with a status of success, whose
// body the caller closes, or an [*agent.ModelError].
func (x *Exchange) Do(req *http.Request) (*http.Response, error) {
	var body []byte
	renews := x.client.reach.Key != nil || x.client.vendor.Sign != nil
	if renews && req.Body != nil { // it may be sent twice
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, x.Broken("the request cannot be read", err)
		}
	}
	for refresh := false; ; refresh = true {
		if body != nil {
			req = req.Clone(req.Context()) // the one before may still be in use
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		if err := x.authorize(req, body, refresh); err != nil {
			return nil, err
		}
		resp, err := x.client.http.Do(req)
		if err != nil {
			return nil, x.Broken("the provider was not reached", err)
		}
		x.status, x.kind = resp.StatusCode, resp.Header.Get("Content-Type")
		if resp.StatusCode >= 200 && resp.StatusCode < 300 {
			if !strings.HasPrefix(x.kind, binaryEvents) {
				resp.Body = markHalves(resp.Body)
			}
			return resp, nil
		}
		// The status suffices to act on, even if the body cannot be read.
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		resp.Body.Close()
		if x.client.vendor.Words != nil {
			said = x.client.vendor.Words(resp.Header, said)
		}
		failure, problem := x.failure(resp.StatusCode, said)
		// A key that may not (403) is as good as the next one.
		wrong := failure.Class == agent.ClassAuth && (resp.StatusCode != http.StatusForbidden || problem.Stale)
		if wrong && renews && !refresh {
			continue
		}
		failure.RetryAfter = max(failure.RetryAfter, retryAfter(resp.Header, time.Now()))
		return nil, failure
	}
}

func (x *Exchange) authorize(req *http.Request, body []byte, refresh bool) error {
	key, err := x.key(req.Context(), refresh)
	if err != nil {
		return err
	}
	if key != "" {
		x.used(key)
		x.client.vendor.Authorize(req.Header, key)
	}
	for name, value := range x.client.reach.Headers {
		req.Header.Set(name, value)
	}
	if x.client.vendor.Sign == nil {
		return nil
	}
	secrets, err := x.client.vendor.Sign(req, body, refresh)
	x.used(secrets...)
	return x.keyless(err)
}

// used keeps what no error may repeat.
func (x *Exchange) used(secrets ...string) {
	for _, s := range secrets {
		if !slices.Contains(x.keys, s) {
			x.keys = append(x.keys, s)
		}
	}
}

// key returns the key to send, empty for none.
func (x *Exchange) key(ctx context.Context, refresh bool) (string, error) {
	if x.client.reach.Key == nil {
		return x.client.reach.APIKey, nil
	}
	key, err := x.client.reach.Key(ctx, refresh)
	return key, x.keyless(err)
}

// keyless returns the error of a call for which the user's code has no key.
func (x *Exchange) keyless(err error) error {
	var failure *agent.ModelError
	if err == nil || errors.As(err, &failure) {
		return err
	}
	return &agent.ModelError{Class: agent.ClassAuth, Provider: x.client.info.Provider, Detail: "no key for the call", Err: err}
}
