package agui

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

func TestTextIsOneMessage(t *testing.T) {
	events := story(said("m", false, slices.Concat(text("m", "Hel", "", "lo"), text("m", " you"))...), done())
	same(t, project(t, nil, events...), begin+`
TEXT_MESSAGE_START messageId="m"
TEXT_MESSAGE_CONTENT messageId="m" delta="Hel"
TEXT_MESSAGE_CONTENT messageId="m" delta="lo"
TEXT_MESSAGE_END messageId="m"
TEXT_MESSAGE_START messageId="m"
TEXT_MESSAGE_CONTENT messageId="m" delta=" you"
TEXT_MESSAGE_END messageId="m"
`[1:]+success)
}

func TestReasoningIsASeparateMessage(t *testing.T) {
	events := story(said("m", false, slices.Concat(thought("m", "m.p0", "hmm"), thought("m", "m.p1"), text("m", "Yes."))...), done())
	same(t, project(t, nil, events...), begin+`
REASONING_START messageId="m.p0"
REASONING_MESSAGE_START messageId="m.p0"
REASONING_MESSAGE_CONTENT messageId="m.p0" delta="hmm"
REASONING_MESSAGE_END messageId="m.p0"
REASONING_END messageId="m.p0"
REASONING_START messageId="m.p1"
REASONING_END messageId="m.p1"
TEXT_MESSAGE_START messageId="m"
TEXT_MESSAGE_CONTENT messageId="m" delta="Yes."
TEXT_MESSAGE_END messageId="m"
`[1:]+success)
}

func TestToolsWithResults(t *testing.T) {
	events := story(
		said("m", false, slices.Concat(text("m", "Let me see."), called("m", "c1", "look", `{"a":`, `1}`), called("m", "c2", "draw"))...),
		agent.ToolStarted{Call: agent.ToolCall{ID: "c1", Name: "look"}},
		agent.ToolProgress{CallID: "c1", Message: "half", Percent: 50},
		agent.ToolProgress{CallID: "c1", Message: "on", Percent: -1},
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c1", Status: agent.ResultOK, Text: "seen"}},
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c2", Status: agent.ResultFailed, Files: []agent.File{
			{Name: "a.png", MediaType: "image/png", Data: []byte("x")}, {MediaType: "text/plain", URL: "https://example.com/t"},
		}}},
		done(),
	)
	same(t, project(t, nil, events...), begin+`
TEXT_MESSAGE_START messageId="m"
TEXT_MESSAGE_CONTENT messageId="m" delta="Let me see."
TEXT_MESSAGE_END messageId="m"
TOOL_CALL_START toolCallId="c1" toolCallName="look" parentMessageId="m"
TOOL_CALL_ARGS toolCallId="c1" delta="{\"a\":"
TOOL_CALL_ARGS toolCallId="c1" delta="1}"
TOOL_CALL_END toolCallId="c1"
TOOL_CALL_START toolCallId="c2" toolCallName="draw" parentMessageId="m"
TOOL_CALL_END toolCallId="c2"
CUSTOM name="tool_started" value={"toolCallId":"c1","toolCallName":"look"}
CUSTOM name="tool_progress" value={"message":"half","percent":50,"toolCallId":"c1"}
CUSTOM name="tool_progress" value={"message":"on","toolCallId":"c1"}
TOOL_CALL_RESULT messageId="c1.result" toolCallId="c1" content="seen"
TOOL_CALL_RESULT messageId="c2.result" toolCallId="c2" content=[{"metadata":{"name":"a.png"},"source":{"mimeType":"image/png","type":"data","value":"eA=="},"type":"image"},{"source":{"mimeType":"text/plain","type":"url","value":"https://example.com/t"},"type":"document"}] metadata={"status":"failed"}
`[1:]+success)
}

func TestArgumentsInOneChunk(t *testing.T) {
	events := story(said("m", false,
		agent.ToolCallStarted{MessageID: "m", CallID: "c", Name: "look"},
		agent.ToolArgsDelta{CallID: "c", Text: `{"a"`},
		agent.ToolCallEnded{Call: agent.ToolCall{ID: "c", Name: "look", Arguments: `{"a":1}`}}),
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Status: agent.ResultOK}}, done())
	got := strings.Join(project(t, nil, events...), "\n")
	if !strings.Contains(got, `TOOL_CALL_ARGS toolCallId="c" delta=":1}"`) {
		t.Errorf("the rest of the arguments is missing:\n%s", got)
	}
	if !strings.Contains(got, `TOOL_CALL_RESULT messageId="c.result" toolCallId="c" content=""`) {
		t.Errorf("an empty result must be there all the same:\n%s", got)
	}
}

func TestRetryResetsShownText(t *testing.T) {
	thread := []Message{{ID: "u", Role: "user", raw: json.RawMessage(`{"id":"u","role":"user","content":"Hi","name":"Ann"}`)}, {ID: "v", Role: "user", Content: json.RawMessage(`"You"`)}, {ID: "a", Role: "activity"}}
	events := story(
		said("m1", true, slices.Concat(thought("m1", "m1.p0", "hm"), thought("m1", "m1.p1", "ha"), text("m1", "Hel"), called("m1", "c", "look", "{"))...),
		agent.ModelRetrying{Attempt: 2, Delay: time.Second, Err: errors.New("a secret")},
		said("m2", true), // failed at once
		agent.ModelRetrying{Attempt: 3},
		said("m3", false, slices.Concat(thought("m3", "m3.p0", "hm"), text("m3", "Hello"))...),
		done(),
	)
	same(t, project(t, thread, events...), begin+`
REASONING_START messageId="m1.p0"
REASONING_MESSAGE_START messageId="m1.p0"
REASONING_MESSAGE_CONTENT messageId="m1.p0" delta="hm"
REASONING_MESSAGE_END messageId="m1.p0"
REASONING_END messageId="m1.p0"
REASONING_START messageId="m1.p1"
REASONING_MESSAGE_START messageId="m1.p1"
REASONING_MESSAGE_CONTENT messageId="m1.p1" delta="ha"
REASONING_MESSAGE_END messageId="m1.p1"
REASONING_END messageId="m1.p1"
TEXT_MESSAGE_START messageId="m1"
TEXT_MESSAGE_CONTENT messageId="m1" delta="Hel"
TEXT_MESSAGE_END messageId="m1"
TOOL_CALL_START toolCallId="c" toolCallName="look" parentMessageId="m1"
TOOL_CALL_ARGS toolCallId="c" delta="{"
TOOL_CALL_END toolCallId="c"
TOOL_CALL_RESULT messageId="c.result" toolCallId="c" content="" metadata={"status":"withdrawn"}
MESSAGES_SNAPSHOT messages=[{"content":"Hi","id":"u","name":"Ann","role":"user"},{"content":"You","id":"v","role":"user"},{"content":"","id":"m1.p0","role":"reasoning"}]
CUSTOM name="model_retrying" value={"attempt":2,"delayMs":1000}
CUSTOM name="model_retrying" value={"attempt":3,"delayMs":0}
REASONING_START messageId="m3.p0"
REASONING_MESSAGE_START messageId="m1.p0"
REASONING_MESSAGE_CONTENT messageId="m1.p0" delta="hm"
REASONING_MESSAGE_END messageId="m1.p0"
REASONING_END messageId="m3.p0"
TEXT_MESSAGE_START messageId="m3"
TEXT_MESSAGE_CONTENT messageId="m3" delta="Hello"
TEXT_MESSAGE_END messageId="m3"
`[1:]+success)
}

func TestSnapshotKeepsEarlierMessages(t *testing.T) {
	events := story(
		said("m1", false, slices.Concat(thought("m1", "m1.p0", "hm"), text("m1", "A"), called("m1", "c1", "look", "{}"), called("m1", "c2", "look", "{}"))...),
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c1", Status: agent.ResultOK, Text: "one"}},
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c2", Status: agent.ResultFailed, Text: "two"}},
		agent.StepFinished{}, agent.StepStarted{Step: 1},
		said("m2", true, slices.Concat(thought("m2", "m2.p0", "dead"), text("m2", "dead"))...),
		said("m3", false, text("m3", "B")...),
		agent.StepFinished{Step: 1}, agent.TurnFinished{Outcome: agent.Completed, Reason: agent.ReasonDone},
	)
	got := strings.Join(project(t, nil, events...), "\n")
	want := `MESSAGES_SNAPSHOT messages=[{"content":"hm","id":"m1.p0","role":"reasoning"},` +
		`{"content":"A","id":"m1","role":"assistant","toolCalls":[` +
		`{"function":{"arguments":"{}","name":"look"},"id":"c1","type":"function"},{"function":{"arguments":"{}","name":"look"},"id":"c2","type":"function"}]},` +
		`{"content":"one","id":"c1.result","role":"tool","toolCallId":"c1"},` +
		`{"content":"two","id":"c2.result","metadata":{"status":"failed"},"role":"tool","toolCallId":"c2"}]`
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwithout\n%s", got, want)
	}
}

func TestHowRunsEnd(t *testing.T) {
	permission := agent.Pending{
		ID: "q1", Kind: agent.Permission, Call: agent.ToolCall{ID: "c", Name: "pay", Arguments: "{}"}, Description: "Pays.",
		ExpiresAt: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC),
	}
	external := agent.Pending{ID: "q2", Kind: agent.ClientCall, Call: agent.ToolCall{ID: "c", Name: "pay"}}
	for _, c := range []struct {
		name string
		end  agent.TurnFinished
		want string
	}{
		{"length", agent.TurnFinished{Outcome: agent.Completed, Reason: agent.ReasonLength}, `RUN_FINISHED threadId="t" runId="r" metadata={"reason":"length"} outcome={"pendingToolCallIds":["c"],"type":"success"}`},
		{"failed", agent.TurnFinished{Outcome: agent.Failed, Reason: agent.ReasonUnavailable, Message: "Try later.", Err: errors.New("a secret")}, `RUN_ERROR message="Try later." code="provider_unavailable"`},
		{"failed without words", agent.TurnFinished{Outcome: agent.Failed, Reason: agent.ReasonInternal}, `RUN_ERROR message="The run failed." code="internal"`},
		{"canceled", agent.TurnFinished{Outcome: agent.Canceled, Reason: agent.ReasonCanceled}, `RUN_FINISHED threadId="t" runId="r" outcome={"type":"cancelled"}`},
		{"client's tool", agent.TurnFinished{Outcome: agent.Waiting, Pending: []agent.Pending{external}}, `RUN_FINISHED threadId="t" runId="r" outcome={"pendingToolCallIds":["c"],"type":"success"}`},
		{
			"permission",
			agent.TurnFinished{Outcome: agent.Waiting, Pending: []agent.Pending{permission, external}},
			`RUN_FINISHED threadId="t" runId="r" outcome={"interrupts":[{"expiresAt":"2026-11-20T20:00:00.000Z","id":"q1","message":"May the tool pay run?",` +
				`"metadata":{"arguments":"{}","description":"Pays.","toolCallName":"pay"},"reason":"tool_call","responseSchema":` + sorted(permissionSchema) + `,"toolCallId":"c"}],"type":"interrupt"}`,
		},
		{
			"question",
			agent.TurnFinished{Outcome: agent.Waiting, Pending: []agent.Pending{{ID: "q", Kind: agent.Clarification, Call: agent.ToolCall{ID: "c"}, Question: "Which?", Options: []string{"a", "b"}}}},
			`RUN_FINISHED threadId="t" runId="r" outcome={"interrupts":[{"id":"q","message":"Which?","metadata":{"options":["a","b"]},"reason":"input_required","responseSchema":` + sorted(answerSchema) + `,"toolCallId":"c"}],"type":"interrupt"}`,
		},
		{
			"continuation",
			agent.TurnFinished{Outcome: agent.Waiting, Pending: []agent.Pending{{ID: "q", Kind: agent.Continuation, Step: 9, MaxSteps: 10}}},
			`RUN_FINISHED threadId="t" runId="r" outcome={"interrupts":[{"id":"q","message":"The agent has used its steps. May it go on?","metadata":{"maxSteps":10,"step":9},"reason":"confirmation","responseSchema":` + sorted(continuationSchema) + `}],"type":"interrupt"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The turn ends in the middle of things.
			events := story(said("m", false, called("m", "c", "pay", "{}")...), agent.MessageStarted{MessageID: "m2"},
				agent.ReasoningStarted{MessageID: "m2", PartID: "m2.p0"}, agent.ReasoningDelta{PartID: "m2.p0", Text: "hm"}, c.end,
				agent.Warning{Source: "late"}, agent.TurnFinished{Outcome: agent.Completed})
			got := project(t, nil, events...)
			if last := got[len(got)-1]; last != c.want {
				t.Errorf("the run ends with\n%s\nnot\n%s", last, c.want)
			}
		})
	}
}

// sorted returns a JSON object in the form that lines uses.
func sorted(object json.RawMessage) string {
	var v any
	_ = json.Unmarshal(object, &v) // it is a constant of this package
	text, _ := json.Marshal(v)
	return string(text)
}

func TestKnownResultsAreNotSentAgain(t *testing.T) {
	thread := []Message{
		{ID: "m", Role: "assistant", ToolCalls: []MessageCall{{ID: "c1"}, {ID: "c2"}}},
		{ID: "x", Role: "tool", ToolCallID: "c1"},
	}
	events := story(
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c1", Status: agent.ResultOK, Text: "green"}},
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c2", Status: agent.ResultOK, Text: "blue"}},
		agent.StepFinished{}, agent.TurnFinished{Outcome: agent.Completed, Reason: agent.ReasonDone})
	same(t, project(t, thread, events...), begin+`
TOOL_CALL_RESULT messageId="c2.result" toolCallId="c2" content="blue"
STEP_FINISHED stepName="step-0"
RUN_FINISHED threadId="t" runId="r" outcome={"type":"success"}`[1:])
}

func TestCustomEvents(t *testing.T) {
	pending := agent.Pending{ID: "q", Kind: agent.Continuation, Step: 1, MaxSteps: 2}
	answered := pending
	answered.Answer = &agent.Answer{Approved: true}
	via := pending
	via.Via = "c"
	got := project(t, nil,
		agent.Warning{Source: "context/memory", Err: errors.New("a secret")},
		agent.Reduced{Strategy: agent.ReduceCount, Before: 30, After: 20, Usage: agent.Usage{InputTokens: 1}},
		agent.Transferred{Step: 1, From: "desk", To: "billing"},
		agent.Cited{MessageID: "m", PartID: "p", Citation: agent.Citation{URL: "https://example.com", Title: "T", Quote: "q", End: 3}},
		agent.OutputPartial{MessageID: "m", Value: json.RawMessage(`{"a":1}`)},
		agent.RequestOpened{Pending: pending},
		agent.RequestOpened{Pending: via},
		agent.RequestOpened{Pending: agent.Pending{ID: "x", Kind: agent.ClientCall}},
		agent.RequestAnswered{Pending: answered},
		agent.TurnFinished{Outcome: agent.Completed, Reason: agent.ReasonDone},
	)
	same(t, got, `RUN_STARTED threadId="t" runId="r"
CUSTOM name="warning" value={"source":"context/memory"}
CUSTOM name="reduced" value={"after":20,"before":30,"strategy":"count"}
CUSTOM name="transferred" value={"from":"desk","to":"billing"}
CUSTOM name="cited" value={"messageId":"m","quote":"q","title":"T","url":"https://example.com"}
CUSTOM name="output_partial" value={"messageId":"m","value":{"a":1}}
CUSTOM name="requested" value={"id":"q","message":"The agent has used its steps. May it go on?","metadata":{"maxSteps":2,"step":1},"reason":"confirmation","responseSchema":`+sorted(continuationSchema)+`}
CUSTOM name="answered" value={"approved":true,"id":"q"}
RUN_FINISHED threadId="t" runId="r" outcome={"type":"success"} usage=[{"inputTokens":1,"totalTokens":1}]`)
}
