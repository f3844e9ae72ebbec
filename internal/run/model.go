package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/tool"
)

// scriptProvider plays what scriptOption holds; see script.Parse.
const (
	scriptProvider = "script"
	scriptOption   = "script"
)

// vendors make models by the names of the contract. key looks up the server's
// variables; the base URL is the operator's, so it gets the key of its wire.
var vendors = map[string]func(m agentconfig.Model, key func(string) string) (agent.Model, error){
	"openai": func(m agentconfig.Model, key func(string) string) (agent.Model, error) {
		o := openai.Options{BaseURL: m.BaseURL, APIKey: key("OPENAI_API_KEY")}
		if u, err := url.Parse(m.BaseURL); err == nil && strings.HasSuffix("."+u.Hostname(), ".openrouter.ai") {
			o.Provider, o.APIKey = "openrouter", cmp.Or(key("OPENROUTER_API_KEY"), o.APIKey)
		}
		if m.API == "responses" {
			return openai.Responses(m.Name, o), nil
		}
		return openai.Chat(m.Name, o), nil
	},
	"anthropic": func(m agentconfig.Model, key func(string) string) (agent.Model, error) {
		return anthropic.New(m.Name, anthropic.Options{BaseURL: m.BaseURL, APIKey: key("ANTHROPIC_API_KEY")}), nil
	},
	"google": func(m agentconfig.Model, key func(string) string) (agent.Model, error) {
		return google.New(m.Name, google.Options{BaseURL: m.BaseURL, APIKey: cmp.Or(key("GEMINI_API_KEY"), key("GOOGLE_API_KEY"))}), nil
	},
	"ollama": func(m agentconfig.Model, _ func(string) string) (agent.Model, error) {
		return openai.Ollama(m.Name, openai.Options{BaseURL: m.BaseURL}), nil
	},
	scriptProvider: func(m agentconfig.Model, _ func(string) string) (agent.Model, error) {
		text, ok := m.ProviderOptions[scriptOption].(string)
		if !ok {
			return nil, shoal.Invalid("model.providerOptions.script", "is missing: it holds what the model plays")
		}
		answers, err := script.Parse(text)
		if err != nil {
			return nil, shoal.Invalid("model.providerOptions.script", "cannot be played: "+sentence(agenterror.Convert(err), "it is no script"))
		}
		return script.PerTurn(answers...), nil
	},
}

// keysOf are the variables that hold a vendor's key, the first that is set. Servers
// at other base URLs may want none.
var keysOf = map[string][]string{
	"openai": {"OPENAI_API_KEY"}, "anthropic": {"ANTHROPIC_API_KEY"}, "google": {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
}

// noKeyError is about a vendor that is not worth asking.
type noKeyError struct{ provider string }

func (e *noKeyError) Error() string {
	return fmt.Sprintf("The server has no key for %s: set %s in its environment and start it again.", e.provider, strings.Join(keysOf[e.provider], " or "))
}

func (e *Executor) hasKey(provider string) bool {
	names := keysOf[provider]
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return e.o.Keys(name) != "" })
}

// Check says what of a configuration that reads well cannot be made here: a tool
// with an expression that means nothing, a script that cannot be played, a bound of
// costs for a model without a price. The error
// is of kind InvalidArgument and names each field; keys that are missing are none.
func (e *Executor) Check(c *agentconfig.Config) error {
	_, err := tool.All(c, tool.Options{
		Network: e.o.Network, Env: e.o.Env, Keys: e.o.Keys,
		Agent:     func(context.Context, shoal.EntityID) (*agent.Agent, error) { return nil, shoal.NotFound },
		StoreFile: (&execution{}).keepFile, // nothing is executed
	})
	if err == nil && c.Model.Provider == scriptProvider {
		_, err = vendors[scriptProvider](c.Model, e.o.Keys)
	}
	if err == nil {
		err = checkBudget(c)
	}
	return err
}

// providerOptions are what the model's wire is sent besides.
func providerOptions(c *agentconfig.Config) map[string]any {
	if c.Model.Provider != scriptProvider {
		return c.Model.ProviderOptions
	}
	out := maps.Clone(c.Model.ProviderOptions)
	delete(out, scriptOption)
	return out
}
