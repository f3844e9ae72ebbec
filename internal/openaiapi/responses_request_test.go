package openaiapi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// Only what follows the last item of the assistant is said.
func TestSaidInAResponse(t *testing.T) {
	for name, c := range map[string]struct{ input, want string }{
		"a text":             {`"Hi"`, "Hi"},
		"the only message":   {`[{"role":"user","content":"Hi"}]`, "Hi"},
		"the newest":         {`[{"role":"user","content":"Hi"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]},{"role":"user","content":"Bye"}]`, "Bye"},
		"several":            {`[{"role":"user","content":"Hi"},{"role":"developer","content":"x"},{"role":"user","content":[{"type":"input_text","text":"A"},{"type":"input_text","text":""}]}]`, "Hi|A"},
		"a picture":          {`[{"role":"user","content":[{"type":"input_image","image_url":"https://x/y.png"}]}]`, "https://x/y.png"},
		"a file":             {`[{"role":"user","content":[{"type":"input_file","file_url":"https://x/y.pdf"}]}]`, "https://x/y.pdf"},
		"outputs":            {`[{"role":"user","content":"Hi"},{"type":"function_call","call_id":"run_1/c1","name":"x","arguments":"{}"},{"type":"function_call_output","call_id":"run_1/c1","output":"rain"}]`, `run_1/c1="rain"`},
		"an output in parts": {`[{"type":"function_call_output","call_id":"run_1/c1","output":[{"type":"input_text","text":"{\"a\":1}"}]}]`, `run_1/c1={"a":1}`},
		"another id":         {`[{"type":"function_call_output","call_id":"call_1","output":"x"}]`, "input[0].call_id must be the id of a call that Shoal has sent"},
		"another role":       {`[{"role":"tool","content":"x"}]`, "input[0].role must be system, developer, user or assistant"},
		"sound":              {`[{"role":"user","content":[{"type":"input_audio"}]}]`, "input[0].content[0] cannot be posted: send input_text, or an image or a file by its http or https URL"},
		"data":               {`[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA"}]}]`, "input[0].content[0] cannot be posted: send input_text, or an image or a file by its http or https URL"},
		"neither":            {`[{"role":"user","content":5}]`, "input[0].content must be a text or a list of parts"},
		"nothing new":        {`[{"role":"user","content":"Hi"},{"type":"reasoning","summary":[]}]`, "input must end with a message of the user, or with the outputs of calls"},
		"a number":           {`5`, "input must be a text or a list of items"},
		"no input":           {`null`, "input is required"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := decodeResponse([]byte(`{"model":"bot","input":` + c.input + `}`))
			var said said
			if err == nil {
				said, err = in.said()
			}
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

// What an agent cannot do is refused with the field that asks for it.
func TestResponseRequestsThatAreRefused(t *testing.T) {
	for fields, want := range map[string]string{
		`"model":""`:                  "model",
		`"background":true`:           "background",
		`"conversation":5`:            "conversation",
		`"conversation":{}`:           "",
		`"conversation":{"name":"x"}`: "conversation",
		`"conversation":"a","previous_response_id":"r"`: "conversation",
		`"text":{"format":{"type":"json_schema"}}`:      "text.format.type",
		`"text":{"format":{"type":"text"}}`:             "",
		`"tools":[{"type":"web_search"}]`:               "tools[0].type",
		`"temperature":0.5,"max_output_tokens":9`:       "",
	} {
		_, err := decodeResponse([]byte(`{"input":"Hi","model":"bot",` + fields + `}`))
		var e *shoal.Error
		if errors.As(err, &e) != (want != "") || e != nil && (e.Kind != shoal.InvalidArgument || e.Fields[0].Location != want) {
			t.Errorf("%s: %+v, want %q", fields, err, want)
		}
	}
}

// One more than any bound of a response is refused in words that name the field.
func TestEveryInputOfAResponseHasABound(t *testing.T) {
	for field, most := range responseBounds {
		in := map[string]any{"model": "bot", "input": "Hello"}
		long, list := strings.Repeat("x", most+1), make([]any, most+1)
		for i := range list {
			list[i] = map[string]any{"role": "user", "type": "function"}
		}
		name, inner, nested := strings.Cut(field, "[].")
		switch {
		case inner == "content" || inner == "output":
			in[name] = []any{map[string]any{"role": "user", inner: list}}
		case nested:
			in[name] = []any{map[string]any{"type": "function", inner: long}}
		case field == "input" || field == "tools":
			in[field] = list
		default:
			in[field] = long
		}
		body, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		_, err = decodeResponse(body)
		var e *shoal.Error
		if !errors.As(err, &e) || e.Kind != shoal.InvalidArgument || !strings.Contains(e.Msg, "at most") || !strings.HasPrefix(e.Fields[0].Location, field[:4]) {
			t.Errorf("one more in %s: %v", field, err)
		}
	}
}

// No body breaks the reader, and what it accepts says something.
func FuzzDecodeResponse(f *testing.F) {
	f.Add([]byte(`{"model":"bot","input":"Hi","instructions":"Be brief.","tools":[{"type":"function","name":"x","parameters":{"type":"object"}}]}`))
	f.Add([]byte(`{"model":"bot","input":[{"type":"function_call_output","call_id":"run_1/c1","output":[{"type":"input_text","text":"x"}]}],"conversation":{"id":"a"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := decodeResponse(body)
		if err != nil {
			return
		}
		if len(in.items) > responseBounds["input"] || in.Model == "" {
			t.Errorf("%s was accepted", body)
		}
		if said, err := in.said(); err == nil && len(said.draft.Parts)+len(said.answers) == 0 {
			t.Errorf("%s says nothing", body)
		}
		_, _ = in.clientInput() // must not panic
	})
}
