package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal/agent"
)

// Hosted writes the tools of Options.HostedTools; declare returns the form of one in the
// provider's words. The error is of kind ErrInvalidArgument and names the tool.
func Hosted[T any](tools []T, declare func(T) (any, error)) ([]json.RawMessage, error) {
	var list []json.RawMessage
	for i, t := range tools {
		field := fmt.Sprintf("HostedTools[%d]", i)
		if any(t) == nil {
			return nil, agent.Invalid(field, "is nil")
		}
		declared, err := declare(t)
		if err != nil {
			return nil, agent.Invalid(field, err.Error())
		}
		raw, err := json.Marshal(declared)
		if err != nil {
			return nil, agent.Invalid(field, "cannot be written as JSON: "+err.Error())
		}
		list = append(list, raw)
	}
	return list, nil
}

// WithTools returns the provider options with hosted tools before those that they have.
func WithTools(options map[string]any, hosted []json.RawMessage) (map[string]any, error) {
	if len(hosted) == 0 {
		return options, nil
	}
	others, err := Tools(options)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	maps.Copy(all, options)
	all["tools"] = slices.Concat(hosted, others)
	return all, nil
}
