// Package vertex is an [agent.Model] on Google Cloud's Vertex AI: Gemini, and Claude of
// Anthropic.
//
//	source, err := vertex.Credentials(file) // of a service account, or of gcloud
//	model := vertex.Gemini("gemini-2.5-flash", vertex.Options{Project: "shop", Location: "europe-west4", Token: source})
//	model := vertex.Claude("claude-sonnet-4-5@20250929", vertex.Options{Project: "shop", Location: "global", Token: source})
//
// The wires are those of the packages google and anthropic, whose promises hold here, too:
// one attempt for each call, no redirects, a stream that ends early is an error, and no key or
// token is in an error. Besides:
//   - A token is kept until three minutes before it expires (see [token.Cache]). After a 401 a
//     new one is requested and the call is made once more.
//   - Signatures of Claude's thoughts are valid at every platform, so a conversation can go on
//     at Anthropic or Bedrock. Those of Gemini are sent only to the platform that they are
//     from.
//   - Failures are read in the words of Google Cloud and in those of the model's vendor.
package vertex

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/internal/gcp"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
	"github.com/shoal-dev/shoal/agent/provider/token"
)

// Provider is the name in errors and in [agent.ModelInfo].
const Provider = "gcp.vertex_ai"

const (
	projectVar  = "GOOGLE_CLOUD_PROJECT"
	locationVar = "GOOGLE_CLOUD_LOCATION"

	claudeVersion = "vertex-2023-10-16" // of the wire
)

// Options say where the model is, and authorize the calls.
type Options struct {
	// Project is the id of the Google Cloud project. Empty is the variable
	// GOOGLE_CLOUD_PROJECT, as it is when the model is made.
	Project string
	// Location is where the model runs: a region such as europe-west4, us or eu, or global
	// for wherever Google has room. Empty is the variable GOOGLE_CLOUD_LOCATION, else global.
	Location string
	// Token returns access tokens with the scope [Scope].
	Token token.Source
	// APIKey is a key of Vertex AI in express mode, for Gemini only, in place of Project,
	// Location and Token.
	APIKey string
}

// Gemini returns a model of Google, or a tuned one by its whole name
// (projects/…/endpoints/…). Of the options of package google it takes all but APIKey and Key;
// its BaseURL, in place of the location's, goes up to and excluding /v1. Invalid options are
// reported as the error of each call.
func Gemini(name string, o Options, more ...google.Options) agent.Model {
	options := wire.Over(more...)
	p := o.on("google", name, "streamGenerateContent")
	if options.APIKey != "" || options.Key != nil {
		p.Invalid = agent.Invalid("google.Options", refused)
	}
	if o.APIKey != "" {
		p.URL = "https://aiplatform.googleapis.com"
		p.Path = "/v1/publishers/google/models/" + url.PathEscape(name) + ":streamGenerateContent"
		p.Authorize = func(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) }
	}
	options.BaseURL, options.APIKey, options.Key = cmp.Or(options.BaseURL, p.URL), o.APIKey, nil
	if o.Token != nil {
		options.Key = token.NewCache(o.Token).Key
	}
	return google.On(p, name, options)
}

// Claude returns a model of Anthropic, by its name at Vertex AI, such as
// claude-sonnet-4-5@20250929. Of the options of package anthropic it takes all but APIKey and
// Key; its BaseURL, in place of the location's, goes up to and excluding /v1. Invalid options
// are reported as the error of each call.
func Claude(name string, o Options, more ...anthropic.Options) agent.Model {
	options := wire.Over(more...)
	p := o.on("anthropic", name, "streamRawPredict")
	p.Version = claudeVersion
	switch {
	case options.APIKey != "" || options.Key != nil:
		p.Invalid = agent.Invalid("anthropic.Options", refused)
	case o.APIKey != "":
		p.Invalid = agent.Invalid("APIKey", "is for Gemini only: set Token")
	}
	options.BaseURL, options.APIKey, options.Key = cmp.Or(options.BaseURL, p.URL), "", nil
	if o.Token != nil {
		options.Key = token.NewCache(o.Token).Key
	}
	return anthropic.On(p, name, options)
}

const refused = "cannot have APIKey or Key here: vertex.Options has what replaces them"

// place is the form of projects and locations. A project may have its domain before a colon.
var place = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]*$`)

// on returns the platform for a call of a publisher's model.
func (o Options) on(publisher, name, method string) *wire.Platform {
	project, location := cmp.Or(o.Project, os.Getenv(projectVar)), cmp.Or(o.Location, os.Getenv(locationVar), "global")
	p := &wire.Platform{Vendor: wire.Vendor{
		Provider: Provider, URL: host(location), Explain: gcp.Explain,
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
	}}
	p.Path = "/v1/projects/" + url.PathEscape(project) + "/locations/" + url.PathEscape(location)
	if strings.HasPrefix(name, "projects/") {
		p.Path = "/v1/" + name + ":" + method
	} else {
		p.Path += "/publishers/" + publisher + "/models/" + url.PathEscape(name) + ":" + method
	}
	switch {
	case o.APIKey != "" && o.Token != nil:
		p.Invalid = agent.Invalid("Token", "cannot be combined with APIKey")
	case o.APIKey != "":
	case project == "":
		p.Invalid = agent.Invalid("Project", "must be the id of a Google Cloud project; the environment variable "+projectVar+" can have it, too")
	case !place.MatchString(project):
		p.Invalid = agent.Invalid("Project", "must be the id of a Google Cloud project, such as shop-123")
	case !place.MatchString(location):
		p.Invalid = agent.Invalid("Location", "must be a location of Google Cloud, such as europe-west4 or global")
	case o.Token == nil:
		p.Invalid = &agent.ModelError{Class: agent.ClassAuth, Provider: Provider, Detail: "no token: set Options.Token, to vertex.Credentials or vertex.Metadata for instance"}
	}
	return p
}

// host is the address of a location.
func host(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + url.PathEscape(location) + "-aiplatform.googleapis.com"
}
