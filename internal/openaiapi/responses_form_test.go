package openaiapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// shown writes what a client sees as a line for each event.
func shown(t *testing.T, events []any) string {
	t.Helper()
	var lines []string
	for n, any := range events {
		e := any.(event)
		if e.Sequence != n {
			t.Errorf("event %d has the number %d", n, e.Sequence)
		}
		line := strings.TrimPrefix(e.EventName(), "response.")
		if e.OutputIndex != nil {
			line += " " + string(rune('0'+*e.OutputIndex))
		}
		for _, text := range []*string{e.Delta, e.Text, e.Arguments} {
			if text != nil {
				line += " " + *text
			}
		}
		if e.Item != nil {
			line += " " + e.Item.Type
		}
		if e.Response != nil && e.Response.Status != inProgress {
			line += " " + outputOf(t, *e.Response)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// outputOf writes the output of a response.
func outputOf(t *testing.T, r response) string {
	t.Helper()
	var out []string
	for _, i := range r.Output {
		switch i.Type {
		case kindMessage:
			out = append(out, (*i.Content)[0].(map[string]any)["text"].(string))
		case kindReasoning:
			out = append(out, "("+(*i.Summary)[0].(map[string]any)["text"].(string)+")")
		default:
			out = append(out, i.Name+*i.Arguments)
		}
	}
	return strings.Join(out, "|")
}

// The events of a stream, and the output at its end.
func TestResponsesForm(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*projection)
		want string
	}{
		"one text": {func(p *projection) {
			delta(p, "a", 0, "Hel")
			delta(p, "a", 3, "lo")
			p.EndText(shoal.TextData{PartHead: head("a"), Text: "Hello"})
		}, `created
in_progress
output_item.added 0 message
content_part.added 0
output_text.delta 0 Hel
output_text.delta 0 lo
output_text.done 0 Hello
content_part.done 0
output_item.done 0 message
completed Hello`},
		"reasoning, then two texts at once": {func(p *projection) {
			p.Delta(shoal.EventReasoningDelta, shoal.DeltaData{PartHead: head("r"), Delta: "Hm"}, "run_1")
			delta(p, "a", 0, "One")
			delta(p, "b", 0, "Two")
			delta(p, "a", 3, "!")
		}, `created
in_progress
output_item.added 0 reasoning
reasoning_summary_part.added 0
reasoning_summary_text.delta 0 Hm
reasoning_summary_text.done 0 Hm
reasoning_summary_part.done 0
output_item.done 0 reasoning
output_item.added 1 message
content_part.added 1
output_text.delta 1 One
output_item.added 2 message
content_part.added 2
output_text.delta 2 Two
output_text.delta 1 !
output_text.done 1 One!
content_part.done 1
output_item.done 1 message
output_text.done 2 Two
content_part.done 2
output_item.done 2 message
completed (Hm)|One!|Two`},
		"a text that is written again in other words": {func(p *projection) {
			delta(p, "a", 0, "Hello")
			p.Reset(shoal.PartResetData{PartHead: head("a")}, false)
			delta(p, "a", 0, "Good day")
		}, `created
in_progress
output_item.added 0 message
content_part.added 0
output_text.delta 0 Hello
output_text.done 0 Hello
content_part.done 0
output_item.done 0 message
output_item.added 1 message
content_part.added 1
output_text.delta 1 Good day
output_text.done 1 Good day
content_part.done 1
output_item.done 1 message
completed Good day`},
		"a text that is removed": {func(p *projection) {
			delta(p, "a", 0, "Hello")
			p.Reset(shoal.PartResetData{PartHead: head("a")}, true)
		}, `created
in_progress
output_item.added 0 message
content_part.added 0
output_text.delta 0 Hello
output_text.done 0 Hello
content_part.done 0
output_item.done 0 message
completed `},
		"a call of the client's tool": {func(p *projection) {
			p.waits([]shoal.PendingAction{{Kind: shoal.PendingClientTool, ToolName: "weather", RunID: "run_1", ToolCallID: "c1", Args: json.RawMessage(`{"city":"Kiel"}`)}})
		}, `created
in_progress
output_item.added 0 function_call
function_call_arguments.delta 0 {"city":"Kiel"}
function_call_arguments.done 0 {"city":"Kiel"}
output_item.done 0 function_call
completed weather{"city":"Kiel"}`},
		"what somebody else has to answer": {func(p *projection) {
			for range 2 { // it is named once
				p.waits([]shoal.PendingAction{{ID: "p1", Kind: shoal.PendingPermission, ToolName: "pay"}})
			}
			delta(p, "a", 0, "Paid")
		}, `created
in_progress
output_item.added 0 reasoning
reasoning_summary_part.added 0
reasoning_summary_text.delta 0 Waiting for somebody to answer pay: in the console of Shoal, or with ` + "`shoal approvals`" + `.

reasoning_summary_text.done 0 Waiting for somebody to answer pay: in the console of Shoal, or with ` + "`shoal approvals`" + `.

reasoning_summary_part.done 0
output_item.done 0 reasoning
output_item.added 1 message
content_part.added 1
output_text.delta 1 Paid
output_text.done 1 Paid
content_part.done 1
output_item.done 1 message
completed (Waiting for somebody to answer pay: in the console of Shoal, or with ` + "`shoal approvals`" + `.
)|Paid`},
		"nothing": {func(*projection) {}, "created\nin_progress\ncompleted "},
	} {
		t.Run(name, func(t *testing.T) {
			f := newResponsesForm(response{ID: "run_1", Status: inProgress})
			p := &projection{
				form: f, mine: func(id shoal.RunID) bool { return id == "run_1" }, tools: []string{"weather"}, said: map[shoal.PartID]bool{}, parts: map[shoal.PartID]*part{}, named: map[shoal.PendingID]bool{},
			}
			c.play(p)
			f.finish(p.order, "stop", shoal.Usage{})
			if got := shown(t, f.take()); got != c.want {
				t.Errorf("the events are\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
