package agui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

func TestDecode(t *testing.T) {
	in, err := Decode([]byte(`{"threadId":"t","runId":"r","parentRunId":"p","protocolVersion":"1.7","news":1,
		"messages":[{"id":"u","role":"user","content":"Hi","later":true}],
		"tools":[{"name":"pick","description":"Picks.","parameters":{"type":"object"}}],
		"context":[{"description":"city","value":"Kiel"}],"state":{"a":1},"forwardedProps":{"seed":1},
		"resume":[{"interruptId":"i","status":"resolved","payload":{"approved":true}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if in.Conversation != "t" || in.RunID != "r" || in.ParentRunID != "p" || string(in.State) != `{"a":1}` || in.Tools[0].Name != "pick" || in.Resume[0].InterruptID != "i" {
		t.Errorf("decoded as %+v", in)
	}
	if raw := string(in.Messages[0].raw); raw != `{"id":"u","role":"user","content":"Hi","later":true}` {
		t.Errorf("a message is kept as %s", raw)
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for sent, want := range map[string]string{
		``:                               "The body is not a JSON object; send a RunAgentInput.",
		`{"threadId":`:                   "The body is not a JSON object; send a RunAgentInput.",
		`[]`:                             "The body is not a JSON object; send a RunAgentInput.",
		`null`:                           "body.threadId is missing; body.runId is missing; body.messages is missing; send [] if there are none",
		`{"threadId":7}`:                 "body.threadId must not be number",
		`{"runId":"r","messages":[]}`:    "body.threadId is missing",
		`{"threadId":"t","messages":[]}`: "body.runId is missing",
		`{"threadId":"t","runId":"` + strings.Repeat("r", 257) + `","messages":[]}`: "body.runId has 257 bytes; at most 256 are allowed",
		body(`{"role":"user","content":"x"}`):                                       "body.messages[0].id is missing",
		body(`{"id":"a","role":"user"},{"id":"b","role":"robot"}`):                  `body.messages[1].role "robot" is unknown; user, system, developer, assistant, tool, reasoning and activity are known`,
		body(`{"id":"a","role":"tool","content":"x"}`):                              "body.messages[0].toolCallId is missing",
		body(`{"id":"a","role":"assistant","toolCalls":[{}]}`):                      "body.messages[0].toolCalls[0].id is missing",
		body(``, `"tools":[{"name":"a b"}]`):                                        "body.tools[0].name must be 1 to 64 of the characters A-Z a-z 0-9 _ -",
		body(``, `"tools":[{"name":"a"},{"name":"a"}]`):                             `body.tools[1].name "a" is there twice`,
		body(``, `"resume":[{"interruptId":"i","status":"maybe"}]`):                 "body.resume[0].status must be resolved or cancelled",
	} {
		_, err := Decode([]byte(sent))
		var told *agent.Error
		if !errors.As(err, &told) || told.Msg != want {
			t.Errorf("%s: %v; want %s", sent, err, want)
		}
	}
}

// body returns an input with messages and further fields.
func body(messages string, more ...string) string {
	return fmt.Sprintf(`{"threadId":"t","runId":"r","messages":[%s]%s}`, messages, strings.Join(append([]string{""}, more...), ","))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(body(`{"id":"a","role":"user","content":[{"type":"image","source":{"type":"data","value":"eA==","mimeType":"image/png"}}]}`)))
	f.Add([]byte(body(`{"id":"a","role":"assistant","toolCalls":[{"id":"c"}]},{"id":"b","role":"tool","toolCallId":"c","content":"x"}`)))
	f.Fuzz(func(t *testing.T, sent []byte) {
		in, err := Decode(sent)
		if err != nil {
			if in != nil || agent.KindOf(err) == agent.ErrInternal {
				t.Fatalf("%v with %v", err, in)
			}
			return
		}
		thread, err := openThread(t.Context(), agent.NewMemory(), in)
		if err != nil {
			return
		}
		if err := thread.save(t.Context()); err != nil && agent.KindOf(err) != agent.ErrInvalidArgument {
			t.Fatal(err)
		}
	})
}

func TestContent(t *testing.T) {
	for content, want := range map[string]string{
		``:       `[]`,
		`null`:   `[]`,
		`"Hi"`:   `[{"type":"text","text":"Hi"}]`,
		`""`:     `[]`,
		`[]`:     `[]`,
		`{"a":}`: `body.messages[0].content must be a string or a list of parts`,
		`7`:      `body.messages[0].content must be a string or a list of parts`,
		`[{"type":"text","text":"A"},{"type":"text","text":""},{"type":"text","text":"B"}]`: `[{"type":"text","text":"A"},{"type":"text","text":"B"}]`,
		`[{"type":"image","source":{"type":"data","value":"eA==","mimeType":"image/png"}}]`: `[{"type":"file","file":{"mediaType":"image/png","data":"eA=="}}]`,
		`[{"type":"document","metadata":{"name":"n"},"source":{"type":"url","value":"u"}}]`: `[{"type":"file","file":{"name":"n","mediaType":"","url":"u"}}]`,
		`[{"type":"image","source":{"type":"data","value":"?"}}]`:                           `body.messages[0].content[0].source.value is not base64`,
		`[{"type":"image","source":{"type":"file","value":"f"}},{"type":"new"}]`:            `[] without [messages[0].content[0] messages[0].content[1]]`,
		`[{"type":"image"}]`: `[] without [messages[0].content[0]]`,
	} {
		m := Message{Content: json.RawMessage(content)}
		parts, skipped, err := m.parts("messages[0]")
		got, _ := json.Marshal(append([]agent.Part{}, parts...))
		told := string(got)
		if len(skipped) > 0 {
			told += fmt.Sprintf(" without %v", skipped)
		}
		var wrong *agent.Error
		if errors.As(err, &wrong) {
			told = wrong.Msg
		}
		if told != want {
			t.Errorf("%s is %s; want %s", content, told, want)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ before, props, want string }{
		{`{}`, ``, `{}`},
		{`{"Seed":1}`, `"anything"`, `{"Seed":1}`},
		{
			`{"Temperature":0.1,"Seed":1}`, `{"temperature":0.5,"top_p":1,"frequency_penalty":-1,"presence_penalty":2,"seed":7,"max_tokens":100,"stop":"X","colour":"red"}`,
			`{"Temperature":0.5,"TopP":1,"FrequencyPenalty":-1,"PresencePenalty":2,"Seed":7,"MaxOutputTokens":100,"Stop":["X"]}`,
		},
		{`{"MaxOutputTokens":50}`, `{"max_tokens":100,"stop":["a","b"],"seed":null}`, `{"MaxOutputTokens":50,"Stop":["a","b"]}`},
		{
			`{}`, `{"temperature":"hot","max_tokens":0,"stop":7}`,
			`body.forwardedProps.max_tokens must be greater than zero; body.forwardedProps.stop must be a string or a list of strings; body.forwardedProps.temperature must be a number`,
		},
	} {
		var got, want agent.Settings
		if err := json.Unmarshal([]byte(c.before), &got); err != nil {
			t.Fatal(err)
		}
		err := settings(&got, json.RawMessage(c.props))
		var wrong *agent.Error
		if errors.As(err, &wrong) {
			if wrong.Msg != c.want {
				t.Errorf("%s: %s; want %s", c.props, wrong.Msg, c.want)
			}
			continue
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Errorf("%s over %s is %s; want %s", c.props, c.before, a, b)
		}
	}
}
