// Package google is an [agent.Model] on the Gemini API of Google.
//
//	model := google.New("gemini-2.5-flash") // key from GOOGLE_API_KEY or GEMINI_API_KEY
//	a, err := agent.New(model, agent.Options{Instructions: "Answer in one sentence."})
//
// The package guarantees:
//   - One attempt for each call: one HTTP request, or two around a refreshed key. No
//     stream is resumed, no redirect is followed, and nothing but the key is read
//     from the environment.
//   - Errors contain neither keys nor headers.
//   - Text and thoughts arrive as they are written. The arguments of a call
//     arrive in one piece: the API does not stream them. They are passed on and
//     given back as written, long numbers included.
//   - A stream that ends early is an error, never a short answer.
//   - Signatures of thoughts are kept in Part.Opaque of the part that they came
//     with and go back with it unchanged.
//   - What the provider's own tools did (code and its result, say) is kept in
//     Part.Opaque and goes back, unless the answer was cut short. Part.Citations has
//     the web pages that Google Search found for a text.
//
// How requests are sent:
//   - Schemas go as JSON Schema, not as the API's own dialect.
//   - Reasoning is sent as the model accepts it, which its name says. From Gemini 3
//     on that is a level: Effort, or the nearest level that the model has; a budget
//     is translated (low up to 4096 tokens, medium up to 16384, else high). To Gemini
//     2.5 it is a budget within the model's bounds; Effort is translated (1024
//     tokens for minimal and low, 8192 for medium, 24576 for high, 32768 for xhigh).
//     Older models do not think and get none of it. none switches thinking off; the
//     models that always think get their lowest level or budget. A budget is added
//     to MaxOutputTokens, since the API counts thoughts as output.
//   - Whether calls may come in parallel cannot be said; it is left out.
//   - Models from Gemini 3 on refuse calls without a signature, so calls of
//     another provider carry the word that the API has for them.
//   - Files in tool results follow the results in the same turn.
//   - A file that the API does not support is replaced by a line of text for the
//     model.
//
// The vendor's SDK is not used: it starts a goroutine that never ends, passes
// arguments through map[string]any, and resumes streams by itself.
package google

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/gcp"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

const provider = "gcp.gemini"

var vendor = wire.Vendor{
	Provider: provider, URL: "https://generativelanguage.googleapis.com",
	KeyVars:   []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}, // in the vendor's order
	Authorize: func(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) },
	Explain:   gcp.Explain,
}

// Options are the address of the API and the credentials. The zero value is Google with the
// key from the environment.
type Options struct {
	// APIKey is sent with each call. Without it and without Key, GOOGLE_API_KEY,
	// else GEMINI_API_KEY, as they are when the model is made, are used for
	// Google's own URL; any other BaseURL then gets no key at all.
	APIKey string
	// Key returns the key of each call, instead of APIKey. When the provider says
	// that a key is wrong, Key is asked once more with refresh true, and the call
	// is made once again. It must be safe for concurrent use.
	Key func(ctx context.Context, refresh bool) (string, error)
	// BaseURL goes up to and excluding /v1beta. Empty is Google's own. A query in
	// it stays.
	BaseURL string
	// HTTPClient makes the calls; nil is one without a time limit. It is not
	// changed, and its redirects are not followed.
	HTTPClient *http.Client
	// Headers are set on each call, over the package's own.
	Headers map[string]string
	// Window is the model's context window in tokens, 0 when unknown.
	Window int
	// HostedTools are executed by the provider. They follow the agent's own tools and
	// precede those of Settings.ProviderOptions.
	HostedTools []HostedTool
}

// model is an [agent.Model]; nothing in it changes after New.
type model struct {
	*wire.Client
	to     *url.URL // of its stream; nil for invalid options
	hosted []json.RawMessage
}

// New returns a model of the Gemini API. If several options set a field, the last one
// wins. Invalid options are reported as the error of each call.
func New(name string, options ...Options) agent.Model {
	m := newModel(vendor, name, options)
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	if m.Invalid == nil {
		m.to = m.URL("/v1beta/" + name + ":streamGenerateContent")
	}
	return m
}

// On returns a model that a cloud serves. It is for the package vertex: programs create a
// model with that.
func On(platform *wire.Platform, name string, options ...Options) agent.Model {
	m := newModel(platform.Vendor, name, options)
	if platform.Invalid != nil {
		m.Invalid = platform.Invalid
	}
	if m.Invalid == nil {
		m.to = m.Escaped(platform.Path)
	}
	return m
}

func newModel(vendor wire.Vendor, name string, options []Options) *model {
	o := wire.Over(options...)
	m := &model{Client: wire.New(vendor, name, wire.Reach{
		APIKey: o.APIKey, Key: o.Key, BaseURL: o.BaseURL, HTTPClient: o.HTTPClient, Headers: o.Headers, Window: o.Window,
	})}
	hosted, err := wire.Hosted(o.HostedTools, func(t HostedTool) (any, error) { return t.declare(), nil })
	if m.hosted = hosted; err != nil && m.Invalid == nil {
		m.Invalid = err
	}
	if strings.ContainsAny(name, "?&#") || strings.Contains(name, "..") {
		m.Invalid = agent.Invalid("model", "must not hold ?, &, # or ..")
	}
	return m
}

// Stream sends req and yields the answer; see [agent.Model].
func (m *model) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return m.Call(ctx, func(x *wire.Exchange) error {
		body, err := m.body(req)
		if err != nil {
			return err
		}
		text, err := json.Marshal(body)
		if err != nil {
			return agent.Invalid("request", "cannot be written as JSON: "+err.Error())
		}
		to := *m.to
		to.RawQuery = strings.TrimPrefix(to.RawQuery+"&alt=sse", "&")
		resp, err := x.Post(ctx, to.String(), nil, text)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return read(reader{x: x, cites: body["tools"] != nil, provider: m.Info().Provider}, resp.Body)
	})
}

// read passes the events of an answer on. Some models give a reason to finish in every
// event, so only the end of the stream says that the answer is whole.
func read(answer reader, body io.Reader) error {
	x, events := answer.x, wire.NewEvents(body)
	for n := 0; !x.Stopped; n++ {
		data, err := events.Next()
		switch {
		case errors.Is(err, wire.ErrNoEvent):
			said, err := events.Rest()
			switch {
			case err != nil:
				return x.StreamError(err, n)
			case gcp.Explain(0, said).Message != "":
				return x.Failure(0, said)
			}
			return x.Malformed("JSON in the place of an event", nil)
		case errors.Is(err, io.EOF) && answer.reason != "":
			return answer.finish()
		case err != nil:
			return x.StreamError(err, n)
		case events.Cut:
			return x.StreamError(io.EOF, n)
		}
		if err := answer.event(data); err != nil {
			return err
		}
	}
	return nil
}
