package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/shoal-dev/shoal"
)

const (
	// maxDepth is how deep the values of a file may nest.
	maxDepth = 200
	// maxBrackets is how many objects and arrays a file may open: the library parses
	// by recursion, without a bound of its own.
	maxBrackets = 100_000
)

// jsonNode is a value of a JSON text, with its place.
type jsonNode struct {
	start, end int
	kind       byte // '{', '[', '"', or 0 for numbers, true, false and null
	items      []jsonItem
}

// jsonItem is a member of an object or an element of an array.
type jsonItem struct {
	key   string // of a member
	start int    // where the key, or the element, begins
	value jsonNode
	comma int // where the comma after it is; -1 if there is none
}

// member returns the value of a key. A key that occurs twice is an error, because clients
// differ in which one they use.
func (n jsonNode) member(key string) (index int, err error) {
	index = -1
	for i, item := range n.items {
		if item.key != key {
			continue
		}
		if index >= 0 {
			return -1, unreadable(fmt.Sprintf("%q occurs twice", key))
		}
		index = i
	}
	return index, nil
}

// scanJSON finds the value of a text, which is JSON as configuration files have it: with
// comments, and with commas after the last item. A blank text has no value.
func scanJSON(src string) (root jsonNode, blank bool, err error) {
	if strings.Count(src, "{")+strings.Count(src, "[") > maxBrackets {
		return root, false, unreadable("it is too large")
	}
	text := strings.TrimPrefix(src, "\ufeff")
	value, err := hujson.Parse([]byte(text))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && isBlank(text):
		return root, true, nil
	case err != nil:
		why := strings.TrimPrefix(err.Error(), "hujson: ")
		if place, _, found := strings.Cut(why, "invalid literal"); found {
			why = place + "invalid literal" // not its text, which may be a secret
		}
		return root, false, unreadable(why)
	}
	root, err = nodeOf(value, len(src)-len(text), 0)
	return root, false, err
}

// isBlank reports whether a text is white space and comments.
func isBlank(text string) bool {
	const value = "\nnull"
	parsed, err := hujson.Parse([]byte(text + value))
	return err == nil && parsed.EndOffset == len(text+value)
}

// nodeOf returns a parsed value as a node of a text that begins with offset bytes which
// the parser has not seen.
func nodeOf(v hujson.Value, offset, depth int) (jsonNode, error) {
	n := jsonNode{start: v.StartOffset + offset, end: v.EndOffset + offset}
	if depth > maxDepth {
		return n, unreadable("it nests too deep")
	}
	add := func(key string, start int, v hujson.Value, last bool) error {
		value, err := nodeOf(v, offset, depth+1)
		item := jsonItem{key: key, start: start + offset, value: value, comma: -1}
		// AfterExtra of the last value is not nil where a comma follows, even if it is empty.
		if !last || v.AfterExtra != nil {
			item.comma = value.end + len(v.AfterExtra)
		}
		n.items = append(n.items, item)
		return err
	}
	switch in := v.Value.(type) {
	case *hujson.Object:
		n.kind = '{'
		for i, m := range in.Members {
			name, _ := m.Name.Value.(hujson.Literal)
			if err := add(name.String(), m.Name.StartOffset, m.Value, i == len(in.Members)-1); err != nil {
				return n, err
			}
		}
	case *hujson.Array:
		n.kind = '['
		for i, e := range in.Elements {
			if err := add("", e.StartOffset, e, i == len(in.Elements)-1); err != nil {
				return n, err
			}
		}
	case hujson.Literal:
		if in.Kind() == '"' {
			n.kind = '"'
		}
	}
	return n, nil
}

// decode returns what a value says, without its comments: maps, lists, strings,
// and the text of everything else as it is in the file.
func (n jsonNode) decode(src string) any {
	switch n.kind {
	case '{':
		object := make(map[string]any, len(n.items))
		for _, item := range n.items {
			object[item.key] = item.value.decode(src)
		}
		return object
	case '[':
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.value.decode(src)
		}
		return list
	case '"':
		return n.text(src)
	}
	return literal(src[n.start:n.end])
}

// literal is a number, true, false or null as it is in a text.
type literal string

// text returns what a string says, and nothing for any other value.
func (n jsonNode) text(src string) (text string) {
	if n.kind == '"' {
		_ = json.Unmarshal([]byte(src[n.start:n.end]), &text) // the parser has seen that it is one
	}
	return text
}

func unreadable(why string) error {
	return shoal.E("", shoal.InvalidArgument, why)
}
