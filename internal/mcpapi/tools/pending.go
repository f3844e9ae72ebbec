package tools

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/mcpapi/rawjson"
)

func listPendingActions() *tool {
	return &tool{
		name: "list_pending_actions",
		about: "List the requests of hosted agents in your threads that you may answer: a tool call that a client executes (client_tool), " +
			"a permission, or a question. answer_pending_action answers one.",
		reads:  true,
		inputs: []input{cursorInput},
		output: list[shoal.PendingAction]{},
		call: func(ctx context.Context, c *call) (result, error) {
			after, err := c.place()
			if err != nil {
				return result{}, err
			}
			found, err := c.Hub.Pending.List(ctx, c.Principal, c.Session, storage.PendingFilter{
				Status: []shoal.PendingStatus{shoal.PendingOpen}, After: shoal.PendingID(after), Limit: shoal.MaxPage + 1,
			})
			if err != nil {
				return result{}, err
			}
			page := pageOf(found, func(p shoal.PendingAction) string { return string(p.ID) })
			lines := make([]string, len(page.Items))
			for i, p := range page.Items {
				lines[i] = pendingLine(p)
			}
			return result{text: listText(lines, "Nothing waits for you.", page.NextCursor), structured: page}, nil
		},
	}
}

// pendingLine describes a pending action in one line. Texts of agents are quoted as JSON,
// so they cannot imitate lines of the result.
func pendingLine(p shoal.PendingAction) string {
	var b strings.Builder
	b.WriteString("ID: " + string(p.ID) + ", Kind: " + string(p.Kind) + ", Status: " + string(p.Status) + ", Agent: " + string(p.AgentID))
	if p.SpaceID != nil {
		b.WriteString(", Thread: " + string(*p.SpaceID))
	}
	if p.ToolName != "" {
		b.WriteString(", Tool: " + p.ToolName + ", Args: " + string(p.Args))
	}
	if p.Question != nil {
		b.WriteString(", Question: " + quotedText(*p.Question))
	}
	if p.Quorum > 1 {
		b.WriteString(", Votes: " + strconv.Itoa(len(p.Votes)) + " of " + strconv.Itoa(p.Quorum))
		for i, v := range p.Votes {
			b.WriteString(map[bool]string{true: ": ", false: " "}[i == 0] + string(v.EntityID))
		}
	}
	for i, o := range p.Options {
		b.WriteString(map[bool]string{true: ", Options: ", false: " | "}[i == 0] + quotedText(o))
	}
	if p.ResultSchema != nil && string(p.ResultSchema) != "null" {
		b.WriteString(", Result schema: " + string(p.ResultSchema))
	}
	if p.TriggerText != nil {
		b.WriteString(", Trigger: " + quotedText(*p.TriggerText))
		if p.TriggerEditedAt != nil {
			b.WriteString(" (edited since, at " + p.TriggerEditedAt.String() + ")")
		}
	}
	return b.String()
}

// quotedText writes a text as JSON, on one line.
func quotedText(s string) string {
	text, _ := rawjson.Marshal(new(bytes.Buffer), s) // a string can always be marshalled
	return string(text)
}

func answerPendingAction() *tool {
	return &tool{
		name: "answer_pending_action",
		about: "Answer a request of a hosted agent: a client_tool with result or error, a permission with approved, a question with answer. " +
			"The first answer wins, unless several are required: then yours counts as a vote.",
		repeats: true,
		inputs: []input{
			{name: "id", kind: textInput, required: true, about: "The id of the pending action; list_pending_actions returns it."},
			{name: "result", kind: anyInput, about: "For a client_tool: the tool's result, any JSON value."},
			{name: "error", kind: textInput, length: shoal.MaxContent, about: "For a client_tool: why there is no result."},
			{name: "approved", kind: flagInput, open: true, about: "For a permission: true approves, false denies."},
			{name: "reason", kind: textInput, length: shoal.MaxContent, about: "For a permission: your reason; the agent sees it."},
			{name: "args", kind: anyInput, about: "For an approved permission: arguments that replace the model's."},
			{name: "ask", kind: textInput, length: shoal.MaxContent, about: "For a permission with approved false: returns the call to the agent with this question."},
			{name: "args_hash", kind: textInput, length: shoal.MaxContent, about: "The argsHash that you have read; if the arguments have changed, the answer is rejected."},
			{name: "answer", kind: textInput, length: shoal.MaxContent, about: "For a question: your answer."},
		},
		output: shoal.PendingAction{},
		call: func(ctx context.Context, c *call) (result, error) {
			p, err := c.Hub.Pending.Answer(ctx, c.Principal, c.Session, shoal.PendingID(c.text("id")), c.answer())
			return result{text: "Answered: " + pendingLine(p), structured: p}, err
		},
	}
}

// answer returns the answer in the arguments. A null result counts only if the arguments
// contain no other answer.
func (c *call) answer() shoal.PendingAnswer {
	a := shoal.PendingAnswer{
		Error: c.optional("error"), Reason: c.optional("reason"), Answer: c.optional("answer"), Ask: c.optional("ask"), ArgsHash: c.optional("args_hash"),
	}
	if c.given("approved") {
		approved := c.flag("approved")
		a.Approved = &approved
	}
	if raw := c.of("args").raw; !rawjson.IsNull(raw) {
		a.Args = raw
	}
	if raw := c.of("result").raw; !rawjson.IsNull(raw) || a.Error == nil && a.Approved == nil && a.Answer == nil {
		a.Result = raw
	}
	return a
}

// optional returns a text argument, nil if it is missing.
func (a arguments) optional(name string) *string {
	if !a.given(name) {
		return nil
	}
	text := a.text(name)
	return &text
}
