// Package google is an [agent.Model] on the Gemini API of Google.
//
//	model := google.New("gemini-2.5-flash") // key from GOOGLE_API_KEY or GEMINI_API_KEY
//	a, err := agent.New(model, agent.Options{Instructions: "Answer in one sentence."})
//
// What is promised:
//   - One Stream is one HTTP request. Nothing is sent again, no stream is resumed,
//     no redirect is followed, and nothing but the key is read from the environment.
//   - Text and thoughts arrive as they are written. The arguments of a call
//     arrive in one piece: the API does not stream them. They are passed on and
//     given back as written, long numbers included.
//   - Finish comes only when a finish reason was given and the stream ended well.
//   - Signatures of thoughts are kept in Part.Opaque of the part that they came
//     with and go back with it unchanged.
//
// How requests are sent:
//   - Schemas go as JSON Schema, not as the API's own dialect.
//   - Reasoning with a budget is sent as that budget, which is added to
//     MaxOutputTokens, since the API counts thoughts as output. Without a budget,
//     Effort is sent as a level (xhigh as high), and to the models before Gemini 3,
//     which know no levels, as a budget of 1024, 8192 or 24576 tokens. none
//     switches thinking off as far as the model allows it.
//   - Whether calls may come in parallel cannot be said; it is left out.
//   - Models from Gemini 3 on refuse calls without a signature, so calls of
//     another provider carry the word that the API has for them.
//   - Files in tool results follow the results in the same turn.
//   - A file that the API cannot take is replaced by a line of text that tells the
//     model so.
package google

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	shoal "github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

const (
	provider   = "gcp.gemini"
	vendorURL  = "https://generativelanguage.googleapis.com"
	apiVersion = "v1beta"
	keyVar     = "GEMINI_API_KEY"
	otherKey   = "GOOGLE_API_KEY"
)

// Options say how the API is reached. The zero value reaches the vendor with
// the key from the environment.
type Options struct {
	// APIKey is the key. Empty takes GOOGLE_API_KEY, else GEMINI_API_KEY, as they
	// are when New is called (the vendor's order); without any, every Stream fails
	// with [agent.ClassAuth].
	APIKey string
	// BaseURL is the scheme and host of the API, without /v1beta; empty is the
	// vendor's.
	BaseURL string
	// HTTPClient sends the requests; nil is one without a time limit. It is not
	// changed, and its redirects are not followed.
	HTTPClient *http.Client
	// Headers are set on each call, over the package's own.
	Headers map[string]string
	// Window is the model's context window in tokens, 0 when unknown.
	Window int
}

// over returns o with every field replaced that next sets.
func (o Options) over(next Options) Options {
	o.APIKey = cmp.Or(next.APIKey, o.APIKey)
	o.BaseURL = cmp.Or(next.BaseURL, o.BaseURL)
	o.HTTPClient = cmp.Or(next.HTTPClient, o.HTTPClient)
	o.Window = cmp.Or(next.Window, o.Window)
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
	path    string // of the model
	invalid error
}

// New returns a model behind the Gemini API. Of several options a later one wins
// field by field. Wrong options show as the error of each call.
func New(name string, options ...Options) agent.Model {
	o := Options{HTTPClient: &http.Client{}, BaseURL: vendorURL, APIKey: cmp.Or(os.Getenv(otherKey), os.Getenv(keyVar))}
	for _, next := range options {
		o = o.over(next)
	}
	m := &model{options: o}
	m.info = agent.ModelInfo{Provider: provider, Name: name, Window: o.Window}
	u, err := url.Parse(o.BaseURL)
	switch {
	case name == "":
		m.invalid = shoal.Invalid("model", "must name a model")
	case err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https"):
		// The URL itself may hold a password, so it is not repeated here.
		m.invalid = shoal.Invalid("baseURL", "must be an http or https URL such as "+vendorURL)
	case o.APIKey == "":
		m.invalid = &agent.ModelError{
			Class: agent.ClassAuth, Provider: provider,
			Detail: "no API key: set " + keyVar + ", " + otherKey + " or Options.APIKey",
		}
	}
	if strings.ContainsAny(name, "?&#") || strings.Contains(name, "..") {
		m.invalid = shoal.Invalid("model", "must not hold ?, &, # or ..")
	}
	m.path = name
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		m.path = "models/" + name
	}
	// The standard client would carry the key's header to another host.
	own := *o.HTTPClient
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	m.client = &own
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
		read := reader{yield: func(c agent.Chunk) bool { return yield(c, nil) }}
		var last error
		for data, err := range m.send(ctx, ex, m.body(req)) {
			if last = err; err != nil {
				break
			}
			switch more, err := read.event(data); {
			case err != nil:
				yield(agent.Chunk{}, ex.told(err))
				return
			case !more:
				return
			}
		}
		if err := ex.ended(last, read.reason != ""); err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		if err := read.finish(); err != nil {
			yield(agent.Chunk{}, err)
		}
	}
}

// send posts the body and takes the events of the answer, one after the other.
func (m *model) send(ctx context.Context, ex *exchange, body map[string]any) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		text, err := json.Marshal(body)
		if err != nil {
			yield(nil, err)
			return
		}
		to := strings.TrimRight(m.options.BaseURL, "/") + "/" + apiVersion + "/" + m.path + ":streamGenerateContent?alt=sse"
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(text))
		if err != nil {
			yield(nil, err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Goog-Api-Key", m.options.APIKey)
		for name, value := range m.options.Headers {
			req.Header.Set(name, value)
		}
		if err := ex.post(m.client, req); err != nil {
			yield(nil, err)
			return
		}
		defer ex.body.from.Close()
		for data := ex.body.next(); data != nil; data = ex.body.next() {
			if !yield(data, nil) {
				return
			}
		}
	}
}
