package wire

import (
	"encoding/json"

	"github.com/shoal-dev/shoal/agent"
)

// Tools returns the list "tools" of provider options, which goes after the agent's
// own tools; nil if there is none.
func Tools(options map[string]any) ([]json.RawMessage, error) {
	value, ok := options["tools"]
	if !ok || value == nil {
		return nil, nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, agent.Invalid("settings.providerOptions.tools", "cannot be written as JSON: "+err.Error())
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, agent.Invalid("settings.providerOptions.tools", "must be a list of tools in the provider's own form")
	}
	return list, nil
}
