package shoal_test

import (
	"encoding/json"
	"testing"

	"github.com/shoal-dev/shoal"
)

// JSON inside JSON keeps its bytes, and the line end of an encoder is not part of
// it.
func TestEncodeJSON(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{"a < b & c\n", `"a < b & c\n"`},
		{map[string]any{"args": json.RawMessage(`{"html":"<b>\u003c"}`)}, `{"args":{"html":"<b>\u003c"}}`},
		{nil, "null"},
	} {
		got, err := shoal.EncodeJSON(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("EncodeJSON(%v) = %s, %v, want %s", c.value, got, err, c.want)
		}
	}
	if got, err := shoal.EncodeJSON(make(chan int)); err == nil || got != nil {
		t.Errorf("a channel is written as %s", got)
	}
}

// Brackets in strings do not nest.
func TestJSONDepth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "1": 0, `"[{"`: 0, `{}`: 1, `[[],{"a":[1]}]`: 3, `{"a\\\"[":"]{","b":{}}`: 2, `["\\"]`: 1,
	} {
		if got := shoal.JSONDepth(text); got != want {
			t.Errorf("JSONDepth(%s) = %d, want %d", text, got, want)
		}
		if got := shoal.JSONDepth([]byte(text)); got != want {
			t.Errorf("JSONDepth of the bytes of %s = %d, want %d", text, got, want)
		}
	}
}
