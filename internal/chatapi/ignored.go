package chatapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Ignored is a part of a request that has no effect, and why. Transports report it to the client in the
// form of their protocol.
type Ignored struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// maxIgnored is how many properties of an object are named that have no effect.
const maxIgnored = 20

// IgnoredProps names the properties of an object that the transport does not read. at is where the object is
// in the request, "" for the whole of it, and why says what is read.
func IgnoredProps(at string, props map[string]json.RawMessage, why string) (out []Ignored) {
	dot := ""
	if at != "" {
		dot = "."
	}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if len(out) == maxIgnored {
			return append(out, Ignored{at, fmt.Sprintf("%s %d more properties are not named here.", why, len(props)-maxIgnored)})
		}
		out = append(out, Ignored{at + dot + name, why})
	}
	return out
}

// OwnTool says why a tool of a client is not used.
func OwnTool(name string) string {
	return fmt.Sprintf("The agent has a tool %q of its own. Give yours another name.", name)
}

// LateInput says why tools or context of a request have no effect that belong to a run in progress.
const LateInput = "The run began with others. Send them with the next message of the user."

// Empty reports whether a value is absent, null, or an object or list without content.
func Empty(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return len(raw) == 0
	}
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
