package exchange

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
)

// CallID returns the id of a call for clients: in a run calls have unique ids, and in a space they have
// not.
func CallID(run shoal.RunID, call string) string { return string(run) + "/" + call }

// ParseCallID returns the run and the call of an id of [CallID]. ok is false for the id of anything else.
func ParseCallID(id string) (run shoal.RunID, call string, ok bool) {
	before, call, ok := strings.Cut(id, "/")
	return shoal.RunID(before), call, ok
}

// Result returns the text with which a client answers a call as JSON. A text that is not JSON becomes a
// string.
func Result(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a string can always be marshalled
	return quoted
}

// Plain writes a result for people: a string as it is, anything else as JSON.
func Plain(result json.RawMessage) string {
	var text string
	if json.Unmarshal(result, &text) == nil && string(result) != "null" {
		return text
	}
	return string(result)
}

// Rest returns what of a piece of a text, which begins at offset, is beyond the first known bytes.
func Rest(piece string, offset, known int) string {
	return piece[min(max(known-offset, 0), len(piece)):]
}
