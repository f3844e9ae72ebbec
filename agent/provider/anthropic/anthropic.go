// Package anthropic is an [agent.Model] on Anthropic's Messages API.
//
//	model := anthropic.New("claude-sonnet-4-5") // key from ANTHROPIC_API_KEY
//	a, err := agent.New(model, agent.Options{Instructions: "Answer in one sentence."})
//
// The package guarantees:
//   - One attempt for each call: one HTTP request, or two around a refreshed key. No
//     redirect is followed, and nothing but the key is read from the environment
//     or from files.
//   - Errors contain neither keys nor headers.
//   - Text, thoughts and tool arguments arrive as they are written.
//   - A stream that ends early is an error, never a short answer.
//   - Thoughts keep their signature in Part.Opaque and go back unchanged, redacted
//     ones too. Thoughts without a signature of this provider cannot be sent and
//     are left out.
//   - What the provider's own tools did (server_tool_use and its results, for tools
//     in Options.HostedTools and Settings.ProviderOptions) and the citations of texts
//     are kept in Part.Opaque and go back. Part.Citations has the citations to show. A use without a result goes back as long as the turn goes on.
//   - An answer that ends as pause_turn is continued by the agent's next step.
//   - The prompt cache is used (see Options.NoCache): its markers are on the last
//     tool, the last system text, the last message and the message that was last
//     in the call before, so that a history that only grows is read from the cache.
//
// How settings are sent:
//   - max_tokens is required by the API: 8192 unless MaxOutputTokens says otherwise.
//     Thoughts count towards it there, so a budget of thoughts is added to it, up to
//     what the model can write.
//   - Reasoning is sent as the model's generation accepts it, which its name says:
//     up to Claude 4.5 as a budget (at least 1024; Effort is translated: 1024 tokens
//     for minimal and low, 8192 for medium, which is the default, 24576 for high,
//     32768 for xhigh), from Opus 4.7 on as adaptive thinking with an effort (a
//     budget is translated: low up to 4096, medium up to 16384, high below 32768,
//     else xhigh), by the models of 4.6 as whatever is set. Claude 3.5 and older
//     get none of it. A model that is not known is treated like the newest ones. An
//     effort beyond the model's greatest is sent as that. none switches thinking
//     off; the models that always think get their lowest effort.
//   - Temperature and TopP are left out for Claude models that think and from Opus
//     4.7 on, which refuse them. Models that refuse to be forced to call a tool (from
//     Claude 5.5 on) decide themselves; a budget is left out beside a forced call.
//   - Models of other vendors get the settings as they are.
//   - There is no seed and no frequency or presence penalty; they are left out.
//   - A file that the API cannot take (audio, say) is replaced by a line of text
//     for the model.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

const (
	provider   = "anthropic"
	version    = "2023-06-01" // of the API
	defaultMax = 8192
)

var vendor = wire.Vendor{
	Provider: provider, URL: "https://api.anthropic.com", KeyVars: []string{"ANTHROPIC_API_KEY"},
	Authorize: func(h http.Header, key string) { h.Set("X-Api-Key", key) },
	Explain:   explain,
}

// Options are the address of the API and the credentials. The zero value is Anthropic with
// the key from the environment.
type Options struct {
	// APIKey is sent with each call. Without it and without Key,
	// ANTHROPIC_API_KEY, as it is when the model is made, is used for Anthropic's
	// own URL; any other BaseURL then gets no key at all.
	APIKey string
	// Key returns the key of each call, instead of APIKey. When the provider says
	// that a key is wrong, Key is asked once more with refresh true, and the call
	// is made once again. It must be safe for concurrent use.
	Key func(ctx context.Context, refresh bool) (string, error)
	// BaseURL goes up to and excluding /v1. Empty is Anthropic's own.
	BaseURL string
	// HTTPClient makes the calls; nil is one without a time limit. It is not
	// changed, and its redirects are not followed.
	HTTPClient *http.Client
	// Headers are set on each call, over the package's own.
	Headers map[string]string
	// Window is the model's context window in tokens, 0 when unknown.
	Window int
	// NoCache sends no marks for the prompt cache, whose writes cost more than
	// plain input: for calls that never repeat their beginning.
	NoCache bool
	// HostedTools are executed by the provider. They follow the agent's own tools and
	// precede those of Settings.ProviderOptions.
	HostedTools []HostedTool
}

// model is an [agent.Model]; nothing in it changes after New.
type model struct {
	*wire.Client
	noCache bool
	hosted  []json.RawMessage
	betas   string
	at      *wire.Platform // nil at Anthropic
}

// New returns a model of the Messages API. If several options set a field, the last
// one wins. Invalid options are reported as the error of each call.
func New(name string, options ...Options) agent.Model { return newModel(nil, name, options) }

// On returns a model that a cloud serves. It is for the packages of clouds, such as vertex and
// bedrock: programs create a model with one of those.
func On(platform *wire.Platform, name string, options ...Options) agent.Model {
	return newModel(platform, name, options)
}

func newModel(at *wire.Platform, name string, options []Options) *model {
	o := wire.Over(options...)
	vendor := vendor
	if at != nil {
		vendor = at.Vendor
		vendor.Explain = at.ExplainOver(explain)
	}
	client := wire.New(vendor, name, wire.Reach{
		APIKey: o.APIKey, Key: o.Key, BaseURL: o.BaseURL, HTTPClient: o.HTTPClient, Headers: o.Headers, Window: o.Window,
	})
	hosted, err := wire.Hosted(o.HostedTools, HostedTool.declare)
	if err != nil && client.Invalid == nil {
		client.Invalid = err
	}
	if at != nil && at.Invalid != nil {
		client.Invalid = at.Invalid
	}
	return &model{client, o.NoCache, hosted, betasOf(o.HostedTools), at}
}

// Stream sends req and yields the answer; see [agent.Model].
func (m *model) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return m.Call(ctx, func(x *wire.Exchange) error {
		body, err := m.body(req)
		if err != nil {
			return err
		}
		to, header, open := m.call()
		resp, err := x.Post(ctx, to, header, body)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return read(x, open(x, resp.Body))
	})
}

// call returns where a request goes, with which headers, and what reads the events of its
// answer.
func (m *model) call() (to string, header map[string]string, open func(*wire.Exchange, io.Reader) func() ([]byte, error)) {
	switch {
	case m.at == nil:
		return m.URL("/v1/messages").String(), map[string]string{"Anthropic-Version": version, "Anthropic-Beta": m.betas}, events
	case m.at.Open == nil:
		return m.Escaped(m.at.Path).String(), map[string]string{"Anthropic-Beta": m.betas}, events
	}
	return m.Escaped(m.at.Path).String(), map[string]string{"Accept": m.at.Accept}, m.at.Open
}

// read passes the events of an answer on. The answer is whole when its last event says
// so; what a server sends after that is not read.
func read(x *wire.Exchange, next func() ([]byte, error)) error {
	answer := reader{x: x, blocks: map[int64]*openBlock{}}
	for !x.Stopped {
		data, err := next()
		if err != nil {
			return err
		}
		if done, err := answer.event(data); done || err != nil {
			return err
		}
	}
	return nil
}

// events reads a text/event-stream.
func events(x *wire.Exchange, body io.Reader) func() ([]byte, error) {
	events, n := wire.NewEvents(body), 0
	return func() ([]byte, error) {
		data, err := events.Next()
		switch {
		case errors.Is(err, wire.ErrNoEvent):
			text, err := events.Rest()
			if err != nil {
				return nil, x.StreamError(err, n)
			}
			if failure := x.Failure(0, text); failure.Code != "" {
				return nil, failure
			}
			return nil, x.Malformed("JSON in the place of an event", nil)
		case err != nil:
			return nil, x.StreamError(err, n)
		case events.Cut:
			return nil, x.StreamError(io.EOF, n)
		case events.IsError:
			return nil, x.Failure(0, data)
		}
		n++
		return data, nil
	}
}
