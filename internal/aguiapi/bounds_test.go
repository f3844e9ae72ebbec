package aguiapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/aguiapi"
)

// tooMuch returns the JSON of one more than a bound, of an id or of a list.
func tooMuch(field string, most int) any {
	if name := field[strings.LastIndexByte(field, '.')+1:]; strings.HasSuffix(name, "Id") || name == "id" || name == "description" || name == "value" {
		return strings.Repeat("x", most+1)
	}
	list := make([]any, most+1)
	for i := range list {
		list[i] = map[string]any{
			"id": "m", "role": "user", "content": "", "name": fmt.Sprint("t", i), "type": "function", "function": map[string]any{"name": "x"},
			"interruptId": "i", "status": "resolved",
		}
	}
	return list
}

// One more than any bound of an input is refused in words that name the input.
func TestEveryInputHasABound(t *testing.T) {
	w := newWorld(t)
	ann := w.NewKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human})
	for field, most := range aguiapi.InputBounds {
		in := map[string]any{"threadId": "t", "runId": "r", "messages": []any{}}
		value := tooMuch(field, most)
		if list, name, nested := strings.Cut(field, "[]."); nested {
			in[list] = []any{map[string]any{"id": "m", "role": "assistant", "interruptId": "i", "status": "resolved", "name": "t", name: value}}
		} else {
			in[field] = value
		}
		body, err := json.Marshal(in)
		w.must(err)
		status, code, detail := w.refused(w.request(t.Context(), http.MethodPost, "shop", ann, "application/json", string(body)))
		if status != http.StatusUnprocessableEntity || code != "invalid_argument" || !strings.Contains(detail, "at most") {
			t.Errorf("one more in %s: %d %s %s", field, status, code, detail)
		}
	}
}
