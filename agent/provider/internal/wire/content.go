package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

// Object returns the arguments of a call as the vendors take them back: as they
// are if they are one JSON object, else an empty one. Anything else would make
// them refuse the whole history, and the call's result says what was wrong.
func Object(arguments string) json.RawMessage {
	raw := bytes.TrimSpace([]byte(arguments))
	if len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	return json.RawMessage("{}")
}

// Kind returns a file's media type in lower case, without parameters.
func Kind(f *agent.File) string {
	kind, _, _ := strings.Cut(f.MediaType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// IsText reports whether a file's data can be sent as text.
func IsText(f *agent.File) bool {
	kind := Kind(f)
	return len(f.Data) > 0 && utf8.Valid(f.Data) && (strings.HasPrefix(kind, "text/") || kind == "application/json")
}
