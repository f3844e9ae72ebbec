package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

type approvalsCmd struct {
	List    approvalsListCmd    `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List what waits for your answer: permissions, questions, tools that somebody else executes. Admins see what waits for anybody."`
	Approve approvalsApproveCmd `cmd:"" help:"Let an agent do what it asks for."`
	Deny    approvalsDenyCmd    `cmd:"" help:"Forbid an agent what it asks for; it learns that, and goes on."`
	Answer  approvalsAnswerCmd  `cmd:"" help:"Answer a question, or hand in the result of a tool."`
}

type approvalsListCmd struct {
	Space shoal.SpaceID `help:"Only what this space shows." placeholder:"ID"`
	Of    shoal.RunID   `name:"run" help:"Only what this run waits for." placeholder:"ID"`
}

// Run lists what waits.
func (c *approvalsListCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	all, err := collect(session.PendingActions(ctx, client.PendingOptions{Space: c.Space, Run: c.Of}))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range all.Items {
		about := subject(p)
		if sh.output.terminal {
			about = short(about, 72)
		}
		rows = append(rows, []string{
			string(p.ID), string(p.Kind), string(p.AgentID), idOr(p.SpaceID), about, p.CreatedAt.String(), timeOr(p.ExpiresAt, "never"), string(p.RunID),
		})
	}
	return sh.output.table(all, []string{"ID", "KIND", "AGENT", "SPACE", "ABOUT", "SINCE", "EXPIRES", "RUN"}, rows...)
}

// subject says what a pending action is about.
func subject(p shoal.PendingAction) string {
	about := strings.TrimSpace(p.ToolName + " " + string(p.Args))
	if p.Question != nil && *p.Question != "" {
		about = *p.Question
	}
	if len(p.Options) > 0 {
		about += " [" + strings.Join(p.Options, " | ") + "]"
	}
	return about
}

// asking tells what somebody is asked for, and how to answer.
func asking(p shoal.PendingAction) string {
	switch p.Kind {
	case shoal.PendingPermission:
		return fmt.Sprintf("%s asks for permission: %s; `shoal approvals approve %s` or deny", p.AgentID, subject(p), p.ID)
	case shoal.PendingQuestion:
		return fmt.Sprintf("%s asks: %s; `shoal approvals answer %s TEXT`", p.AgentID, subject(p), p.ID)
	}
	return fmt.Sprintf("%s waits for the result of %s; `shoal approvals answer %s JSON`", p.AgentID, subject(p), p.ID)
}

// settled tells how a pending action ended.
func settled(p shoal.PendingAction) string {
	if p.AnsweredBy != nil {
		return fmt.Sprintf("%s is %s by %s", p.ID, p.Status, *p.AnsweredBy)
	}
	return fmt.Sprintf("%s is %s", p.ID, p.Status)
}

type approvalsApproveCmd struct {
	ID       shoal.PendingID `arg:"" help:"What is approved, as shoal approvals shows it."`
	Remember bool            `help:"Say yes to later calls of this tool by this agent in this conversation, too."`
	Reason   string          `help:"Why; the agent learns it." placeholder:"TEXT"`
}

// Run approves.
func (c *approvalsApproveCmd) Run(ctx context.Context, sh *shell) error {
	return sh.decide(ctx, c.ID, true, c.Remember, c.Reason)
}

type approvalsDenyCmd struct {
	ID       shoal.PendingID `arg:"" help:"What is denied, as shoal approvals shows it."`
	Remember bool            `help:"Say no to later calls of this tool by this agent in this conversation, too."`
	Reason   string          `help:"Why; the agent learns it." placeholder:"TEXT"`
}

// Run denies.
func (c *approvalsDenyCmd) Run(ctx context.Context, sh *shell) error {
	return sh.decide(ctx, c.ID, false, c.Remember, c.Reason)
}

// decide answers a permission.
func (sh *shell) decide(ctx context.Context, id shoal.PendingID, yes, remember bool, reason string) error {
	a := shoal.PendingAnswer{Approved: &yes}
	if reason != "" {
		a.Reason = &reason
	}
	if remember {
		choice := map[bool]string{true: "allow", false: "deny"}[yes]
		a.Remember = &choice
	}
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	return sh.settle(ctx, session, id, a)
}

// settle hands an answer in and prints what was settled.
func (sh *shell) settle(ctx context.Context, session *client.Session, id shoal.PendingID, a shoal.PendingAnswer) error {
	p, err := session.AnswerPending(ctx, id, a)
	if err != nil {
		return err
	}
	return sh.output.table(p, []string{"ID", "STATUS", "BY", "RUN"}, []string{string(p.ID), string(p.Status), idOr(p.AnsweredBy), string(p.RunID)})
}

type approvalsAnswerCmd struct {
	ID    shoal.PendingID `arg:"" help:"What is answered, as shoal approvals shows it."`
	Text  []string        `arg:"" optional:"" help:"The answer to a question, or the result of a tool: JSON, or a text."`
	Error string          `help:"Why there is no result of a tool." placeholder:"TEXT"`
}

// Run answers a question or hands in the result of a tool, whichever it is.
func (c *approvalsAnswerCmd) Run(ctx context.Context, sh *shell) error {
	text := strings.Join(c.Text, " ")
	if (text == "") == (c.Error == "") {
		return shoal.E("", kindUsage, "say the answer, or with --error why there is none")
	}
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	if c.Error != "" {
		return sh.settle(ctx, session, c.ID, shoal.PendingAnswer{Error: &c.Error})
	}
	kind, err := kindOfPending(ctx, session, c.ID)
	if err != nil {
		return err
	}
	switch kind {
	case shoal.PendingPermission:
		return shoal.E("", kindUsage, fmt.Sprintf("%s is a permission: `shoal approvals approve %s` or `shoal approvals deny %s`", c.ID, c.ID, c.ID))
	case shoal.PendingQuestion:
		return sh.settle(ctx, session, c.ID, shoal.PendingAnswer{Answer: &text})
	}
	result, err := toolResult(text)
	if err != nil {
		return err
	}
	err = sh.settle(ctx, session, c.ID, shoal.PendingAnswer{Result: result})
	if kind == "" && errors.Is(err, shoal.InvalidArgument) {
		// What does not wait any more is in no list; it may have been a question.
		return sh.settle(ctx, session, c.ID, shoal.PendingAnswer{Answer: &text})
	}
	return err
}

// kindOfPending looks up what is asked for; it is empty for what does not wait.
func kindOfPending(ctx context.Context, session *client.Session, id shoal.PendingID) (shoal.PendingKind, error) {
	for p, err := range session.PendingActions(ctx, client.PendingOptions{}) {
		if err != nil {
			return "", err
		}
		if p.ID == id {
			return p.Kind, nil
		}
	}
	return "", nil
}

// toolResult returns text as JSON: as it is if it is JSON, else as a string,
// unless it looks like JSON with a mistake in it.
func toolResult(text string) (json.RawMessage, error) {
	switch {
	case json.Valid([]byte(text)):
		return json.RawMessage(text), nil
	case strings.ContainsAny(text[:1], `{["`):
		return nil, shoal.E("", kindUsage, "the result begins like JSON and is none")
	}
	b, err := json.Marshal(text)
	return b, err
}
