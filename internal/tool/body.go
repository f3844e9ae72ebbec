package tool

import (
	"errors"
	"html"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// body is the template of a request's body: the input when the config has no body, a JSON
// value, or a text.
type body struct {
	kind bodyKind
	json any // with a template for each text
	text template
	form bodyFormat
}

type bodyKind uint8

const (
	inputBody bodyKind = iota
	jsonBody
	textBody
)

// bodyFormat is the format of a body's text.
type bodyFormat uint8

const (
	plain bodyFormat = iota
	jsonForm
	urlForm
	xmlForm
)

func formatOf(contentType string) bodyFormat {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch kind = strings.TrimSpace(kind); {
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return jsonForm
	case kind == "application/x-www-form-urlencoded":
		return urlForm
	case strings.HasSuffix(kind, "/xml") || strings.HasSuffix(kind, "+xml") || kind == "text/html":
		return xmlForm
	}
	return plain
}

// parseBody parses the body of a config. contentType is the author's header, or empty; the
// returned content type is the one to send.
func (r *resolver) parseBody(x *agentconfig.Request, contentType string) (*body, string, error) {
	const field = "execution.body"
	if contentType == "" {
		contentType = "application/json"
	}
	if len(x.Body) == 0 || string(x.Body) == "null" {
		return &body{}, contentType, nil
	}
	value, err := decode(x.Body)
	if err != nil {
		return nil, "", err
	}
	if text, ok := value.(string); ok {
		t, err := r.parse(field, text)
		return &body{kind: textBody, text: t, form: formatOf(contentType)}, contentType, err
	}
	templates, err := walkTexts(value, func(s string) (any, error) { return r.parse(field, s) })
	return &body{kind: jsonBody, json: templates}, contentType, err
}

var errBody = errors.New("the input has a value that cannot be written into the body")

// fill returns the body of a call. The error is for the model.
func (b *body) fill(c call, vars variables) (string, error) {
	switch b.kind {
	case inputBody:
		return c.Arguments, nil
	case textBody:
		return b.fillText(vars), nil
	}
	text, err := encode(fillTemplates(b.json, vars))
	if err != nil {
		return "", errBody
	}
	return text, nil
}

func fillTemplates(v any, vars variables) any {
	switch v := v.(type) {
	case template:
		return v.fillAny(vars)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = fillTemplates(item, vars)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = fillTemplates(item, vars)
		}
		return out
	}
	return v
}

// fillText fills the template and escapes values for the format. In JSON, a variable
// between quotes is part of a string; elsewhere it is a value.
func (b *body) fillText(vars variables) string {
	switch b.form {
	case urlForm:
		return b.text.fill(vars, url.QueryEscape)
	case xmlForm:
		return b.text.fill(vars, html.EscapeString)
	case plain:
		return b.text.fill(vars, asIs)
	}
	var out strings.Builder
	quoted := false
	for _, s := range b.text {
		switch value, found := vars.value(s.name); {
		case s.name == "" && !s.env:
			out.WriteString(s.text)
			quoted = endsQuoted(s.text, quoted)
		case quoted:
			text := s.text
			if s.name != "" {
				text = vars.text(s)
			}
			inner := mustEncode(text)
			out.Write(inner[1 : len(inner)-1])
		case s.env || !found:
			out.Write(mustEncode(s.text))
		default:
			out.Write(mustEncode(value))
		}
	}
	return out.String()
}

// endsQuoted reports whether text ends inside a JSON string, given whether it starts in one.
func endsQuoted(text string, quoted bool) bool {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '\\' && quoted:
			i++
		}
	}
	return quoted
}

// jsonSize returns the number of bytes of a character in a JSON string.
func jsonSize(letter rune) int {
	switch {
	case strings.ContainsRune("\"\\\n\r\t\b\f", letter):
		return 2
	case letter < ' ' || letter == '\u2028' || letter == '\u2029':
		return 6
	}
	return utf8.RuneLen(letter)
}
