package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// ArgsHash is the SHA-256, in hex, of the canonical JSON {toolName, args, context}:
// keys sorted, no space, numbers as they were written. No args are {}; context is
// null for hosted agents.
func ArgsHash(toolName string, args json.RawMessage) string {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	text, err := plain(map[string]any{"toolName": toolName, "args": canonicalOf(args), "context": nil})
	if err != nil { // a text, and JSON that was read before, can always be written
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonicalOf returns JSON with its keys sorted and without space; what is no JSON
// is its own text, as a string.
func canonicalOf(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		v = string(raw)
	}
	out, err := plain(v)
	if err != nil {
		panic(err) // what was decoded can be encoded
	}
	return out
}

// plain encodes without the escapes that are for HTML: other languages make the
// same text of the same value.
func plain(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
