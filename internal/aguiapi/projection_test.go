package aguiapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
)

// viewOf returns the projection of a run whose client has these messages.
func viewOf(t *testing.T, messages string) *projection {
	t.Helper()
	body := []byte(`{"threadId":"t","runId":"r","messages":` + messages + `}`)
	in, err := agui.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProjection(in, body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// brief writes events one in a line.
func brief(events []agui.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(string(e.Type))
		for _, word := range []string{e.MessageID, e.ToolCallID, e.ToolCallName} {
			if word != "" {
				b.WriteString(" " + word)
			}
		}
		if e.ParentMessageID != "" {
			b.WriteString(" in " + e.ParentMessageID)
		}
		if e.Delta != "" {
			fmt.Fprintf(&b, " %q", e.Delta)
		}
		if e.Content != nil {
			fmt.Fprintf(&b, " %q", e.Content)
		}
		if e.Message != "" {
			fmt.Fprintf(&b, " %s: %s", e.Code, e.Message)
		}
		for _, m := range e.Messages {
			b.WriteString("\n  " + string(m))
		}
		if o := e.Outcome; o != nil {
			fmt.Fprintf(&b, " %s%s", o.Type, strings.Repeat(" "+strings.Join(o.PendingToolCallIDs, " "), min(1, len(o.PendingToolCallIDs))))
			for _, i := range o.Interrupts {
				fmt.Fprintf(&b, " %s %q", i.Reason, i.Message)
			}
		}
		if len(e.Metadata) > 0 {
			fmt.Fprintf(&b, " %v", e.Metadata)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func expect(t *testing.T, p *projection, want string) {
	t.Helper()
	if d := cmp.Diff(strings.TrimLeft(want, "\n"), brief(p.take())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func at(part string) shoal.PartHead {
	return shoal.PartHead{MessageID: "m", PartID: shoal.PartID(part)}
}

// Deltas come once, whatever they overlap with, and the end brings what is missing.
func TestText(t *testing.T) {
	p := viewOf(t, `[]`)
	x := p.text(at("a"))
	p.grow(x, 0, "One ")
	p.grow(x, 0, "One two ")
	p.grow(x, 2, "e ")
	p.finish(x, "One two three")
	p.grow(x, 13, "!")
	p.finish(x, "One two three")
	p.finish(p.text(at("empty")), "")
	expect(t, p, `
TEXT_MESSAGE_START a
TEXT_MESSAGE_CONTENT a "One "
TEXT_MESSAGE_CONTENT a "two "
TEXT_MESSAGE_CONTENT a "three"
TEXT_MESSAGE_END a
`)
}

// Calls belong to the text before them in the same message.
func TestCalls(t *testing.T) {
	p := viewOf(t, `[]`)
	p.finish(p.call(at("a"), "run", "c1", "early"), `{}`)
	p.finish(p.text(at("b")), "Look:")
	x := p.call(at("c"), "run", "c2", "card")
	p.start(x)
	p.grow(x, 0, `{"n":`)
	p.finish(x, `{"n":1}`)
	p.answered(x, json.RawMessage(`"chosen"`), "", shoal.PartDone)
	p.answered(x, json.RawMessage(`"again"`), "", shoal.PartDone)
	p.finish(p.call(shoal.PartHead{MessageID: "other", PartID: "d"}, "run", "c3", "card"), `{}`)
	p.answered(p.call(shoal.PartHead{MessageID: "other", PartID: "d"}, "run", "c3", "card"), nil, "Not today.", shoal.PartDenied)
	expect(t, p, `
TOOL_CALL_START run/c1 early in m
TOOL_CALL_ARGS run/c1 "{}"
TOOL_CALL_END run/c1
TEXT_MESSAGE_START b
TEXT_MESSAGE_CONTENT b "Look:"
TEXT_MESSAGE_END b
TOOL_CALL_START run/c2 card in b
TOOL_CALL_ARGS run/c2 "{\"n\":"
TOOL_CALL_ARGS run/c2 "1}"
TOOL_CALL_END run/c2
TOOL_CALL_RESULT run/c2.result run/c2 "chosen"
TOOL_CALL_START run/c3 card in other
TOOL_CALL_ARGS run/c3 "{}"
TOOL_CALL_END run/c3
TOOL_CALL_RESULT run/c3.result run/c3 "Not today." map[status:denied]
`)
}

// A client that was cut off gets the rest of what it has, and nothing again.
func TestWhatTheClientHas(t *testing.T) {
	p := viewOf(t, `[
		{"id":"a","role":"assistant","content":"One two","toolCalls":[{"id":"run/c1","type":"function","function":{"name":"card","arguments":"{}"}}]},
		{"id":"x","role":"tool","toolCallId":"run/c1","content":"yes"},
		{"id":"b","role":"assistant","content":"Three"}]`)
	p.message(shoal.Message{ID: "m", Parts: []shoal.Part{
		{ID: "a", Type: shoal.TextPart, Text: "One two", Status: shoal.PartDone},
		{ID: "p", Type: shoal.ToolPart, ToolCallID: "c1", ToolName: "card", Args: json.RawMessage(`{}`), Result: json.RawMessage(`"yes"`), Status: shoal.PartDone},
		{ID: "s", Type: shoal.ToolPart, Private: true},
		{ID: "b", Type: shoal.TextPart, Text: "Three four", Status: shoal.PartStreaming},
	}}, "run")
	expect(t, p, `
TEXT_MESSAGE_START b
TEXT_MESSAGE_CONTENT b " four"
`)
}

// What a model call showed before it was made again disappears.
func TestTakenBack(t *testing.T) {
	p := viewOf(t, `[{"id":"u","role":"user","content":"Hi","name":"Ann"},{"id":"y","role":"activity","activityType":"a","content":{}}]`)
	x := p.text(at("a"))
	p.grow(x, 0, "One two")
	p.reset("a", 4)
	p.grow(x, 4, "three")
	c := p.call(at("b"), "run", "c1", "card")
	p.grow(c, 0, `{"n"`)
	p.remove("b")
	p.remove("never shown")
	p.finish(x, "One three")
	expect(t, p, `
TEXT_MESSAGE_START a
TEXT_MESSAGE_CONTENT a "One two"
TEXT_MESSAGE_END a
MESSAGES_SNAPSHOT
  {"content":"Hi","id":"u","name":"Ann","role":"user"}
  {"id":"a","role":"assistant","content":"One "}
TEXT_MESSAGE_START a
TEXT_MESSAGE_CONTENT a "three"
TOOL_CALL_START run/c1 card in a
TOOL_CALL_ARGS run/c1 "{\"n\""
TOOL_CALL_END run/c1
TOOL_CALL_RESULT run/c1.result run/c1 "" map[status:withdrawn]
TEXT_MESSAGE_END a
MESSAGES_SNAPSHOT
  {"content":"Hi","id":"u","name":"Ann","role":"user"}
  {"id":"a","role":"assistant","content":"One three"}
`)
}

// A client that has something else than what is stored is set right.
func TestAnotherPast(t *testing.T) {
	p := viewOf(t, `[{"id":"a","role":"assistant","content":"Two"}]`)
	p.finish(p.text(at("a")), "One")
	expect(t, p, `
MESSAGES_SNAPSHOT
  {"content":"One","id":"a","role":"assistant"}
`)
}

func TestThoughts(t *testing.T) {
	p := viewOf(t, `[]`)
	x := p.text(at("a"))
	x.thought = true
	p.grow(x, 0, "Hm.")
	p.closeAll()
	expect(t, p, `
REASONING_START a
REASONING_MESSAGE_START a
REASONING_MESSAGE_CONTENT a "Hm."
REASONING_MESSAGE_END a
REASONING_END a
`)
}

// A deleted message is not in the history that a client gets: it would be an empty one.
func TestHistoryLeavesOutDeletedMessages(t *testing.T) {
	at := shoal.Now()
	run := shoal.RunID("run_1")
	message := func(id shoal.MessageID, text string, deleted *shoal.Time) shoal.Message {
		m := shoal.Message{ID: id, EntityID: "ann", Status: shoal.MessageCompleted, DeletedAt: deleted}
		if text != "" {
			m.Parts = []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: text, Status: shoal.PartDone}}
		}
		return m
	}
	composed := message("msg_3", "", &at)
	composed.RunID = &run
	history := timeline(shoal.SnapshotData{
		Members:  []shoal.Member{{EntityID: "ann", Kind: shoal.Human}},
		Messages: []shoal.Message{message("msg_1", "", &at), message("msg_2", "hello", nil), composed},
	})
	if len(history) != 1 || !strings.Contains(string(history[0]), "msg_2") {
		t.Errorf("the history is %s", history)
	}
}
