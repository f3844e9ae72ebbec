package agui

import (
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// nested are events of a sub-agent that works for the call c.
func nested(turn string, chain []string, events ...agent.Event) []agent.Event {
	out := []agent.Event{agent.Nested{CallID: "c", TurnID: turn, Chain: chain, Event: agent.TurnStarted{TurnID: turn}}}
	for _, e := range events {
		out = append(out, agent.Nested{CallID: "c", TurnID: turn, Chain: chain, Event: e})
	}
	return out
}

func TestSubAgentMessagesHaveTheirName(t *testing.T) {
	inner := slices.Concat(said("s", false, slices.Concat(text("s", "Seen."), called("s", "c", "look", "{}"))...), []agent.Event{
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Status: agent.ResultOK, Text: "it"}},
		agent.TurnFinished{Outcome: agent.Completed, Reason: agent.ReasonDone},
	})
	events := story(said("m", false, called("m", "c", "scout", "{}")...),
		nested("sub", []string{"agent", "scout"}, inner...),
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Status: agent.ResultOK, Text: "Seen."}}, done())
	same(t, project(t, nil, events...), begin+`
TOOL_CALL_START toolCallId="c" toolCallName="scout" parentMessageId="m"
TOOL_CALL_ARGS toolCallId="c" delta="{}"
TOOL_CALL_END toolCallId="c"
SUBAGENT_STARTED subagentRunId="sub" parentMessageId="m" parentToolCallId="c" name="scout"
TEXT_MESSAGE_START subagentRunId="sub" messageId="s"
TEXT_MESSAGE_CONTENT subagentRunId="sub" messageId="s" delta="Seen."
TEXT_MESSAGE_END subagentRunId="sub" messageId="s"
TOOL_CALL_START subagentRunId="sub" toolCallId="sub/c" toolCallName="look" parentMessageId="s"
TOOL_CALL_ARGS subagentRunId="sub" toolCallId="sub/c" delta="{}"
TOOL_CALL_END subagentRunId="sub" toolCallId="sub/c"
TOOL_CALL_RESULT subagentRunId="sub" messageId="sub/c.result" toolCallId="sub/c" content="it"
SUBAGENT_FINISHED subagentRunId="sub" outcome={"type":"success"}
TOOL_CALL_RESULT messageId="c.result" toolCallId="c" content="Seen."
`[1:]+success)
}

func TestSubAgentsOfSubAgents(t *testing.T) {
	waits := agent.Pending{ID: "q", Kind: agent.Permission, Call: agent.ToolCall{ID: "x", Name: "pay"}}
	bubbled := waits
	bubbled.Via = "c"
	end := agent.TurnFinished{Outcome: agent.Waiting, Pending: []agent.Pending{waits}}
	deep := nested("sub2", []string{"agent", "scout", "spy"}, end)
	deep[0] = agent.Nested{CallID: "c", TurnID: "sub2", Chain: []string{"agent", "scout", "spy"}, Event: agent.StepStarted{}}
	events := story(said("m", false, called("m", "c", "scout")...),
		nested("sub", []string{"agent", "scout"}), deep,
		nested("sub", []string{"agent", "scout"}, agent.TurnFinished{Outcome: agent.Waiting, Pending: []agent.Pending{bubbled}}),
		agent.TurnFinished{Outcome: agent.Waiting, Pending: []agent.Pending{bubbled}})
	got := strings.Join(project(t, nil, events...), "\n")
	for _, want := range []string{
		`SUBAGENT_STARTED subagentRunId="sub2" parentSubagentRunId="sub" name="spy"`,
		`STEP_FINISHED subagentRunId="sub2" stepName="step-0"` + "\n" + `SUBAGENT_FINISHED subagentRunId="sub2" outcome={"interruptIds":["q"],"type":"suspended"}`,
		`SUBAGENT_FINISHED subagentRunId="sub" outcome={"type":"suspended"}`,
		`"subagentRunId":"sub2","toolCallId":"sub2/x"}],"type":"interrupt"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwithout\n%s", got, want)
		}
	}
}

func TestStuckSubAgents(t *testing.T) {
	events := story(said("m", false, called("m", "c", "scout")...),
		nested("b", []string{"agent", "scout"}, agent.StepStarted{}, agent.MessageStarted{MessageID: "s"}, agent.TextDelta{Text: "I"}),
		nested("a", []string{"agent", "scout"}, agent.TurnFinished{Outcome: agent.Failed, Reason: agent.ReasonTimeout, Message: "Too slow."}),
		nested("a", []string{"agent", "scout"}, agent.TextDelta{Text: "late"}),
		agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Status: agent.ResultTimedOut}}, done())
	got := project(t, nil, events...)
	want := `SUBAGENT_ERROR subagentRunId="a" message="Too slow." code="timeout"
TOOL_CALL_RESULT messageId="c.result" toolCallId="c" content="" metadata={"status":"timed_out"}
STEP_FINISHED stepName="step-0"
TEXT_MESSAGE_END subagentRunId="b" messageId="s"
STEP_FINISHED subagentRunId="b" stepName="step-0"
SUBAGENT_ERROR subagentRunId="b" message="The run ended before the sub-agent did."`
	if told := strings.Join(got, "\n"); !strings.Contains(told, want) {
		t.Errorf("got\n%s\nwithout\n%s", told, want)
	}
}
