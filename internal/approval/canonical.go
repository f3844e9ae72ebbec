package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// ArgsHash returns the SHA-256, in hex, of the canonical JSON {toolName, args, context}: with
// sorted keys, without white space, with numbers as written. Missing args count as {};
// context is null for hosted agents.
func ArgsHash(toolName string, args json.RawMessage) string {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	text, err := encodePlain(map[string]any{"toolName": toolName, "args": canonicalOf(args), "context": nil})
	if err != nil { // texts and decoded JSON can always be encoded
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonicalOf returns JSON with sorted keys and without white space. Text that is not JSON
// becomes a JSON string.
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
	out, err := encodePlain(v)
	if err != nil {
		panic(err) // decoded JSON can always be encoded
	}
	return out
}

// encodePlain encodes without the escapes for HTML, so that other languages produce the same text
// for the same value.
func encodePlain(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
