package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// field is one top-level field of a request. The history is the last one, so
// that a longer history begins with the bytes of the shorter one.
type field struct {
	name  string
	value any
}

// encode writes the fields in order, options in their place; options that replace
// nothing come before the last field, sorted by name. Tools are appended to those
// that are there.
func encode(fields []field, options map[string]any) ([]byte, error) {
	others, err := wire.Tools(options)
	if err != nil {
		return nil, err
	}
	if others != nil {
		options = maps.Clone(options)
		options["tools"] = others
	}
	last := len(fields) - 1
	all := slices.Clone(fields[:last])
	for _, name := range slices.Sorted(maps.Keys(options)) {
		option := field{name, options[name]}
		switch i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); {
		case i < 0:
			all = append(all, option)
		case i < last && name == "tools":
			if others != nil {
				all[i].value = appended{fields[i].value, others}
			}
		case i < last:
			all[i] = option
		}
	}
	history := fields[last]
	if own, ok := options[history.name]; ok {
		history.value = own
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, f := range append(all, history) {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		b.WriteByte(separator)
		fmt.Fprintf(&b, "%q:", f.name)
		if err := enc.Encode(f.value); err != nil {
			return nil, agent.Invalid("request."+f.name, "cannot be written as JSON: "+err.Error())
		}
		b.Truncate(b.Len() - 1) // the encoder's line end
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// appended is a list of our own with elements of somebody else's after it.
type appended struct {
	own    any
	others []json.RawMessage
}

// MarshalJSON writes one list.
func (a appended) MarshalJSON() ([]byte, error) {
	own, err := json.Marshal(a.own)
	if err != nil || len(a.others) == 0 {
		return own, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(own, &list); err != nil {
		return nil, err
	}
	return json.Marshal(append(list, a.others...))
}

// fields collects what is set.
type fields []field

func (f *fields) add(name string, value any) { *f = append(*f, field{name, value}) }

func addSet[T any](f *fields, name string, value *T) {
	if value != nil {
		f.add(name, *value)
	}
}

// opaque is what this package writes into [agent.Part.Opaque].
type opaque struct {
	Provider string `json:"provider"`
	Wire     string `json:"wire"`
	// Field is where a chat server puts its thoughts and wants them back.
	Field string `json:"field,omitempty"`
	// ID and Phase are of an item of a response, Items its thoughts and what the
	// provider's own tools did. Texts are the pieces of a text that is more than one
	// item, or has annotations.
	ID    string            `json:"id,omitempty"`
	Phase string            `json:"phase,omitempty"`
	Items []json.RawMessage `json:"items,omitempty"`
	Texts []textPiece       `json:"texts,omitempty"`
}

// textPiece is a piece of a text: the item that it is of, its length and its
// annotations, such as citations.
type textPiece struct {
	ID          string            `json:"id,omitempty"`
	Phase       string            `json:"phase,omitempty"`
	Bytes       int               `json:"bytes"`
	Annotations []json.RawMessage `json:"annotations,omitempty"`
}

func (m *model) opaque(o opaque) json.RawMessage {
	o.Provider, o.Wire = m.Info().Provider, m.api.path
	raw, err := json.Marshal(o)
	if err != nil {
		return nil // cannot happen: the item came from a JSON decoder
	}
	return raw
}

// readOpaque returns what this model's provider wrote on this wire, or nothing.
func (m *model) readOpaque(raw json.RawMessage) opaque {
	var o opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil || o.Provider != m.Info().Provider || o.Wire != m.api.path {
		return opaque{}
	}
	return o
}

func schemaOf(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return schema
}

// schemaName makes a name that the wire takes.
func schemaName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "answer"
	}
	return name[:min(len(name), 64)]
}

// fileText returns a file in words, whole if it is a text.
func fileText(f *agent.File) string {
	name := f.Name
	if name == "" {
		name = "file"
	}
	if wire.IsText(f) {
		return "[" + name + " (" + f.MediaType + ")]\n" + string(f.Data)
	}
	if f.URL != "" {
		return fmt.Sprintf("[%s (%s): %s]", name, f.MediaType, f.URL)
	}
	return fmt.Sprintf("[%s (%s, %d bytes), not shown]", name, f.MediaType, len(f.Data))
}

func isImage(f *agent.File) bool { return strings.HasPrefix(wire.Kind(f), "image/") }

// dataURL returns where a file is: its data, else its URL.
func dataURL(f *agent.File) string {
	if len(f.Data) == 0 && f.URL != "" {
		return f.URL
	}
	return "data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Data)
}

// resultText returns a result with its files in words.
func resultText(r *agent.ToolResult) string {
	if len(r.Files) == 0 {
		return r.Text
	}
	texts := make([]string, 0, 1+len(r.Files))
	if r.Text != "" {
		texts = append(texts, r.Text)
	}
	for i := range r.Files {
		texts = append(texts, fileText(&r.Files[i]))
	}
	return strings.Join(texts, "\n")
}
