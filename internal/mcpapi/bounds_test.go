package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// bound is what the schema of an input says of its size.
type bound struct {
	Type                any
	MaxLength, MaxItems int
	Minimum, Maximum    *int64
	Items               *bound
}

// tooMuch returns a value that is one more than the bound allows, nil where the input
// is cut or has no size.
func (b bound) tooMuch() any {
	switch b.Type {
	case "string":
		return strings.Repeat("x", b.MaxLength+1)
	case "array":
		ids := make([]string, b.MaxItems+1)
		for i := range ids {
			ids[i] = fmt.Sprint("e", i)
		}
		return ids
	}
	return nil
}

// Every input of every tool has a bound, its schema states it, and one more than it
// allows is refused in words that name the input.
func TestEveryInputHasABound(t *testing.T) {
	w := newWorld(t)
	ann := w.join(transports[0], "ann")
	walked := 0
	for name, tool := range ann.tools() {
		text, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Properties map[string]bound
			Required   []string
		}
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		for field, b := range schema.Properties {
			walked++
			switch {
			case b.Type == "string" && b.MaxLength == 0, b.Type == "array" && (b.MaxItems == 0 || b.Items == nil || b.Items.MaxLength == 0),
				b.Type == "integer" && (b.Minimum == nil || b.Maximum == nil):
				t.Errorf("%s.%s has no bound in its schema", name, field)
				continue
			}
			value := b.tooMuch()
			if value == nil {
				continue
			}
			in := inputs{field: value}
			for _, other := range schema.Required {
				if other != field {
					in[other] = "x"
				}
			}
			_, _, said, err := w.post(t.Context(), w.key("ann"), rpc(1, name, in))
			if err != nil || !strings.Contains(said, `"isError":true`) || !strings.Contains(said, "invalid_argument: ") && !strings.Contains(said, "too_large: ") ||
				!strings.Contains(said, "at most") {
				t.Errorf("%s with one more in %s: %v %.300s", name, field, err, said)
			}
		}
	}
	if walked < 40 {
		t.Errorf("only %d inputs were walked", walked)
	}
}

// What a model means by a number or a truth value that it writes as a string leaves no
// doubt; anything else is refused as it was.
func TestStringsThatMeanNumbers(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		in   inputs
		says string
	}{
		{inputs{"count": "99", "timeoutMs": "1"}, `"timeoutMs":1}`},
		{inputs{"count": " 99 ", "timeoutMs": "0"}, `"timedOut":true`},
		{inputs{"count": "many"}, "count must be a whole number"},
		{inputs{"count": "1.5"}, "count must be a whole number"},
		{inputs{"count": ""}, "count must be a whole number"},
		{inputs{"count": "0"}, "count must be at least 1"},
	} {
		if _, _, said, err := w.post(t.Context(), w.key("ann"), rpc(1, "wait_for_agents", tt.in)); err != nil || !strings.Contains(said, tt.says) {
			t.Errorf("%v: %v %s, want %s", tt.in, err, said, tt.says)
		}
	}
	for value, want := range map[any]bool{"true": false, "false": false, true: false, "yes": true, 1: true} {
		_, _, said, err := w.post(t.Context(), w.key("ann"), rpc(1, "list_agents", inputs{"includeDetails": value}))
		if err != nil || strings.Contains(said, "includeDetails must be true or false") != want {
			t.Errorf("%v: %v %s, want it refused: %v", value, err, said, want)
		}
		if details := strings.Contains(said, "Kind: "); details != (value == "true" || value == true) {
			t.Errorf("%v: details %v: %s", value, details, said)
		}
	}
}
