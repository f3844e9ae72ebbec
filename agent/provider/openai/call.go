package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"os"
	"time"

	shoal "github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

const (
	maxErrorBody = 64 << 10
	// An answer is over before its last bytes are; reading them keeps the
	// connection for the next call, waiting for them is not worth more.
	drainTime  = 50 * time.Millisecond
	drainBytes = 16 << 10
)

// defaultClient follows no redirects: they would carry keys in Headers to
// wherever the answer points.
var defaultClient = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// sink hands chunks to whoever ranges over them, until he has enough.
type sink struct {
	yield   func(agent.Chunk, error) bool
	stopped bool
}

func (s *sink) emit(c agent.Chunk) {
	if !s.stopped && !s.yield(c, nil) {
		s.stopped = true
	}
}

// answer turns the events of one wire into chunks.
type answer interface {
	// event takes one event; done says that it was the last. It keeps nothing of data.
	event(data []byte) (done bool, err error)
	// whole takes an answer that came in one piece.
	whole(data []byte) error
	// finish tells the reason to stop, once the provider gave one; whether it
	// must have given one is the caller's to know.
	finish() (reason agent.FinishReason, given bool)
	// tokens tells the usage reported so far, nil if none was.
	tokens() *agent.Usage
}

// Stream makes one call and yields its answer.
func (m *model) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		out := &sink{yield: yield}
		if err := m.stream(ctx, req, out); err != nil && !out.stopped {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			yield(agent.Chunk{}, err)
		}
	}
}

func (m *model) stream(ctx context.Context, req *agent.Request, out *sink) error {
	if m.invalid != nil {
		return m.invalid
	}
	body, err := encode(m.wire.request(m, req), req.Settings.ProviderOptions)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := m.post(ctx, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	a := m.wire.answer(m, out)
	reason, err := m.read(resp, a, out)
	if usage := a.tokens(); usage != nil {
		out.emit(agent.Chunk{Kind: agent.ChunkUsage, Usage: usage})
	}
	if err != nil || out.stopped {
		return err
	}
	out.emit(agent.Chunk{Kind: agent.ChunkFinish, Reason: reason})
	stop := time.AfterFunc(drainTime, cancel)
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, drainBytes) // whether it worked shows in the next call's connection only
	return nil
}

// read hands the body to a and returns why the answer ended.
func (m *model) read(resp *http.Response, a answer, out *sink) (agent.FinishReason, error) {
	events := newEventReader(resp.Body)
	first, err := events.first()
	if errors.Is(err, io.EOF) {
		return "", m.malformed(resp.StatusCode, "the answer is empty", nil)
	}
	if err != nil {
		return "", m.broken(err)
	}
	if first == '{' || first == '[' {
		data, err := events.all()
		switch {
		case errors.Is(err, errTooLong):
			return "", m.malformed(resp.StatusCode, "", err)
		case err != nil:
			return "", m.broken(err)
		}
		if err := a.whole(data); err != nil {
			return "", err
		}
		reason, _ := a.finish()
		return reason, nil
	}
	some, done, err := m.readEvents(events, a, out)
	reason, given := a.finish()
	switch {
	case err != nil:
		return "", err
	case out.stopped || given || done && reason != "": // [DONE] ends no response
		return reason, nil
	case !some:
		return "", m.malformed(resp.StatusCode, "no event in an answer of type "+resp.Header.Get("Content-Type"), nil)
	}
	return "", m.broken(io.ErrUnexpectedEOF)
}

// readEvents reads until the wire's own end (done), the stream's end, an error,
// or until nobody wants more; some says whether there was an event at all.
func (m *model) readEvents(events *eventReader, a answer, out *sink) (some, done bool, err error) {
	for {
		data, err := events.next()
		switch _, given := a.finish(); {
		case errors.Is(err, io.EOF):
			return some, false, nil
		case errors.Is(err, errTooLong):
			return some, false, m.malformed(http.StatusOK, "", err)
		case err != nil && given: // all that counts has come
			return some, true, nil
		case err != nil:
			return some, false, m.broken(err)
		case len(data) == 0:
			continue
		case string(data) == "[DONE]":
			return some, some, nil
		}
		if events.isError {
			return some, false, m.failure(0, data)
		}
		some = true
		done, err := a.event(data)
		if err != nil {
			var failure *agent.ModelError
			if events.cut && errors.As(err, &failure) && failure.Class == agent.ClassMalformed {
				err = m.broken(io.ErrUnexpectedEOF)
			}
			return some, false, err
		}
		if done || out.stopped {
			return some, done, nil
		}
	}
}

// post sends the request, twice if a refreshed key may help, and returns an
// answer with a status of success. The caller closes its body.
func (m *model) post(ctx context.Context, body []byte) (*http.Response, error) {
	for refresh := false; ; refresh = true {
		key, err := m.key(ctx, refresh)
		if err != nil {
			return nil, err
		}
		resp, err := m.send(ctx, body, key)
		if err != nil {
			return nil, m.broken(err)
		}
		if resp.StatusCode >= 200 && resp.StatusCode < 300 {
			return resp, nil
		}
		// The status has told enough to act on, whatever becomes of the words.
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		resp.Body.Close()
		if resp.StatusCode == http.StatusUnauthorized && m.options.Key != nil && !refresh {
			continue
		}
		failure := m.failure(resp.StatusCode, said, key)
		failure.RetryAfter = retryAfter(resp.Header, time.Now())
		return nil, failure
	}
}

// key returns the token to send, empty for none.
func (m *model) key(ctx context.Context, refresh bool) (string, error) {
	switch {
	case m.options.Key != nil:
		key, err := m.options.Key(ctx, refresh)
		var failure *agent.ModelError
		if err == nil || errors.As(err, &failure) {
			return key, err
		}
		return "", &agent.ModelError{Class: agent.ClassAuth, Provider: m.info.Provider, Detail: "no token for the call", Err: err}
	case m.options.APIKey != "":
		return m.options.APIKey, nil
	case !m.envKey:
		return "", nil
	}
	key := os.Getenv(keyVar)
	if key == "" && m.vendor && !m.authorized() {
		return "", &agent.ModelError{
			Class: agent.ClassAuth, Provider: m.info.Provider,
			Detail: "no key: set the environment variable " + keyVar + " or Options.APIKey",
		}
	}
	return key, nil
}

// authorized reports whether Headers authorize the call themselves.
func (m *model) authorized() bool {
	for name := range m.options.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

func (m *model) send(ctx context.Context, body []byte, key string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, shoal.Invalid("baseURL", "cannot be called")
	}
	set := func(name, value string) {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	set("Content-Type", "application/json")
	set("Accept", "text/event-stream")
	set("User-Agent", "shoal")
	set("OpenAI-Organization", m.options.Organization)
	set("OpenAI-Project", m.options.Project)
	if key != "" {
		set("Authorization", "Bearer "+key)
	}
	for name, value := range m.options.Headers {
		req.Header.Set(name, value)
	}
	client := m.options.HTTPClient
	if client == nil {
		client = defaultClient
	}
	return client.Do(req)
}
