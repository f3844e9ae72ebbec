// Package anthropic is an [agent.Model] on Anthropic's Messages API.
//
//	model := anthropic.New("claude-sonnet-4-5") // key from ANTHROPIC_API_KEY
//	a, err := agent.New(model, agent.Options{Instructions: "Answer in one sentence."})
//
// What is promised:
//   - One Stream is one HTTP request. Nothing is sent again, no redirect is
//     followed, and nothing but what Options and the request say is read from the
//     environment or from files (the key aside).
//   - Text, thoughts and tool arguments arrive as they are written. Finish comes
//     only after the provider said that the message is whole.
//   - Thoughts keep their signature in Part.Opaque and go back unchanged, redacted
//     ones too. Thoughts without a signature of this provider cannot be sent and
//     are left out.
//   - The prompt cache is used (see Options.NoCache): the marks stand on the last
//     tool, the last system text, the last message and the message that was last
//     in the call before, so that a history that only grows is read from the cache.
//
// How settings are sent:
//   - max_tokens is required by the API: 8192 unless MaxOutputTokens says otherwise.
//     Thoughts count towards it there, so a budget of thoughts is added to it.
//   - Reasoning with a budget is sent as that budget (at least 1024); without one
//     the model decides how much to think, guided by Effort as far as it is given
//     (minimal counts as low, none switches thinking off).
//   - There is no seed and no frequency or presence penalty; they are left out.
//   - A file that the API cannot take (audio, say) is replaced by a line of text
//     that tells the model so.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	shoal "github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

const (
	provider   = "anthropic"
	vendorURL  = "https://api.anthropic.com"
	keyVar     = "ANTHROPIC_API_KEY"
	defaultMax = 8192
)

// Options say how the API is reached. The zero value reaches the vendor with
// the key from the environment.
type Options struct {
	// APIKey is the key. Empty takes ANTHROPIC_API_KEY as it is when New is
	// called; without either, every Stream fails with [agent.ClassAuth].
	APIKey string
	// BaseURL is the scheme and host of the API, without /v1; empty is the vendor's.
	BaseURL string
	// HTTPClient sends the requests; nil is one without a time limit. It is not
	// changed, and its redirects are not followed.
	HTTPClient *http.Client
	// Headers are set on each call, over the package's own.
	Headers map[string]string
	// Window is the model's context window in tokens, 0 when unknown.
	Window int
	// NoCache sends no marks for the prompt cache, whose writes cost more than
	// plain input: for calls that never repeat their beginning.
	NoCache bool
}

// over returns o with every field replaced that next sets.
func (o Options) over(next Options) Options {
	o.APIKey = cmp.Or(next.APIKey, o.APIKey)
	o.BaseURL = cmp.Or(next.BaseURL, o.BaseURL)
	o.HTTPClient = cmp.Or(next.HTTPClient, o.HTTPClient)
	o.Window = cmp.Or(next.Window, o.Window)
	o.NoCache = o.NoCache || next.NoCache
	if next.Headers != nil {
		o.Headers = next.Headers
	}
	return o
}

// model is an [agent.Model]; nothing in it changes after New.
type model struct {
	info    agent.ModelInfo
	options Options
	client  *http.Client
	invalid error
}

// New returns a model behind the Messages API. Of several options a later one
// wins field by field. Wrong options show as the error of each call.
func New(name string, options ...Options) agent.Model {
	o := Options{HTTPClient: &http.Client{}, BaseURL: vendorURL, APIKey: os.Getenv(keyVar)}
	for _, next := range options {
		o = o.over(next)
	}
	m := &model{options: o}
	m.info = agent.ModelInfo{Provider: provider, Name: name, Window: o.Window}
	// The standard client would carry the key's header to another host.
	own := *o.HTTPClient
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	m.client = &own

	u, err := url.Parse(o.BaseURL)
	switch {
	case name == "":
		m.invalid = shoal.Invalid("model", "must name a model")
	case err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https"):
		// The URL itself may hold a password, so it is not repeated here.
		m.invalid = shoal.Invalid("baseURL", "must be an http or https URL such as "+vendorURL)
	case o.APIKey == "":
		m.invalid = &agent.ModelError{Class: agent.ClassAuth, Provider: provider, Detail: "no API key: set " + keyVar + " or Options.APIKey"}
	}
	if err == nil && u.Hostname() != "" {
		port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
		m.info.Address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	}
	return m
}

// Info names the model.
func (m *model) Info() agent.ModelInfo { return m.info }

// Stream sends req and yields the answer; see [agent.Model].
func (m *model) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		if m.invalid != nil {
			yield(agent.Chunk{}, m.invalid)
			return
		}
		ex := &exchange{ctx: ctx, key: m.options.APIKey}
		params, opts := m.params(req)
		stream := m.service(ex).NewStreaming(ctx, params, opts...)
		defer stream.Close() //nolint:errcheck // nothing can be done about a connection that does not close

		read := reader{blocks: map[int64]*block{}, yield: func(c agent.Chunk) bool { return yield(c, nil) }}
		for stream.Next() {
			ex.events++
			switch done, err := read.event(stream.Current()); {
			case err != nil:
				yield(agent.Chunk{}, err)
				return
			case done:
				return
			}
		}
		yield(agent.Chunk{}, ex.ended(stream.Err()))
	}
}

// service is the SDK's client for one exchange. It is built from options alone:
// the SDK's own constructor would read the environment and profile files.
func (m *model) service(ex *exchange) *sdk.MessageService {
	opts := []option.RequestOption{
		option.WithBaseURL(m.options.BaseURL),
		option.WithHTTPClient(m.client),
		option.WithMaxRetries(0),
		option.WithAPIKey(m.options.APIKey),
		option.WithMiddleware(ex.send),
	}
	for name, value := range m.options.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	service := sdk.NewMessageService(opts...)
	return &service
}
