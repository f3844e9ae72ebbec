// Package rawjson reads parts of JSON in place: it finds the members of an object and the
// elements of an array without decoding or copying them. The functions require valid JSON;
// internal/guard checks each body before it gets here.
package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
)

// Members yields the members of a JSON object in order: the decoded key and the raw value.
// Both are slices of raw, unless the key contains escapes. raw must be valid JSON; if it is
// not an object, Members yields nothing. Unlike decoding into a struct, and like the SDK, it
// distinguishes keys that differ only in case.
func Members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		i := blank(raw, 0)
		if i == len(raw) || raw[i] != '{' {
			return
		}
		for i = blank(raw, i+1); raw[i] != '}'; {
			end := textEnd(raw, i)
			key := Text(raw[i:end])
			start := blank(raw, blank(raw, end)+1) // after the colon
			end = valueEnd(raw, start)
			if !yield(key, raw[start:end]) {
				return
			}
			if i = blank(raw, end); raw[i] == ',' {
				i = blank(raw, i+1)
			}
		}
	}
}

// Elements yields the elements of a JSON array as slices of raw. raw must be valid JSON; if
// it is not an array, Elements yields nothing.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := blank(raw, 0)
		if i == len(raw) || raw[i] != '[' {
			return
		}
		for i = blank(raw, i+1); raw[i] != ']'; {
			end := valueEnd(raw, i)
			if !yield(raw[i:end]) {
				return
			}
			if i = blank(raw, end); raw[i] == ',' {
				i = blank(raw, i+1)
			}
		}
	}
}

// blank returns the index of the first byte from i on that is not white space.
func blank(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
		i++
	}
	return i
}

// textEnd returns the index after the string that starts at i.
func textEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd returns the index after the value that starts at i.
func valueEnd(raw []byte, i int) int {
	for depth := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			i = textEnd(raw, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			i++
			continue
		default:
			i = scalarEnd(raw, i)
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// scalarEnd returns the index after the number or word that starts at i.
func scalarEnd(raw []byte, i int) int {
	for i < len(raw) {
		switch raw[i] {
		case ',', '}', ']', ' ', '\n', '\r', '\t':
			return i
		}
		i++
	}
	return i
}

// Text decodes a JSON string, quotes included.
func Text(raw []byte) []byte {
	for _, c := range raw {
		if c == '\\' {
			var s string
			_ = json.Unmarshal(raw, &s) // raw is valid: the guard has scanned it
			return []byte(s)
		}
	}
	return raw[1 : len(raw)-1]
}

// IsText reports whether raw is a JSON string.
func IsText(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// IsObject reports whether raw is a JSON object.
func IsObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// IsNull reports whether raw is the JSON value null.
func IsNull(raw []byte) bool { return string(raw) == "null" }

// Whole decodes a JSON number that is whole, however it is written. What
// an int64 cannot hold becomes the nearest that it can.
func Whole(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil && !math.IsInf(f, 0), f != math.Trunc(f):
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}

// Marshal writes v as JSON into buffer and returns its contents without the final newline.
// Unlike json.Marshal it does not escape <, > and &, which are frequent in message texts.
func Marshal(buffer *bytes.Buffer, v any) ([]byte, error) {
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}
