package harness

import (
	"bytes"
	"encoding/json"
)

// Covers reports whether arguments that were shown have every member of those that are asked about,
// with the same value, written in the same way apart from white space. Nothing covers arguments that
// are not an object with members.
func Covers(shown, asked json.RawMessage) bool {
	var all, some map[string]json.RawMessage
	if json.Unmarshal(shown, &all) != nil || json.Unmarshal(asked, &some) != nil || len(some) == 0 {
		return false
	}
	for name, value := range some {
		if known, ok := all[name]; !ok || !bytes.Equal(compact(known), compact(value)) {
			return false
		}
	}
	return true
}

// compact returns a valid value without white space.
func compact(value json.RawMessage) []byte {
	var out bytes.Buffer
	_ = json.Compact(&out, value) // it was decoded before
	return out.Bytes()
}
