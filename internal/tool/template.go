package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

var variablePattern = regexp.MustCompile(`\{\{\s*([A-Za-z0-9_$-]+(?:\.[A-Za-z0-9_$-]+)*)\s*\}\}`)

// segment is a part of a template: the author's text, a value of the environment, or a
// variable. The text of a variable is its notation in the template.
type segment struct {
	text string
	env  bool
	name string
}

// template is a text with variables in it. Values of the environment and of variables are
// never searched for variables again.
type template []segment

// parseTemplate splits a text into segments. env resolves its references to the environment; nil
// leaves them unchanged.
func parseTemplate(text string, env func(name string) (string, error)) (template, error) {
	pieces := []agentconfig.Piece{{Text: text}}
	if env != nil {
		pieces = agentconfig.Split(text)
	}
	var t template
	for _, p := range pieces {
		if p.Env != "" {
			value, err := env(p.Env)
			if err != nil {
				return nil, err
			}
			t = append(t, segment{text: value, env: true})
			continue
		}
		end := 0
		for _, at := range variablePattern.FindAllStringSubmatchIndex(p.Text, -1) {
			if at[0] > end {
				t = append(t, segment{text: p.Text[end:at[0]]})
			}
			t = append(t, segment{text: p.Text[at[0]:at[1]], name: p.Text[at[2]:at[3]]})
			end = at[1]
		}
		if end < len(p.Text) {
			t = append(t, segment{text: p.Text[end:]})
		}
	}
	return t, nil
}

// fill inserts the values. Each value, including the text of a missing variable, is passed
// through escape.
func (t template) fill(vars variables, escape func(string) string) string {
	var b strings.Builder
	for _, s := range t {
		switch {
		case s.name != "":
			b.WriteString(escape(vars.text(s)))
		case s.env:
			b.WriteString(escape(s.text))
		default:
			b.WriteString(s.text)
		}
	}
	return b.String()
}

func asIs(s string) string { return s }

// fillAny is like fill for a place that accepts any value: a text that consists of one
// variable becomes the variable's value.
func (t template) fillAny(vars variables) any {
	if len(t) == 1 && t[0].name != "" {
		if v, ok := vars.value(t[0].name); ok {
			return v
		}
	}
	return t.fill(vars, asIs)
}

// variables are the values of a call's input, by name; those of input.variables take
// precedence.
type variables map[string]any

// value returns the value of a name, or of a path through objects.
func (v variables) value(name string) (any, bool) {
	own, _ := v["variables"].(map[string]any)
	for _, from := range []map[string]any{own, v} {
		if found, ok := lookUp(from, name); ok {
			return found, true
		}
	}
	return nil, false
}

func lookUp(from map[string]any, name string) (any, bool) {
	if found, ok := from[name]; ok {
		return found, true
	}
	first, rest, more := strings.Cut(name, ".")
	if !more {
		return nil, false
	}
	inner, _ := from[first].(map[string]any)
	return lookUp(inner, rest)
}

// text renders a variable: strings unchanged, other values as JSON, a missing variable as in
// the template.
func (v variables) text(s segment) string {
	switch found, ok := v.value(s.name); found := found.(type) {
	case string:
		return found
	case json.Number:
		return found.String()
	default:
		if !ok {
			return s.text
		}
		return string(mustEncode(found))
	}
}

// fillAll fills every text in a value of a config.
func fillAll(v any, vars variables) any {
	filled, _ := walkTexts(v, func(s string) (any, error) { // parsing without an environment never fails
		t, err := parseTemplate(s, nil)
		return t.fillAny(vars), err
	})
	return filled
}

// walkTexts copies a value with every text in it replaced.
func walkTexts(v any, replace func(string) (any, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return replace(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if out[i], err = walkTexts(item, replace); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			if out[name], err = walkTexts(item, replace); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// resolver resolves references to the environment for one tool, and records the values so
// that they can be hidden from the tool's output.
type resolver struct {
	lookUp func(name string) (string, bool)
	values []string
}

func (r *resolver) value(name string) (string, error) {
	if r.lookUp != nil && !agentconfig.IsProtected(name) {
		if v, ok := r.lookUp(name); ok {
			r.values = append(r.values, v)
			return v, nil
		}
	}
	return "", fmt.Errorf("refers to %s, which is not set or not permitted in the server's environment", name)
}

// parse does the same as the function parse for a field of the config.
func (r *resolver) parse(field, text string) (template, error) {
	t, err := parseTemplate(text, r.value)
	if err != nil {
		return nil, shoal.Invalid(field, err.Error())
	}
	return t, nil
}

// Expand replaces the references in a text, such as a header of an MCP server, with values
// of the environment. The error is of kind InvalidArgument and names the missing or
// forbidden variable, never a value.
func Expand(text string, env func(name string) (value string, ok bool)) (string, error) {
	r := &resolver{lookUp: env}
	t, err := r.parse("config", text)
	if err != nil {
		return "", err
	}
	return t.fill(nil, asIs), nil
}
