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
		about: "List what hosted agents wait for in your threads and you may answer: a tool that somebody outside executes (client_tool), " +
			"a permission, or a question. answer_pending_action answers one.",
		reads:  true,
		inputs: []input{cursorInput},
		output: list[shoal.PendingAction]{},
		call: func(ctx context.Context, c *call) (result, error) {
			after, err := c.place()
			if err != nil {
				return result{}, err
			}
			found, err := c.Hub.Pending.List(ctx, c.Who, c.Session, storage.PendingFilter{
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

// pendingLine tells a pending action in one line. What agents wrote is JSON text,
// so that nothing in it can look like a line of ours.
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
		about: "Answer what a hosted agent waits for: a client_tool with result or error, a permission with approved, a question with answer. " +
			"The first answer wins, unless several are needed: then yours is a vote.",
		repeats: true,
		inputs: []input{
			{name: "id", kind: textInput, required: true, about: "The id of the pending action; list_pending_actions tells it."},
			{name: "result", kind: anyInput, about: "Of a client_tool: what the tool gave, any JSON value."},
			{name: "error", kind: textInput, length: shoal.MaxContent, about: "Of a client_tool: why there is no result."},
			{name: "approved", kind: flagInput, open: true, about: "Of a permission: true or false."},
			{name: "reason", kind: textInput, length: shoal.MaxContent, about: "Of a permission: why; the agent is told."},
			{name: "args", kind: anyInput, about: "Of a permission that is approved: arguments that run in place of the model's."},
			{name: "ask", kind: textInput, length: shoal.MaxContent, about: "Of a permission, with approved false: sends the call back with this question."},
			{name: "args_hash", kind: textInput, length: shoal.MaxContent, about: "The argsHash that you have read; the answer is refused for other arguments."},
			{name: "answer", kind: textInput, length: shoal.MaxContent, about: "Of a question."},
		},
		output: shoal.PendingAction{},
		call: func(ctx context.Context, c *call) (result, error) {
			p, err := c.Hub.Pending.Answer(ctx, c.Who, c.Session, shoal.PendingID(c.text("id")), c.answer())
			return result{text: "Answered: " + pendingLine(p), structured: p}, err
		},
	}
}

// answer is what the call answers with. Null is a result where nothing else is
// given; beside another answer it is left out.
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

// optional returns a text that was given, else nil.
func (a arguments) optional(name string) *string {
	if !a.given(name) {
		return nil
	}
	text := a.text(name)
	return &text
}
