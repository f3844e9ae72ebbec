package agentconfig_test

import (
	"encoding/json"
	"testing"

	"github.com/shoal-dev/shoal/internal/agentconfig"
)

func TestSchemaAcceptsValidConfigs(t *testing.T) {
	for name, text := range good(t) {
		if err := agentconfig.CheckSchema(t, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := agentconfig.CheckSchema(t, decode(t, string(text)).Canonical()); err != nil {
			t.Errorf("%s in its canonical form: %v", name, err)
		}
	}
}

// An editor that uses the schema shows the errors that the server would report.
func TestSchemaRejectsInvalidConfigs(t *testing.T) {
	for _, c := range wrongConfigs {
		switch err := agentconfig.CheckSchema(t, []byte(c.text)); {
		case err == nil && !c.beyond:
			t.Errorf("the schema accepts\n%s", c.text)
		case err != nil && c.beyond:
			t.Errorf("the schema rejects this, so the case must not be marked as beyond it:\n%s\n%v", c.text, err)
		}
	}
}

// Every text, list, table and number of a configuration has a limit, which the schema states
// and the validation takes from the same table.
func TestEveryInputHasABound(t *testing.T) {
	var schema any
	if err := json.Unmarshal(agentconfig.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	walked := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		if list, ok := v.([]any); ok {
			for _, one := range list {
				walk(at, one)
			}
		}
		s, _ := v.(map[string]any)
		needs := map[string][]string{"string": {"maxLength"}, "array": {"maxItems"}, "integer": {"minimum", "maximum"}, "number": {"minimum", "maximum"}}[kindOf(s)]
		if _, table := s["additionalProperties"].(map[string]any); table {
			needs = []string{"maxProperties"}
		}
		for _, word := range needs {
			walked++
			if s[word] == nil && s["enum"] == nil && s["const"] == nil {
				t.Errorf("%s has no %s", at, word)
			}
		}
		for word, inner := range s {
			walk(at+"/"+word, inner)
		}
	}
	walk("", schema)
	if walked < 80 {
		t.Errorf("only %d bounds were walked", walked)
	}
}

// kindOf returns the type of a schema, apart from null.
func kindOf(s map[string]any) string {
	kind, _ := s["type"].(string)
	if kinds, _ := s["type"].([]any); len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	return kind
}

func FuzzDecode(f *testing.F) {
	for _, text := range good(f) {
		f.Add(text)
	}
	for _, c := range wrongConfigs {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := agentconfig.Decode(text, options)
		if err != nil {
			if len(paths(err)) == 0 && len(text) <= agentconfig.MaxSize {
				t.Fatalf("an error without a path: %v", err)
			}
			return
		}
		if !json.Valid(config.Canonical()) {
			t.Fatalf("the canonical form is not JSON: %s", config.Canonical())
		}
		again, err := agentconfig.Load(config.Canonical())
		if err != nil || again.Hash() != config.Hash() {
			t.Fatalf("the canonical form of\n%s\nis not stable: %v\n%s\n%s", text, err, config.Canonical(), again.Canonical())
		}
		if err := agentconfig.CheckSchema(t, text); err != nil {
			t.Fatalf("the schema rejects a valid config:\n%s\n%v", text, err)
		}
	})
}
