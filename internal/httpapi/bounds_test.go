package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/shoal-dev/shoal"
)

// boundless collects every input below a schema that has no bound, and calls visit with
// each that has one: the path to it, and its schema.
type boundless struct {
	found []string
	visit func(at []string, s *jsonschema.Schema)
}

// walk goes through a schema; at is the path in JSON, "[]" an entry of a list.
func (b *boundless) walk(name string, at []string, s *jsonschema.Schema) {
	if s.Ref != "" {
		s = document().Components.Schemas[strings.TrimPrefix(s.Ref, schemaRefs)]
	}
	for _, one := range append(append([]*jsonschema.Schema{}, s.OneOf...), s.AnyOf...) {
		b.walk(name, at, one)
	}
	bounded := true
	switch {
	case len(s.Enum) > 0:
		return
	case typeOf(s) == "string":
		bounded = s.MaxLength != nil
	case typeOf(s) == "array":
		bounded = s.MaxItems != nil
		b.walk(name, append(at, "[]"), s.Items)
	case typeOf(s) == "integer" || typeOf(s) == "number":
		bounded = s.Minimum != nil && s.Maximum != nil
	case typeOf(s) == "object" && len(s.Properties) > 0:
		for field, p := range s.Properties {
			b.walk(name, append(at[:len(at):len(at)], field), p)
		}
		return
	case typeOf(s) == "object" || typeOf(s) == "" && len(s.OneOf)+len(s.AnyOf) == 0: // any value
		bounded = s.Extra["x-max-bytes"] != nil
	case typeOf(s) == "boolean":
		return
	}
	if !bounded {
		b.found = append(b.found, name+" "+strings.Join(at, "."))
	} else if b.visit != nil && len(at) > 0 {
		b.visit(at, s)
	}
}

// tooMuch is a value that is one more than a schema allows; nil where it is cut.
func tooMuch(s *jsonschema.Schema) any {
	switch {
	case s.Extra["x-cut"] != nil:
		return nil
	case s.MaxLength != nil:
		return strings.Repeat("x", *s.MaxLength+1)
	case s.MaxItems != nil:
		list := make([]any, *s.MaxItems+1)
		for i := range list {
			list[i] = fmt.Sprint("e", i)
			if s.Items.Ref != "" {
				list[i] = map[string]any{"type": "text", "text": "x"}
			}
		}
		return list
	case s.Maximum != nil:
		return int64(*s.Maximum) + 1
	}
	if most, found := s.Extra["x-max-bytes"].(int); found {
		return map[string]any{"x": strings.Repeat("x", most)}
	}
	return nil
}

// nested is the body that has a value at a path, and beside it what its parts need.
func nested(at []string, value any) any {
	if len(at) == 0 {
		return value
	}
	inner := nested(at[1:], value)
	if at[0] != "[]" {
		return map[string]any{at[0]: inner}
	}
	if part, ok := inner.(map[string]any); ok {
		inner = wholePart(part)
	}
	return []any{inner}
}

// wholePart completes a part of which one field is too much.
func wholePart(part map[string]any) map[string]any {
	whole := map[string]any{"type": "file", "name": "x", "mediaType": "text/plain", "url": "https://x"}
	if part["text"] != nil {
		whole = map[string]any{"type": "text"}
	}
	if part["data"] != nil {
		whole = map[string]any{"type": "data", "name": "x"}
	}
	maps.Copy(whole, part)
	return whole
}

// Every input over REST has a bound, the OpenAPI document states it, and one more than
// it allows is refused in words.
func TestEveryInputHasABound(t *testing.T) {
	w, ann, _ := conversation(t)
	walked := 0
	for _, rt := range routes() {
		if rt.tag == "" {
			continue
		}
		path := strings.NewReplacer("{session}", "default", "{space}", "shop", "{entity}", "ann", "{agent}", "bot").Replace(rt.path)
		key := ann
		if strings.HasPrefix(rt.path, "/v1/keys") || strings.HasPrefix(rt.path, "/v1/sessions") && !strings.Contains(rt.path, "{space}") && !strings.HasSuffix(rt.path, "/wait") && rt.path != resumedPath {
			key = w.admin
		}
		for _, p := range rt.query {
			s := paramSchema(p)
			walked++
			if p.kind != stringParam {
				continue
			}
			a := w.do(key, rt.method, path+"?"+p.name+"="+url.QueryEscape(tooMuch(s).(string)), nil)
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), "query."+p.name) || !strings.Contains(string(a.body), "at most") {
				t.Errorf("%s %s?%s: %d %.200s", rt.method, path, p.name, a.status, a.body)
			}
		}
		if rt.stream {
			walked++
			a := w.do(key, rt.method, path, nil, "Last-Event-ID", strings.Repeat("x", shoal.MaxCursor+1))
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), "header.Last-Event-ID") || !strings.Contains(string(a.body), "at most 256") {
				t.Errorf("%s %s with a long Last-Event-ID: %d %.200s", rt.method, path, a.status, a.body)
			}
		}
		if _, config := rt.in.(AgentConfig); rt.in == nil || config {
			continue
		}
		b := boundless{visit: func(at []string, s *jsonschema.Schema) {
			walked++
			value := tooMuch(s)
			if value == nil {
				return
			}
			body := map[string]any{}
			w.must(json.Unmarshal([]byte(rt.example), &body))
			if at[0] == "parts" {
				body = map[string]any{}
			}
			maps.Copy(body, nested(at, value).(map[string]any))
			a := w.do(key, rt.method, path, body)
			if (a.status != http.StatusUnprocessableEntity && a.status != http.StatusRequestEntityTooLarge) ||
				!strings.Contains(string(a.body), "at most") && !strings.Contains(string(a.body), "must be a time") {
				t.Errorf("%s %s with one more in %s: %d %.300s", rt.method, path, strings.Join(at, "."), a.status, a.body)
			}
		}}
		b.walk(rt.id, nil, &jsonschema.Schema{Ref: schemaRefs + schemaName(reflect.TypeOf(rt.in))})
		if len(b.found) > 0 {
			t.Errorf("inputs without a bound: %q; add them to input.OfBodies", b.found)
		}
	}
	if walked < 100 {
		t.Errorf("only %d inputs were walked", walked)
	}
}
