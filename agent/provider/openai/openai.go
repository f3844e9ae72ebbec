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
// What is promised:
//   - One attempt for each call. Failures are [*agent.ModelError] with a class
//     from status and code; the end of the context is answered with its cause.
//   - A stream that breaks off is an error, never a short answer.
//   - The same history gives the same bytes, and a longer history begins with
//     the bytes of the shorter one, so that prompt caches work.
//   - Neither keys nor headers show up in an error.
//
// What a wire cannot carry is left out (Responses has no seed, stop words or
// penalties) or told in words (a file that the wire cannot hold).
package openai

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"

	shoal "github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

const (
	vendorURL  = "https://api.openai.com/v1"
	keyVar     = "OPENAI_API_KEY"
	baseURLVar = "OPENAI_BASE_URL"
)

// Options say where a model is and who asks. The zero value is OpenAI with the
// key from the environment.
type Options struct {
	// APIKey is sent as a bearer token. Without it and without Key, the variable
	// OPENAI_API_KEY is used for OpenAI's own URL and for the one in
	// OPENAI_BASE_URL; any other BaseURL then gets no Authorization at all.
	APIKey string
	// Key returns the token of each call, instead of APIKey. When the provider
	// answers 401 it is asked once more with refresh true, and the call is made
	// once again. It must be safe for concurrent use.
	Key func(ctx context.Context, refresh bool) (string, error)
	// BaseURL goes up to and including /v1. Empty is the variable
	// OPENAI_BASE_URL, else OpenAI's own. A query in it stays.
	BaseURL string
	// HTTPClient makes the calls; nil is one without a time limit that follows no
	// redirects.
	HTTPClient *http.Client
	// Headers are set on each call, over the package's own.
	Headers map[string]string
	// Organization and Project bill a call at OpenAI.
	Organization string
	Project      string
	// Window is the model's context window in tokens, 0 when unknown.
	Window int
	// Provider is the name in errors and in [agent.ModelInfo]; empty is openai.
	Provider string
}

// over returns o with every field replaced that next sets.
func (o Options) over(next Options) Options {
	set := func(mine *string, theirs string) {
		if theirs != "" {
			*mine = theirs
		}
	}
	set(&o.APIKey, next.APIKey)
	set(&o.BaseURL, next.BaseURL)
	set(&o.Organization, next.Organization)
	set(&o.Project, next.Project)
	set(&o.Provider, next.Provider)
	if next.Key != nil {
		o.Key = next.Key
	}
	if next.HTTPClient != nil {
		o.HTTPClient = next.HTTPClient
	}
	if next.Headers != nil {
		o.Headers = next.Headers
	}
	if next.Window != 0 {
		o.Window = next.Window
	}
	return o
}

// Chat returns a model behind the chat completions API. Of several options a
// later one wins field by field. Wrong options show as the error of each call.
//
// Settings.MaxOutputTokens is sent as max_completion_tokens to OpenAI and
// Azure, whose thinking models take nothing else, and as max_tokens to all
// others, who may not know the new name.
func Chat(name string, options ...Options) agent.Model { return newModel(chatWire, name, options) }

// Responses returns a model behind the Responses API; else it is like [Chat].
// Encrypted thoughts are asked for, except from the model families that refuse
// such a request because they do not think.
func Responses(name string, options ...Options) agent.Model {
	return newModel(responsesWire, name, options)
}

// Ollama returns a model of an Ollama server on this machine; options are as for
// [Chat].
func Ollama(name string, options ...Options) agent.Model {
	local := Options{Provider: "ollama", BaseURL: "http://127.0.0.1:11434/v1"}
	return newModel(chatWire, name, append([]Options{local}, options...))
}

// wire is one of the two protocols.
type wire struct {
	path    string
	request func(m *model, req *agent.Request) []field
	answer  func(m *model, out *sink) answer
}

// model is an [agent.Model]; nothing in it changes after newModel.
type model struct {
	wire    wire
	info    agent.ModelInfo
	options Options
	url     string
	vendor  bool // the URL is OpenAI's own
	modern  bool // takes max_completion_tokens
	envKey  bool // the environment's key belongs to this URL
	invalid error
}

func newModel(w wire, name string, options []Options) *model {
	o := Options{Provider: "openai"}
	for _, next := range options {
		o = o.over(next)
	}
	m := &model{wire: w, options: o}
	m.info = agent.ModelInfo{Provider: o.Provider, Name: name, Window: o.Window}
	if name == "" {
		m.invalid = shoal.Invalid("model", "must name a model")
		return m
	}
	base, ours := o.BaseURL, false
	if base == "" {
		base, ours = os.Getenv(baseURLVar), true
	}
	if base == "" {
		base = vendorURL
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The URL itself may hold a password, so it is not repeated here.
		m.invalid = shoal.Invalid("baseURL", "must be an http or https URL such as "+vendorURL)
		return m
	}
	host := strings.ToLower(u.Hostname())
	m.vendor = u.Scheme == "https" && within(host, "api.openai.com")
	m.modern = m.vendor || within(host, "openai.azure.com")
	m.envKey = ours || m.vendor
	u.Path = strings.TrimRight(u.Path, "/") + w.path
	u.RawPath, u.Fragment = "", ""
	m.url = u.String()
	m.info.Address = address(u)
	return m
}

func within(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

func address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "http" {
		return u.Host + ":80"
	}
	return u.Host + ":443"
}

// Info names the model.
func (m *model) Info() agent.ModelInfo { return m.info }
