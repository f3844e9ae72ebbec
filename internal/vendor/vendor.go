// Package vendor makes the model that an agent's configuration names, and prices the
// model's calls. It maps names of the configuration to the providers below agent.
package vendor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/modelenv"
)

// Script is the provider that plays a script instead of calling a vendor. The script is
// the provider option of the same name; see [script.Parse] for its language, and [InSpace]
// for the field that a run fills in.
const Script = "script"

// constructors make models, by the provider's name in a configuration. The operator chooses
// the base URL, so a model at any base URL receives the key of its provider.
var constructors = map[string]func(v *Maker, m agentconfig.Model) (agent.Model, error){
	"openai": func(v *Maker, m agentconfig.Model) (agent.Model, error) {
		o := openai.Options{BaseURL: m.BaseURL, APIKey: v.key("OPENAI_API_KEY")}
		if isOpenRouter(m.BaseURL) {
			o.Provider, o.APIKey = "openrouter", cmp.Or(v.key("OPENROUTER_API_KEY"), o.APIKey)
		}
		if m.API == apiResponses {
			return openai.Responses(m.Name, o), nil
		}
		return openai.Chat(m.Name, o), nil
	},
	"anthropic": func(v *Maker, m agentconfig.Model) (agent.Model, error) {
		return anthropic.New(m.Name, anthropic.Options{BaseURL: m.BaseURL, APIKey: v.key("ANTHROPIC_API_KEY")}), nil
	},
	"google": func(v *Maker, m agentconfig.Model) (agent.Model, error) {
		return google.New(m.Name, google.Options{BaseURL: m.BaseURL, APIKey: cmp.Or(v.key("GEMINI_API_KEY"), v.key("GOOGLE_API_KEY"))}), nil
	},
	azureName:   (*Maker).azure,
	vertexName:  (*Maker).vertex,
	bedrockName: (*Maker).bedrock,
	"ollama": func(_ *Maker, m agentconfig.Model) (agent.Model, error) {
		return openai.Ollama(m.Name, openai.Options{BaseURL: m.BaseURL}), nil
	},
	Script: func(_ *Maker, m agentconfig.Model) (agent.Model, error) { return newScript(m) },
}

const apiResponses = "responses"

func newScript(m agentconfig.Model) (agent.Model, error) {
	const field = "model.providerOptions.script"
	text, ok := m.ProviderOptions[Script].(string)
	if !ok {
		return nil, shoal.Invalid(field, "is missing: it holds what the model plays")
	}
	answers, err := script.Parse(text)
	if err != nil {
		reason := "it is not a script"
		if e, ok := errors.AsType[*shoal.Error](agenterror.Convert(err)); ok && e.Msg != "" && e.Kind != shoal.Internal {
			reason = e.Msg
		}
		return nil, shoal.Invalid(field, "cannot be played: "+reason)
	}
	return script.PerTurn(answers...), nil
}

// spaceField is the field of a script that [InSpace] fills in.
const spaceField = "{{spaceId}}"

// InSpace returns the configuration for a run that a message in the space started: in a
// script, {{spaceId}} is that space, so that a script answers where it was asked. Other
// models are returned unchanged.
func InSpace(c *agentconfig.Config, space shoal.SpaceID) *agentconfig.Config {
	text, ok := c.Model.ProviderOptions[Script].(string)
	if c.Model.Provider != Script || !ok || !strings.Contains(text, spaceField) {
		return c
	}
	out := *c
	out.Model.ProviderOptions = maps.Clone(c.Model.ProviderOptions)
	out.Model.ProviderOptions[Script] = strings.ReplaceAll(text, spaceField, string(space))
	return &out
}

func isOpenRouter(baseURL string) bool {
	u, err := url.Parse(baseURL)
	return err == nil && strings.HasSuffix("."+u.Hostname(), ".openrouter.ai")
}

// MissingKeyError is returned by [Maker.Model] when the server's environment lacks what the
// provider needs. Its text names the variables to set.
type MissingKeyError struct{ Provider, Variables string }

func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("The server has no key for %s: set %s in its environment and start it again.", e.Provider, e.Variables)
}

// Maker makes models. It keeps the tokens of clouds, which the models of all runs share. It is
// safe for concurrent use.
type Maker struct {
	key    func(name string) string
	tokens tokens
}

// NewMaker returns a Maker. keys returns the value of a variable of the server's environment,
// empty if it is not set; it is asked whenever a model is made.
func NewMaker(keys func(name string) string) *Maker { return &Maker{key: keys} }

// Model returns the model that a configuration names. It makes no request; it fails with a
// [MissingKeyError] if the vendor's own server would refuse the model's calls.
func (v *Maker) Model(m agentconfig.Model) (agent.Model, error) {
	construct, ok := constructors[m.Provider]
	if !ok {
		return nil, shoal.Invalid("model.provider", fmt.Sprintf("is %q, which this server does not know", m.Provider))
	}
	if missing := modelenv.Missing(m.Provider, m.BaseURL != "", v.key); missing != "" {
		return nil, &MissingKeyError{m.Provider, missing}
	}
	return construct(v, m)
}

// Check reports what no run could execute: a script that does not parse, a model that its
// cloud does not serve here, or a limit of costs for a model whose price is unknown. The
// error is of kind InvalidArgument and names the field. A missing key is not an error.
func Check(c *agentconfig.Config) error {
	if c.Model.Provider == Script {
		if _, err := newScript(c.Model); err != nil {
			return err
		}
	}
	if err := checkCloud(c.Model); err != nil {
		return err
	}
	return checkBudget(c)
}

// Options returns the options that are passed through to the model's provider.
func Options(m agentconfig.Model) map[string]any {
	if m.Provider != Script {
		return m.ProviderOptions
	}
	out := maps.Clone(m.ProviderOptions)
	delete(out, Script)
	return out
}
