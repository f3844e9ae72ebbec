package aisdkapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// tooMuch returns a body with one more than a bound.
func tooMuch(field string, most int) any {
	text, list := strings.Repeat("x", most+1), make([]any, most+1)
	hello := map[string]any{"id": "u", "role": "user", "parts": []any{map[string]any{"type": "text", "text": "Hi"}}}
	tools := map[string]any{}
	body := map[string]any{"messages": []any{hello}}
	for i := range list {
		list[i] = map[string]any{"role": "user", "type": "text"}
		tools[fmt.Sprint("t", i)] = map[string]any{}
	}
	switch field {
	case "messages":
		body["messages"] = list
	case "messages[].parts":
		hello["parts"] = list
	case "messages[].id":
		hello["id"] = text
	case "messages[].parts[].toolCallId":
		hello["parts"] = []any{map[string]any{"type": "tool-x", "toolCallId": text}}
	case "mentions":
		body["mentions"] = strings.Split(strings.Repeat("x,", most+1), ",")[:most+1]
	case "tools":
		body["tools"] = tools
	case "tools[].name":
		body["tools"] = map[string]any{text: map[string]any{}}
	case "tools[].description":
		body["tools"] = map[string]any{"x": map[string]any{"description": text}}
	default:
		body[field] = text
	}
	return body
}

// One more than any bound of a request is refused in words that name the field.
func TestEveryInputHasABound(t *testing.T) {
	for field, most := range inputBounds {
		body, err := json.Marshal(tooMuch(field, most))
		if err != nil {
			t.Fatal(err)
		}
		_, err = decode(body)
		var e *shoal.Error
		if !errors.As(err, &e) || e.Kind != shoal.InvalidArgument || !strings.Contains(e.Msg, "at most") || !strings.HasPrefix(e.Fields[0].Location, strings.SplitN(field, "[", 2)[0]) {
			t.Errorf("one more in %s: %v", field, err)
		}
	}
}

const (
	asks     = `{"id":"a","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-pay","toolCallId":"run_1/c1","state":"output-available","output":1},{"type":"step-start"},%s]}`
	greeting = `{"id":"u","role":"user","parts":[{"type":"text","text":"Hi"}]}`
)

// What follows the last message of the assistant is said, or else what it was asked for.
func TestSaid(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want string // the texts and answers, or the error
	}{
		"the only message":   {`{"messages":[` + greeting + `]}`, "Hi"},
		"the newest":         {`{"messages":[` + greeting + `,{"role":"assistant","parts":[]},{"role":"user","parts":[{"type":"text","text":"Bye"}]}]}`, "Bye"},
		"several":            {`{"messages":[` + greeting + `,{"role":"system","parts":[{"type":"text","text":"x"}]},` + greeting + `]}`, "Hi|Hi"},
		"one that is alone":  {`{"message":` + greeting + `}`, "Hi"},
		"an output":          {`{"messages":[` + fmt.Sprintf(asks, `{"type":"dynamic-tool","toolName":"pay","toolCallId":"run_1/c2","state":"output-available","output":{"a":1}}`) + `]}`, `run_1/c1=1 false|run_1/c2={"a":1} true`},
		"an error":           {`{"messages":[` + fmt.Sprintf(asks, `{"type":"tool-pay","toolCallId":"run_1/c2","state":"output-error","errorText":"no"}`) + `]}`, `run_1/c1=1 false|run_1/c2 failed no true`},
		"a response":         {`{"messages":[` + fmt.Sprintf(asks, `{"type":"tool-pay","toolCallId":"run_1/c2","state":"approval-responded","providerExecuted":true,"approval":{"id":"pnd_1","approved":false,"reason":"no"}}`) + `]}`, `run_1/c1=1 false|run_1/c2 pnd_1 false no true`},
		"what we executed":   {`{"messages":[{"role":"assistant","parts":[{"type":"tool-pay","toolCallId":"run_1/c2","providerExecuted":true,"state":"output-available","output":1}]}]}`, "messages must end with a message of the user, or with a message of the assistant that has the output of a tool or the response to an approval"},
		"what waits still":   {`{"messages":[{"role":"assistant","parts":[{"type":"tool-pay","toolCallId":"run_1/c2","state":"approval-requested","approval":{"id":"pnd_1"}}]}]}`, "messages must end with a message of the user, or with a message of the assistant that has the output of a tool or the response to an approval"},
		"nothing":            {`{"messages":[]}`, "messages must end with a message of the user, or with a message of the assistant that has the output of a tool or the response to an approval"},
		"another role":       {`{"messages":[{"role":"narrator"}]}`, "messages[0].role must be system, user or assistant"},
		"another trigger":    {`{"trigger":"x","messages":[]}`, `trigger must be "submit-message" or "regenerate-message"`},
		"no list":            {`{"messages":5}`, "messages must not be a number"},
		"no object":          {`null`, "The body is not a JSON object."},
		"an empty body":      {``, "The body is empty. Send the messages of the chat."},
		"regenerate nothing": {`{"trigger":"regenerate-message","messages":[` + fmt.Sprintf(asks, `{"type":"text","text":"x"}`) + `]}`, "messages must end with a message of the user, or with a message of the assistant that has the output of a tool or the response to an approval"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := decode([]byte(c.body))
			var said said
			if err == nil {
				said, err = in.said()
			}
			var got []string
			for _, m := range said.user {
				got = append(got, m.text())
			}
			for _, a := range said.answers {
				text := a.call
				switch {
				case a.Approved != nil:
					text += fmt.Sprint(" ", a.action, " ", *a.Approved, " ", *a.Reason)
				case a.Error != nil:
					text += " failed " + *a.Error
				default:
					text += "=" + string(a.Result)
				}
				got = append(got, fmt.Sprint(text, " ", a.newest))
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

// Files come as URLs, or with their content.
func TestFile(t *testing.T) {
	for url, want := range map[string]string{
		"https://x/y.png":                 "https://x/y.png",
		"data:text/plain;base64,SGVsbG8=": "Hello",
		"data:text/plain,Hello%20you":     "Hello you",
		"data:text/plain;base64,!":        "messages must have files as a valid data URL, or as an http or https URL",
		"data:text/plain":                 "messages must have files as a valid data URL, or as an http or https URL",
	} {
		p, content, err := file(uiPart{Type: "file", URL: url})
		got := p.URL + string(content)
		var e *shoal.Error
		if errors.As(err, &e) {
			got = e.Msg
		}
		if got != want || err == nil && (p.Name == "" || p.MediaType == "") {
			t.Errorf("%s is %+v %q, want %q", url, p, got, want)
		}
	}
}

// No body breaks the reader, and what it accepts is within its bounds.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"c","messages":[` + greeting + `],"tools":{"x":{"description":"d","inputSchema":{"type":"object"}}},"system":"s","mentions":["a"]}`))
	f.Add([]byte(`{"message":` + fmt.Sprintf(asks, `{"type":"tool-pay","toolCallId":"run_1/c2","state":"approval-responded","approval":{"id":"p","approved":true}}`) + `}`))
	f.Add([]byte(`{"messages":[{"role":"user","parts":[{"type":"file","url":"data:,x"},{"type":"data-x","id":"1","data":[]}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := decode(body)
		if err != nil {
			return
		}
		if len(in.Messages) > inputBounds["messages"] || len(in.Tools) > inputBounds["tools"] {
			t.Errorf("%s was accepted", body)
		}
		said, err := in.said()
		if err == nil && len(said.user)+len(said.answers) == 0 {
			t.Errorf("%s says nothing", body)
		}
		in.holds(true) // must not panic, as the rest
		_, _ = in.clientInput()
		if d, files, err := draft(said.user, func(string, string) {}); err == nil && (len(d.Parts) == 0 || len(files) > len(d.Parts)) {
			t.Errorf("%s is posted as %+v", body, d)
		}
		for _, a := range said.answers {
			a.to(shoal.PendingQuestion)
		}
	})
}
