// Package azure is an [agent.Model] on the models of OpenAI, and others with the same API,
// that are deployed at Azure: Azure OpenAI and Microsoft Foundry.
//
//	model := azure.Chat("my-gpt-5", azure.Options{}) // AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY
//	model := azure.Responses("my-gpt-5", azure.Options{
//		Endpoint: "https://shop.openai.azure.com", Model: "gpt-5", Token: source, // Entra ID
//	})
//
// The wire is that of package openai, whose promises hold here, too: one attempt for each
// call, no redirects, a stream that ends early is an error, and no key or token is in an
// error. Besides:
//   - A token is kept until three minutes before it expires (see [token.Cache]) and goes as
//     Authorization: Bearer; a key goes as the header api-key.
//   - After a 401 a new token is requested and the call is made once more.
//   - Requests go to the v1 API, which has no dates; Options.APIVersion selects another.
//   - Reasoning that a deployment of Azure has written is not sent to OpenAI, nor the other
//     way round: it is encrypted.
package azure

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/token"
)

// Provider is the name in errors and in [agent.ModelInfo].
const Provider = "azure.ai.openai"

const (
	endpointVar = "AZURE_OPENAI_ENDPOINT"
	keyVar      = "AZURE_OPENAI_API_KEY"
	versionVar  = "AZURE_OPENAI_API_VERSION"

	chatCall = "/chat/completions"
)

// Options say where the deployment is, and authorize the calls.
type Options struct {
	// Endpoint is that of the resource, such as https://shop.openai.azure.com, with or without
	// /openai/v1 at its end. Empty is the variable AZURE_OPENAI_ENDPOINT, as it is when the
	// model is made.
	Endpoint string
	// APIKey is a key of the resource. Without it and without Token, AZURE_OPENAI_API_KEY, as
	// it is when the model is made, is used for the endpoint in AZURE_OPENAI_ENDPOINT and for
	// endpoints of Azure; any other endpoint then gets no key at all.
	APIKey string
	// Token returns tokens of Entra ID for [Scope], instead of APIKey.
	Token token.Source
	// APIVersion is empty for the v1 API, preview for its preview, or the date of an older
	// version such as 2024-10-21, whose paths name the deployment. Without it,
	// AZURE_OPENAI_API_VERSION is used for the endpoint in AZURE_OPENAI_ENDPOINT.
	APIVersion string
	// Model is the name of the deployed model, such as gpt-5, by which its
	// settings and its price are chosen; empty if the deployment has the model's name.
	Model string
}

// Chat returns a model of the chat completions API. Of the options of package openai it takes
// all but APIKey, Key, BaseURL and Provider. Invalid options are reported as the error of
// each call.
func Chat(deployment string, o Options, more ...openai.Options) agent.Model {
	options, platform := o.on(deployment, chatCall, wire.Over(more...))
	return openai.ChatOn(platform, cmp.Or(o.Model, deployment), options)
}

// Responses returns a model of the Responses API; otherwise it is like [Chat].
func Responses(deployment string, o Options, more ...openai.Options) agent.Model {
	options, platform := o.on(deployment, "/responses", wire.Over(more...))
	return openai.ResponsesOn(platform, cmp.Or(o.Model, deployment), options)
}

// dated are the versions before v1.
var dated = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-preview)?$`)

// on returns the platform for a call, and the options of the wire.
func (o Options) on(deployment, call string, more openai.Options) (openai.Options, *wire.Platform) {
	p := &wire.Platform{Vendor: vendor(), Sent: deployment, Path: "/openai/v1" + call}
	if o.Token != nil {
		p.Authorize = func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }
	}
	ours := o.Endpoint == ""
	if ours {
		o.Endpoint, o.APIVersion = os.Getenv(endpointVar), cmp.Or(o.APIVersion, os.Getenv(versionVar))
	}
	u, err := url.Parse(o.Endpoint)
	if p.Invalid = o.invalid(deployment, more); p.Invalid == nil && (o.Endpoint == "" || err != nil) {
		p.Invalid = agent.Invalid("Endpoint", "must be the URL of the Azure resource, such as "+p.URL+"; the environment variable "+endpointVar+" can have it, too")
	}
	if p.Invalid != nil {
		return openai.Options{BaseURL: p.URL}, p
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/openai/v1")
	if o.APIVersion != "" {
		query := u.Query()
		query.Set("api-version", o.APIVersion)
		u.RawQuery = query.Encode()
	}
	if dated.MatchString(o.APIVersion) {
		p.Path = "/openai" + call
		if call == chatCall {
			p.Path = "/openai/deployments/" + url.PathEscape(deployment) + call
		}
	}
	if o.APIKey == "" && o.Token == nil && (ours || ofAzure(u)) {
		o.APIKey = os.Getenv(keyVar)
		if o.APIKey == "" && ofAzure(u) {
			p.Invalid = &agent.ModelError{
				Class: agent.ClassAuth, Provider: Provider, Detail: "no API key: set the environment variable " + keyVar + ", Options.APIKey or Options.Token",
			}
		}
	}
	more.BaseURL, more.APIKey = u.String(), o.APIKey
	if o.Token != nil {
		more.Key = token.NewCache(o.Token).Key
	}
	return more, p
}

// invalid returns what is wrong with the options, apart from the endpoint.
func (o Options) invalid(deployment string, more openai.Options) error {
	switch {
	case deployment == "":
		return agent.Invalid("deployment", "must name a deployment of the Azure resource")
	case o.APIKey != "" && o.Token != nil:
		return agent.Invalid("Token", "cannot be combined with APIKey")
	case o.APIVersion != "" && !slices.Contains([]string{"v1", "preview", "latest"}, o.APIVersion) && !dated.MatchString(o.APIVersion):
		return agent.Invalid("APIVersion", "must be empty, preview, or a date such as 2024-10-21")
	case more.APIKey != "" || more.Key != nil || more.BaseURL != "" || more.Provider != "":
		return agent.Invalid("openai.Options", "cannot have APIKey, Key, BaseURL or Provider here: azure.Options has what replaces them")
	}
	return nil
}

func vendor() wire.Vendor {
	return wire.Vendor{
		Provider: Provider, URL: "https://shop.openai.azure.com",
		Authorize: func(h http.Header, key string) { h.Set("Api-Key", key) },
	}
}

// ofAzure reports whether a host is one of Azure's, also in its clouds for governments and China.
func ofAzure(u *url.URL) bool {
	return u.Scheme == "https" && slices.ContainsFunc([]string{".azure.com", ".azure.us", ".azure.cn"}, func(domain string) bool {
		return strings.HasSuffix(strings.ToLower(u.Hostname()), domain)
	})
}

// Scope is what tokens for Azure OpenAI are requested for.
const Scope = "https://cognitiveservices.azure.com/.default"

// Secret are the credentials of an app registration at Entra ID.
type Secret struct {
	Tenant, ClientID, ClientSecret string
	// Authority is the host that issues tokens; empty is https://login.microsoftonline.com.
	Authority string
	// HTTPClient requests the tokens; nil is one with a limit of 30 seconds. It is not
	// changed, and its redirects are not followed.
	HTTPClient *http.Client
}

// Token requests a token for [Scope]; it makes [Secret] a [token.Source].
func (s Secret) Token(ctx context.Context) (token.Token, error) {
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {s.ClientID}, "client_secret": {s.ClientSecret}, "scope": {Scope},
	}
	to := strings.TrimRight(cmp.Or(s.Authority, "https://login.microsoftonline.com"), "/") + "/" + url.PathEscape(s.Tenant) + "/oauth2/v2.0/token"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return token.Token{}, agent.Invalid("Authority", "must be a URL such as https://login.microsoftonline.com")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return wire.FetchToken(Provider, s.HTTPClient, req)
}
