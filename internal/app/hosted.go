package app

import (
	"context"
	_ "embed" // the agent of the first start
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/modelenv"
)

// ShopAgent is the hosted agent that the first start creates. It is in Welcome and
// asks for permissions in Purchasing.
const ShopAgent shoal.EntityID = "shop-agent"

//go:embed shop-agent.yaml
var shopAgent string

// shopModel is the model in it, whose place that of another form takes.
const shopModel = "model:\n  provider: openai\n  name: gpt-6-luna\n"

//go:embed shopping.script
var shopping string

// scripted is the provider that plays a script.
const scripted = "script"

// vendors are the models that the first agent may have: the first whose provider has a
// key decides.
var vendors = []struct{ provider, name string }{
	{"openai", "gpt-6-luna"},
	{"anthropic", "claude-haiku-5-5"},
	{"google", "gemini-3.5-flash-lite"},
}

// model is a config's model, as far as it differs between the forms of the first
// agent.
type model struct {
	Provider        string         `json:"provider"`
	Name            string         `json:"name"`
	MaxOutputTokens int            `json:"maxOutputTokens,omitempty"`
	ProviderOptions map[string]any `json:"providerOptions,omitempty"`
}

// models lists the models of the first agent: those of the vendors, then the
// script.
func models() []model {
	var all []model
	for _, v := range vendors {
		all = append(all, model{Provider: v.provider, Name: v.name, MaxOutputTokens: 4000}) // thoughts count
	}
	return append(all, model{Provider: scripted, Name: "shopping", ProviderOptions: map[string]any{"script": shopping}})
}

// present returns the model that there is a key for; the script needs none.
func present(keys func(name string) string) model {
	all := models()
	for i, v := range vendors {
		if modelenv.Missing(v.provider, false, keys) == "" {
			return all[i]
		}
	}
	return all[len(vendors)]
}

// configOf returns the first agent's config with a model.
func configOf(m model) (*agentconfig.Config, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	config := strings.Replace(shopAgent, shopModel, "model: "+string(text)+"\n", 1) // JSON is YAML, too
	return agentconfig.Decode([]byte(config), agentconfig.Options{})
}

// host creates the first agent, or changes its model, unless it already has that
// model.
func (s *Server) host(ctx context.Context, m model) error {
	config, err := configOf(m)
	if err != nil {
		return err
	}
	_, _, err = s.Hub.Agents.Put(ctx, local, storage.Agent{
		HostedAgent: shoal.HostedAgent{
			ID: config.Agent.ID, SessionID: shoal.DefaultSession, Hash: config.Hash(), Config: config.Canonical(),
		},
		Name: config.Agent.Name, Description: config.Agent.Description,
		OnNewMessage: config.Loop.OnNewMessage, SettleMs: config.Loop.SettleMs, MaxSteps: config.Loop.MaxSteps,
	})
	return err
}

// followKeys gives the first agent the model that there is a key for now, unless
// somebody has changed its config, or deleted it.
func (s *Server) followKeys(ctx context.Context) error {
	stored, err := s.Hub.Agents.Get(ctx, local, shoal.DefaultSession, ShopAgent, 0)
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	// Most starts find nothing to do, and are not to wait for configs to be read.
	has, want := modelOf(stored.Config), present(s.config.Keys)
	i := slices.IndexFunc(models(), has.is)
	if i < 0 || has.is(want) {
		return nil
	}
	config, err := configOf(models()[i])
	if err != nil || config.Hash() != stored.Hash {
		return err
	}
	return s.host(ctx, want)
}

// modelOf returns which model a stored config names.
func modelOf(config json.RawMessage) model {
	var c struct {
		Model model `json:"model"`
	}
	_ = json.Unmarshal(config, &c) // it was checked when it was stored
	return c.Model
}

func (m model) is(other model) bool { return m.Provider == other.Provider && m.Name == other.Name }
