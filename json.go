package shoal

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON is [json.Marshal] without the escapes that only HTML needs: <, > and &
// stand for themselves, so that JSON within JSON stays the same bytes. What a model
// wrote is stored, streamed and answered as it was.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// JSONDepth returns how deep valid JSON nests: 0 for a value that is no array and
// no object.
func JSONDepth[T ~string | ~[]byte](text T) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
