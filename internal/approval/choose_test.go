package approval_test

import (
	"encoding/json"
	"testing"

	"github.com/shoal-dev/shoal/internal/approval"
)

// A result chooses its call only if its field, or it itself, is true; the result of the
// other calls never does.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		field, result string
		chosen        bool
	}{
		{"chosen", `{"chosen":true}`, true},
		{"chosen", `{"chosen":true,"note":"x"}`, true},
		{"chosen", `{"chosen":false}`, false},
		{"chosen", `{"chosen":"true"}`, false},
		{"chosen", `{"other":true}`, false},
		{"chosen", `true`, false},
		{"chosen", ``, false},
		{"", `true`, true},
		{"", `false`, false},
		{"", `{"chosen":true}`, false},
		{"", ``, false},
	} {
		choice := approval.Choice{Field: c.field}
		if got := choice.Chosen(json.RawMessage(c.result)); got != c.chosen {
			t.Errorf("field %q, result %s: chosen %t", c.field, c.result, got)
		}
		if not := choice.NotChosen(); !json.Valid(not) || choice.Chosen(not) {
			t.Errorf("field %q: the others get %s", c.field, not)
		}
	}
}
