package shorten_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/aguiapi/shorten"
)

// body is a RunAgentInput with these messages.
func body(messages ...string) string {
	return `{"threadId": "t", "messages": [` + strings.Join(messages, ", ") + `], "state": {"a": [1]}}`
}

func said(role, id string, size int) string {
	return fmt.Sprintf(`{"id": %q, "role": %q, "content": %q}`, id, role, strings.Repeat("é", size/2))
}

// decoded is what a test reads of a body.
type decoded struct {
	ThreadID  string
	State     json.RawMessage
	Messages  []struct{ ID string }
	Shortened shorten.History
}

// Of the oldest messages only the ids are kept that say what the client has.
func TestBody(t *testing.T) {
	const most = 4 << 10
	call := `{"id": "a0", "role": "assistant", "toolCalls": [{"id": "run_1/c1", "type": "function", "function": {"name": "pay", "arguments": "{}"}}]}`
	result := `{"id": "r0", "role": "tool", "toolCallId": "run_1/c1", "content": "[1]"}`
	old := []string{said("user", "u0", 300), call, result, said("system", "s0", 300), said("assistant", "a1", 3000)}
	for name, c := range map[string]struct {
		messages        []string
		want            []string
		texts, calls, r []string
	}{
		"nothing is left out of a short body":      {[]string{said("user", "u1", 10)}, []string{"u1"}, nil, nil, nil},
		"the oldest are left out":                  {append(slices.Clone(old), said("user", "u2", 2000)), []string{"u2"}, []string{"a0", "a1"}, []string{"run_1/c1"}, []string{"run_1/c1"}},
		"what fits is kept":                        {append(slices.Clone(old), said("assistant", "a2", 2000), said("user", "u2", 1000)), []string{"a2", "u2"}, []string{"a0", "a1"}, []string{"run_1/c1"}, []string{"run_1/c1"}},
		"all that is new is kept":                  {append(slices.Clone(old), said("user", "u2", 1500), said("user", "u3", 1500)), []string{"u2", "u3"}, []string{"a0", "a1"}, []string{"run_1/c1"}, []string{"run_1/c1"}},
		"much that was new before the last answer": {[]string{said("user", "u0", 3000), said("user", "u1", 3000), said("assistant", "a1", 10), said("user", "u2", 10)}, []string{"u1", "a1", "u2"}, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := shorten.Body(iotest.OneByteReader(strings.NewReader(body(c.messages...))), most)
			if err != nil || len(text) > most {
				t.Fatalf("%d bytes, %v", len(text), err)
			}
			var got decoded
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			var ids []string
			for _, m := range got.Messages {
				ids = append(ids, m.ID)
			}
			if got.ThreadID != "t" || string(got.State) != `{"a": [1]}` || !slices.Equal(ids, c.want) ||
				!slices.Equal(got.Shortened.Texts, c.texts) || !slices.Equal(got.Shortened.Calls, c.calls) || !slices.Equal(got.Shortened.Results, c.r) {
				t.Errorf("kept are %q of the thread %s, and %+v", ids, got.ThreadID, got.Shortened)
			}
		})
	}
}

// The ids of a very long history are bounded, too: those of the newest messages are kept.
func TestIDsAreBounded(t *testing.T) {
	var messages []string
	for i := range 3000 {
		messages = append(messages, said("assistant", fmt.Sprint("a", i), 100))
	}
	text, err := shorten.Body(strings.NewReader(body(messages...)), 64<<10)
	var got decoded
	if err = errors.Join(err, json.Unmarshal(text, &got)); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Shortened.Texts); n != 1000 || got.Messages[0].ID != fmt.Sprint("a", 3000-len(got.Messages)) || got.Shortened.Texts[999] != fmt.Sprint("a", 3000-len(got.Messages)-1) {
		t.Errorf("%d ids are kept, and the messages from %s", n, got.Messages[0].ID)
	}
}

func TestRefusals(t *testing.T) {
	const most = 4 << 10
	broken := errors.New("the connection broke")
	for name, c := range map[string]struct {
		body io.Reader
		want error
	}{
		"what is new is too large":         {strings.NewReader(body(said("assistant", "a", 10), said("user", "u1", 3000), said("user", "u2", 3000))), shoal.TooLarge},
		"one message is too large":         {strings.NewReader(body(said("assistant", "a", 5000), said("user", "u1", 10))), shoal.TooLarge},
		"another field is too large":       {strings.NewReader(`{"state": "` + strings.Repeat("x", 5000) + `"}`), shoal.TooLarge},
		"other fields together":            {strings.NewReader(`{"state": "` + strings.Repeat("x", 3000) + `", "tools": "` + strings.Repeat("x", 3000) + `"}`), shoal.TooLarge},
		"other fields and what is new":     {strings.NewReader(`{"state": "` + strings.Repeat("x", 3000) + `", "messages": [` + said("user", "u1", 3000) + `]}`), shoal.TooLarge},
		"no object":                        {strings.NewReader(`[1]`), shoal.InvalidJSON},
		"no list":                          {strings.NewReader(`{"messages": {}}`), shoal.InvalidJSON},
		"an end in the middle":             {strings.NewReader(`{"messages": [{"id": "u1"`), shoal.InvalidJSON},
		"something that follows":           {strings.NewReader(body() + "1"), shoal.InvalidJSON},
		"nothing":                          {strings.NewReader(""), shoal.InvalidJSON},
		"a connection that breaks":         {io.MultiReader(strings.NewReader(`{"messages": [`), iotest.ErrReader(broken)), broken},
		"a connection that breaks at once": {iotest.ErrReader(broken), broken},
	} {
		t.Run(name, func(t *testing.T) {
			if text, err := shorten.Body(c.body, most); !errors.Is(err, c.want) {
				t.Errorf("it is %s, %v", text, err)
			}
		})
	}
}
