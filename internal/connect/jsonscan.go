package connect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
)

// maxDepth is how deep the values of a file may nest.
const maxDepth = 200

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
	comma int // where the comma behind it stands; -1 if there is none
}

// member returns the value of a key. One that stands there twice is an error:
// which of them counts is the client's secret.
func (n jsonNode) member(key string) (index int, err error) {
	index = -1
	for i, item := range n.items {
		if item.key != key {
			continue
		}
		if index >= 0 {
			return -1, unreadable(fmt.Sprintf("%q stands there twice", key))
		}
		index = i
	}
	return index, nil
}

// jsonScanner reads JSON as configuration files have it: with comments, and with
// commas behind the last item.
type jsonScanner struct {
	src string
	at  int
}

// scanJSON finds the value of a text. There is none in a blank one.
func scanJSON(src string) (root jsonNode, blank bool, err error) {
	s := &jsonScanner{src: src, at: len(src) - len(strings.TrimPrefix(src, "\ufeff"))}
	if err := s.space(); err != nil {
		return root, false, err
	}
	if s.at == len(src) {
		return root, true, nil
	}
	if root, err = s.value(0); err == nil {
		err = s.space()
	}
	if err == nil && s.at < len(src) {
		err = s.wrong("the end was expected")
	}
	return root, false, err
}

func (s *jsonScanner) wrong(what string) error {
	return unreadable(fmt.Sprintf("line %d: %s", 1+strings.Count(s.src[:min(s.at, len(s.src))], "\n"), what))
}

// peek returns the next byte, 0 at the end.
func (s *jsonScanner) peek() byte {
	if s.at < len(s.src) {
		return s.src[s.at]
	}
	return 0
}

// space skips white space and comments.
func (s *jsonScanner) space() error {
	for s.at < len(s.src) {
		rest := s.src[s.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			s.at++
		case strings.HasPrefix(rest, "//"):
			line, _, _ := strings.Cut(rest, "\n")
			s.at += len(line)
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				return s.wrong("a comment has no end")
			}
			s.at += i + 4
		default:
			return nil
		}
	}
	return nil
}

func (s *jsonScanner) value(depth int) (jsonNode, error) {
	n := jsonNode{start: s.at}
	var err error
	switch c := s.peek(); {
	case depth > maxDepth:
		return n, s.wrong("it nests too deep")
	case c == '{' || c == '[':
		n.kind = c
		n.items, err = s.items(c, depth)
	case c == '"':
		n.kind = c
		err = s.text()
	default:
		err = s.scalar()
	}
	n.end = s.at
	return n, err
}

// scalar skips a number, true, false or null.
func (s *jsonScanner) scalar() error {
	end := s.at
	for end < len(s.src) && strings.IndexByte(" \t\r\n,]}/:\"", s.src[end]) < 0 {
		end++
	}
	if !json.Valid([]byte(s.src[s.at:end])) {
		return s.wrong("a value was expected")
	}
	s.at = end
	return nil
}

// text skips a string.
func (s *jsonScanner) text() error {
	for end := s.at + 1; end < len(s.src); end++ {
		switch s.src[end] {
		case '\\':
			end++
		case '"':
			if !json.Valid([]byte(s.src[s.at : end+1])) {
				return s.wrong("a string is not JSON")
			}
			s.at = end + 1
			return nil
		}
	}
	return s.wrong("a string has no end")
}

// items reads an object or an array from its first bracket on.
func (s *jsonScanner) items(open byte, depth int) ([]jsonItem, error) {
	s.at++
	var items []jsonItem
	for {
		if err := s.space(); err != nil {
			return nil, err
		}
		if s.peek() == open+2 { // } follows { by two in ASCII, and ] follows [
			s.at++
			return items, nil
		}
		if len(items) > 0 && items[len(items)-1].comma < 0 {
			return nil, s.wrong("a comma or the closing bracket was expected")
		}
		item, err := s.item(open, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
}

func (s *jsonScanner) item(open byte, depth int) (jsonItem, error) {
	item := jsonItem{start: s.at, comma: -1}
	var err error
	if open == '{' {
		if item.key, err = s.key(); err != nil {
			return item, err
		}
	}
	if item.value, err = s.value(depth + 1); err != nil {
		return item, err
	}
	if err := s.space(); err != nil {
		return item, err
	}
	if s.peek() == ',' {
		item.comma = s.at
		s.at++
	}
	return item, nil
}

// key reads a key and what stands between it and its value.
func (s *jsonScanner) key() (key string, err error) {
	from := s.at
	if s.peek() != '"' {
		return "", s.wrong("a name in double quotes was expected")
	}
	if err := s.text(); err != nil {
		return "", err
	}
	if err := json.Unmarshal([]byte(s.src[from:s.at]), &key); err != nil {
		return "", s.wrong("a name is not JSON")
	}
	if err := s.space(); err != nil {
		return "", err
	}
	if s.peek() != ':' {
		return "", s.wrong("a colon was expected")
	}
	s.at++
	return key, s.space()
}

// decode returns what a value says, without its comments: maps, lists, strings,
// and the text of everything else as it stands there.
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

// literal is a number, true, false or null as it stands in a text.
type literal string

// text returns what a string says, and nothing for any other value.
func (n jsonNode) text(src string) (text string) {
	if n.kind == '"' {
		_ = json.Unmarshal([]byte(src[n.start:n.end]), &text) // the scanner has seen that it is one
	}
	return text
}

func unreadable(why string) error {
	return shoal.E("", shoal.InvalidArgument, why)
}
