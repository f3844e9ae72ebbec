// Package openai speaks to OpenAI and to every server that is compatible with
// it: vLLM, Ollama, llama.cpp, OpenRouter, DeepSeek and many more.
//
//	model := openai.Chat("gpt-5-mini")                        // key from OPENAI_API_KEY
//	model := openai.Responses("gpt-5", openai.Options{Window: 400_000})
//	model := openai.Ollama("qwen3")                           // on this machine
//	model := openai.Chat("deepseek-chat", openai.Options{
//		Provider: "deepseek", BaseURL: "https://api.deepseek.com/v1", APIKey: key,
//	})
//
// [Chat] uses the chat completions wire, which everybody has; [Responses] the
// wire of the Responses API, without state at the provider: nothing is stored
// there, and encrypted thoughts travel with the conversation.
//
// The package guarantees:
//   - One attempt for each call: one HTTP request, or two around a refreshed key. No
//     redirect is followed.
//   - A stream that ends early is an error, never a short answer.
//   - The same history gives the same bytes, and a longer history begins with
//     the bytes of the shorter one, so that prompt caches work.
//   - What the provider's own tools did (web_search_call and the like, Responses
//     only) and the annotations of texts are kept with the conversation and go back.
//     Part.Citations has the citations of web pages to show.
//     Items that ask the client to do something are not.
//   - Errors contain neither keys nor headers.
//
// Reasoning is sent as the model accepts it, which its name says: the nearest of
// its efforts (none as its lowest effort where thinking cannot be prevented), and
// nothing to the models that do not think, up to GPT-4 and the chat models of
// GPT-5. A budget without an effort is translated: low up to 4096 tokens, medium up
// to 16384, high below 32768, else xhigh. A model that is not known gets what the
// newest ones accept; models of other vendors get the effort as it is.
//
// What a wire format does not support is left out (Responses has no seed, stop words or
// penalties) or, for a file, replaced by a line of text.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

const (
	vendorURL  = "https://api.openai.com/v1"
	keyVar     = "OPENAI_API_KEY"
	baseURLVar = "OPENAI_BASE_URL"
)

// Options are the address of the API and the credentials. The zero value is OpenAI with the
// key from the environment.
type Options struct {
	// APIKey is sent with each call, as a bearer token. Without it and without
	// Key, OPENAI_API_KEY, as it is when the model is made, is used for OpenAI's
	// own URL and for the one in OPENAI_BASE_URL; any other BaseURL then gets no
	// key at all.
	APIKey string
	// Key returns the key of each call, instead of APIKey. When the provider says
	// that a key is wrong, Key is asked once more with refresh true, and the call
	// is made once again. It must be safe for concurrent use.
	Key func(ctx context.Context, refresh bool) (string, error)
	// BaseURL goes up to and including /v1. Empty is the variable
	// OPENAI_BASE_URL, else OpenAI's own. A query in it stays.
	BaseURL string
	// HTTPClient makes the calls; nil is one without a time limit. It is not
	// changed, and its redirects are not followed.
	HTTPClient *http.Client
	// Headers are set on each call, over the package's own.
	Headers map[string]string
	// Window is the model's context window in tokens, 0 when unknown.
	Window int
	// Organization and Project bill a call at OpenAI.
	Organization string
	Project      string
	// Provider is the name in errors and in [agent.ModelInfo]; empty is openai.
	Provider string
	// HostedTools are executed by the provider, with [Responses] only. They follow the
	// agent's own tools and precede those of Settings.ProviderOptions.
	HostedTools []HostedTool
}

// Chat returns a model of the chat completions API. If several options set a field, the
// last one wins. Invalid options are reported as the error of each call.
//
// Settings.MaxOutputTokens is sent as max_completion_tokens to OpenAI and
// Azure, where thinking models accept nothing else, and as max_tokens to all
// others, which may not know the new name.
func Chat(name string, options ...Options) agent.Model { return newModel(chatAPI, name, options) }

// Responses returns a model of the Responses API; otherwise it is like [Chat]. It
// requests encrypted reasoning, except from the model families that refuse such a
// request because they do not reason.
func Responses(name string, options ...Options) agent.Model {
	return newModel(responsesAPI, name, options)
}

// ChatOn is [Chat] for a model that a cloud serves. It is for the package azure: programs
// create a model with that.
func ChatOn(platform *wire.Platform, name string, options ...Options) agent.Model {
	return newModelOn(platform, chatAPI, name, options)
}

// ResponsesOn is [Responses] for a model that a cloud serves; otherwise it is like [ChatOn].
func ResponsesOn(platform *wire.Platform, name string, options ...Options) agent.Model {
	return newModelOn(platform, responsesAPI, name, options)
}

// Ollama returns a model of an Ollama server on this machine; options are as for
// [Chat].
func Ollama(name string, options ...Options) agent.Model {
	local := Options{Provider: "ollama", BaseURL: "http://127.0.0.1:11434/v1"}
	return newModel(chatAPI, name, append([]Options{local}, options...))
}

// api is one of the two protocols.
type api struct {
	path    string
	request func(m *model, req *agent.Request) []field
	answer  func(m *model, out *wire.Exchange) answer
}

// model is an [agent.Model]; nothing in it changes after newModel and newModelOn.
type model struct {
	*wire.Client
	api     api
	options Options
	hosted  []json.RawMessage
	path    string // of a call
	sent    string // the model's name in requests
	modern  bool   // takes max_completion_tokens
}

func newModel(a api, name string, options []Options) *model {
	o := wire.Over(options...)
	m := newClient(a, wire.Vendor{
		Provider: cmp.Or(o.Provider, "openai"), URL: vendorURL, URLVar: baseURLVar, KeyVars: []string{keyVar},
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Explain:   explain,
	}, name, o)
	m.modern = m.Own || m.Within("openai.azure.com")
	return m
}

func newModelOn(platform *wire.Platform, a api, name string, options []Options) *model {
	vendor := platform.Vendor
	vendor.Explain = platform.ExplainOver(explain)
	m := newClient(a, vendor, name, wire.Over(options...))
	m.path, m.modern = platform.Path, true
	m.sent = cmp.Or(platform.Sent, name)
	if platform.Invalid != nil {
		m.Invalid = platform.Invalid
	}
	return m
}

func newClient(a api, vendor wire.Vendor, name string, o Options) *model {
	m := &model{api: a, options: o, path: a.path, sent: name, Client: wire.New(vendor, name, wire.Reach{
		APIKey: o.APIKey, Key: o.Key, BaseURL: o.BaseURL, HTTPClient: o.HTTPClient, Headers: o.Headers, Window: o.Window,
	})}
	hosted, err := wire.Hosted(o.HostedTools, HostedTool.declare)
	if len(hosted) > 0 && a.path != responsesAPI.path {
		err = agent.Invalid("HostedTools", "are tools of the Responses API; create the model with Responses")
	}
	if m.hosted = hosted; err != nil && m.Invalid == nil {
		m.Invalid = err
	}
	return m
}
