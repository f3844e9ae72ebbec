package openaiapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// tooMuch returns one more than a bound: a text or a list.
func tooMuch(field string, most int) any {
	switch field[strings.LastIndexByte(field, '.')+1:] {
	case "tool_call_id", "name", "description":
		return strings.Repeat("x", most+1)
	}
	list := make([]any, most+1)
	for i := range list {
		list[i] = map[string]any{"role": "user", "type": "text", "function": map[string]any{"name": fmt.Sprint("t", i)}}
		if field == "modalities" {
			list[i] = "text"
		}
	}
	return list
}

// One more than any bound of a request is refused in words that name the field.
func TestEveryInputHasABound(t *testing.T) {
	for field, most := range inputBounds {
		in := map[string]any{"model": "bot", "messages": []any{map[string]any{"role": "user", "content": "Hello"}}}
		value := tooMuch(field, most)
		if list, name, nested := strings.Cut(field, "[]."); !nested {
			in[field] = value
		} else if inner, deep := strings.CutPrefix(name, "function."); deep {
			in[list] = []any{map[string]any{"type": "function", "function": map[string]any{inner: value}}}
		} else {
			in[list] = []any{map[string]any{"role": "user", name: value}}
		}
		body, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		_, err = decode(body)
		var e *shoal.Error
		if !errors.As(err, &e) || e.Kind != shoal.InvalidArgument || !strings.Contains(e.Msg, "at most") || !strings.HasPrefix(e.Fields[0].Location, field[:4]) {
			t.Errorf("one more in %s: %v", field, err)
		}
	}
}

// Only what follows the last message of the assistant is said.
func TestSaid(t *testing.T) {
	for name, c := range map[string]struct {
		messages string
		want     string // the parts and answers, or the error
	}{
		"the only message":        {`[{"role":"user","content":"Hi"}]`, "Hi"},
		"the newest":              {`[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},{"role":"user","content":"Bye"}]`, "Bye"},
		"several":                 {`[{"role":"user","content":"Hi"},{"role":"system","content":"x"},{"role":"user","content":[{"type":"text","text":"A"},{"type":"text","text":""},{"type":"text","text":"B"}]}]`, "Hi|A|B"},
		"a picture":               {`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y.png"}}]}]`, "https://x/y.png"},
		"results":                 {`[{"role":"assistant","content":null},{"role":"tool","tool_call_id":"run_1/c1","content":"rain"},{"role":"tool","tool_call_id":"run_1/c2","content":"{\"a\":1}"}]`, `run_1/c1="rain"|run_1/c2={"a":1}`},
		"an id of somebody else":  {`[{"role":"tool","tool_call_id":"call_1","content":"x"}]`, "messages[0].tool_call_id must be the id of a call that Shoal has sent"},
		"content that is neither": {`[{"role":"user","content":5}]`, "messages[0].content must be a text or a list of parts"},
		"sound":                   {`[{"role":"user","content":[{"type":"input_audio"}]}]`, "messages[0].content[0] cannot be posted: send text, or an image by its http or https URL"},
		"nothing":                 {`[{"role":"user","content":""}]`, "messages must end with a message of the user, or with the results of calls"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := decode([]byte(`{"model":"bot","messages":` + c.messages + `}`))
			if err != nil {
				t.Fatal(err)
			}
			said, err := in.said()
			var got []string
			for _, p := range said.draft.Parts {
				got = append(got, p.Text+p.URL)
			}
			for _, a := range said.answers {
				got = append(got, string(a.run)+"/"+a.call+"="+string(exchange.Result(a.text)))
			}
			var e *shoal.Error
			if errors.As(err, &e) {
				got = []string{e.Msg}
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("said is %q, want %q", text, c.want)
			}
		})
	}
}

// No body breaks the reader, and what it accepts is within its bounds.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"model":"bot","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"x","parameters":{"type":"object"}}}]}`))
	f.Add([]byte(`{"model":"bot","messages":[{"role":"tool","tool_call_id":"run_1/c1","content":[{"type":"text","text":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := decode(body)
		if err != nil {
			return
		}
		if len(in.Messages) == 0 || len(in.Messages) > inputBounds["messages"] || in.Model == "" {
			t.Errorf("%s was accepted", body)
		}
		if said, err := in.said(); err == nil && len(said.draft.Parts)+len(said.answers) == 0 {
			t.Errorf("%s says nothing", body)
		}
		_, _ = in.clientInput() // must not panic
	})
}
