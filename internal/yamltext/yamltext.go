// Package yamltext parses YAML that people write and reports the positions of errors. JSON is
// accepted, too, because it is YAML.
package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Error is the reason why a text is not a single YAML document. The reason never repeats a
// value of the text, which may be a secret.
type Error struct {
	Position
	Reason string
}

// Error returns the position and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Position is a position in a text. Lines and columns count from 1.
type Position struct {
	Line, Column int
}

// String returns the position in the form that compilers use after a file name.
func (p Position) String() string { return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) }

// Read returns the nodes of a text. The error is always an [*Error]. A text without a
// document, such as one with only comments, returns the zero Node.
func Read(text []byte) (document yaml.Node, err error) {
	defer func() {
		// The library is large and the text is arbitrary, so panics become errors.
		if recover() != nil {
			document, err = yaml.Node{}, &Error{Position{1, 1}, "it is not YAML"}
		}
	}()
	if !utf8.Valid(text) {
		return document, &Error{positionOf(text, invalidAt(text)), "it is not valid UTF-8"}
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return document, newError(err)
	}
	if err := loader.Load(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return yaml.Node{}, nil
		}
		return yaml.Node{}, newError(err)
	}
	var second yaml.Node
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
		return document, nil
	case err != nil:
		return yaml.Node{}, newError(err)
	}
	return yaml.Node{}, &Error{at(&second, Position{1, 1}), "a second document begins here, and only one is allowed"}
}

func newError(err error) *Error {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		return &Error{Position{1, 1}, "it cannot be read"}
	}
	reason := "it cannot be read"
	switch e.Stage {
	case "reader", "scanner", "parser": // their reasons never contain words of the text
		reason = e.Message
		if e.ContextMsg != "" {
			reason = e.ContextMsg + ": " + reason
		}
	case "composer":
		reason = "an alias here has no anchor"
	}
	return &Error{Position{max(e.Mark.Line, 1), max(e.Mark.Column, 1)}, reason}
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(text []byte) int {
	for offset := 0; offset < len(text); {
		r, size := utf8.DecodeRune(text[offset:])
		if r == utf8.RuneError && size == 1 {
			return offset
		}
		offset += size
	}
	return len(text)
}

func positionOf(text []byte, offset int) Position {
	before := text[:offset]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return Position{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[begin:]) + 1}
}

// step matches one element of a path: .name, ["name"] or [0].
var step = regexp.MustCompile(`^\.?([A-Za-z0-9_$-]+)|^\[(\d+)\]|^\["((?:[^"\\]|\\.)*)"\]`)

// Find returns the position of a path such as tools[0].name: of the field's name, or of the
// innermost existing element of the path.
func Find(document *yaml.Node, path string) Position {
	found, n := at(document, Position{1, 1}), content(document)
	for path != "" {
		m := step.FindStringSubmatch(path)
		if m == nil {
			break
		}
		path = path[len(m[0]):]
		name := m[1]
		if m[3] != "" {
			name, _ = strconv.Unquote(`"` + m[3] + `"`)
		}
		label, value := child(n, name, m[2])
		if value == nil {
			break
		}
		found, n = at(label, found), content(value)
	}
	return found
}

// child returns the start of a mapping's field or a sequence's item, and its value.
func child(n *yaml.Node, name, index string) (label, value *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode && index == "":
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				label, value = n.Content[i], n.Content[i+1] // the last of equal names counts
			}
		}
	case n.Kind == yaml.SequenceNode && index != "":
		if i, err := strconv.Atoi(index); err == nil && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	}
	return label, value
}

// content resolves documents and aliases.
func content(n *yaml.Node) *yaml.Node {
	for range 100 { // limits aliases of aliases
		switch {
		case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
			n = n.Content[0]
		case n.Kind == yaml.AliasNode && n.Alias != nil:
			n = n.Alias
		default:
			return n
		}
	}
	return n
}

func at(n *yaml.Node, otherwise Position) Position {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n.Line < 1 {
		return otherwise
	}
	return Position{n.Line, max(n.Column, 1)}
}
