package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/cli"
)

// ApprovalsCommand is shoal approvals.
type ApprovalsCommand struct {
	List    approvalsListCmd    `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List what is waiting for your answer: permissions, questions, and tools that are executed outside the server. Admins see everything that is waiting."`
	Approve approvalsApproveCmd `cmd:"" help:"Allow what an agent asks for."`
	Deny    approvalsDenyCmd    `cmd:"" help:"Deny what an agent asks for. The agent learns that and continues."`
	Answer  approvalsAnswerCmd  `cmd:"" help:"Answer a question or provide the result of a tool."`

	Remembered approvalsRememberedCmd `cmd:"" help:"List remembered decisions, which also answer later calls."`
	Forget     approvalsForgetCmd     `cmd:"" help:"Delete remembered decisions, so that the next call asks again."`
}

type approvalsListCmd struct {
	Space shoal.SpaceID `help:"Only actions of this space." placeholder:"ID"`
	Of    shoal.RunID   `name:"run" help:"Only actions of this run." placeholder:"ID"`
}

// Run lists the pending actions.
func (c *approvalsListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.PendingActions(ctx, client.PendingOptions{Space: c.Space, Run: c.Of}))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range all.Items {
		rows = append(rows, pendingRow(sh.Output, p))
	}
	return cli.PrintList[shoal.PendingID](sh, all, []string{"ID", "KIND", "ABOUT", "AGENT", "SPACE", "TRIGGER", "SINCE", "EXPIRES"}, rows...)
}

// pendingRow returns the row of an action. A person gets what a decision needs, and a program
// the columns id, kind, agent, space, about, since, expires, run and trigger.
func pendingRow(o *cli.Output, p shoal.PendingAction) []string {
	since, until := o.FormatTime(&p.CreatedAt, "-"), o.FormatTime(p.ExpiresAt, "never")
	space, about, trigger := cli.IDOrDash(p.SpaceID), chat.Subject(p), triggerText(o, p)
	if o.Terminal && !o.Quiet {
		return []string{string(p.ID), string(p.Kind), cli.Shorten(about, 72), string(p.AgentID), space, trigger, since, until}
	}
	return []string{string(p.ID), string(p.Kind), string(p.AgentID), space, about, since, until, string(p.RunID), trigger}
}

// triggerText returns the text of the message that started the run of an action, or a dash.
func triggerText(o *cli.Output, p shoal.PendingAction) string {
	if p.TriggerText == nil {
		return "-"
	}
	text := *p.TriggerText
	if o.Terminal {
		text = cli.Shorten(text, 48)
	}
	if p.TriggerEditedAt != nil {
		text += " [edited since]"
	}
	return text
}

// rememberFlags are the flags that make a decision answer other calls as well.
type rememberFlags struct {
	Remember bool          `help:"Remember the decision for later calls with the same arguments."`
	Scope    string        `help:"With --remember: call for calls with the same arguments, tool for all calls of the tool." enum:"call,tool" default:"call"`
	For      time.Duration `help:"With --remember: how long the decision is remembered." placeholder:"TIME" default:"24h"`
	Equal    bool          `name:"also-equal" help:"Apply the decision to all equal calls that are waiting now."`
}

// apply sets what the flags ask for. The answer keeps the defaults of the server where a flag
// has its default.
func (f rememberFlags) apply(a *shoal.PendingAnswer) {
	a.AlsoEqual = f.Equal
	if a.Remember == nil {
		return
	}
	if f.Scope == shoal.RememberTool {
		a.Remember.Scope = f.Scope
	}
	if f.For != shoal.RememberFor {
		a.Remember.ForMs = f.For.Milliseconds()
	}
}

type approvalsApproveCmd struct {
	ID     shoal.PendingID `arg:"" help:"The id, as shoal approvals lists it."`
	Reason string          `help:"The reason; the agent sees it." placeholder:"TEXT"`
	Args   string          `help:"Arguments that replace those of the model: a JSON object." placeholder:"JSON"`
	Hash   string          `help:"Fail if the arguments do not have this argsHash." placeholder:"HASH"`
	rememberFlags
}

// Run approves.
func (c *approvalsApproveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	a := chat.Decision(true, c.Remember, c.Reason)
	c.apply(&a)
	if c.Args != "" {
		if !json.Valid([]byte(c.Args)) {
			return shoal.E("", cli.KindUsage, "--args is not a JSON object")
		}
		a.Args = json.RawMessage(c.Args)
	}
	if c.Hash != "" {
		a.ArgsHash = &c.Hash
	}
	return decide(sh, ctx, c.ID, a)
}

type approvalsDenyCmd struct {
	ID     shoal.PendingID `arg:"" help:"The id, as shoal approvals lists it."`
	Reason string          `help:"The reason; the agent sees it." placeholder:"TEXT"`
	Ask    string          `help:"Send the call back with this question; it is not executed." placeholder:"TEXT"`
	rememberFlags
}

// Run denies.
func (c *approvalsDenyCmd) Run(ctx context.Context, sh *cli.Shell) error {
	a := chat.Decision(false, c.Remember, c.Reason)
	c.apply(&a)
	if c.Ask != "" {
		a.Ask = &c.Ask
	}
	return decide(sh, ctx, c.ID, a)
}

// decide answers a permission and prints the result.
func decide(sh *cli.Shell, ctx context.Context, id shoal.PendingID, a shoal.PendingAnswer) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	return settle(sh, ctx, session, id, a)
}

// settle answers a pending action and prints the result.
func settle(sh *cli.Shell, ctx context.Context, session *client.Session, id shoal.PendingID, a shoal.PendingAnswer) error {
	p, err := session.AnswerPending(ctx, id, a)
	if err != nil {
		return err
	}
	if votes := chat.Votes(p); votes != "" && p.Status == shoal.PendingOpen {
		sh.Output.Note("your vote counts, %s; the action stays open until %d voters give the same answer", votes, p.Quorum)
	}
	return sh.Output.PrintTable(p, []string{"ID", "STATUS", "BY", "RUN"}, []string{string(p.ID), string(p.Status), cli.IDOrDash(p.AnsweredBy), string(p.RunID)})
}

type approvalsAnswerCmd struct {
	ID    shoal.PendingID `arg:"" help:"The id, as shoal approvals lists it."`
	Text  []string        `arg:"" optional:"" help:"The answer to a question, or the result of a tool: JSON or text."`
	Error string          `help:"Report this error instead of the result of a tool." placeholder:"TEXT"`
}

// Run answers a question or provides the result of a tool.
func (c *approvalsAnswerCmd) Run(ctx context.Context, sh *cli.Shell) error {
	text := strings.Join(c.Text, " ")
	if (text == "") == (c.Error == "") {
		return shoal.E("", cli.KindUsage, "pass an answer, or report a problem with --error TEXT")
	}
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	if c.Error != "" {
		return settle(sh, ctx, session, c.ID, shoal.PendingAnswer{Error: &c.Error})
	}
	kind, err := kindOfPending(ctx, session, c.ID)
	if err != nil {
		return err
	}
	if kind == shoal.PendingPermission {
		return shoal.E("", cli.KindUsage, fmt.Sprintf("%s is a permission: `shoal approvals approve %s` or `shoal approvals deny %s`", c.ID, c.ID, c.ID))
	}
	answer, err := chat.TextAnswer(kind, text)
	if err != nil {
		return err
	}
	err = settle(sh, ctx, session, c.ID, answer)
	if kind == "" && errors.Is(err, shoal.InvalidArgument) {
		// The list has no settled actions, so this one may have been a question.
		return settle(sh, ctx, session, c.ID, shoal.PendingAnswer{Answer: &text})
	}
	return err
}

// kindOfPending returns the kind of a pending action. It is empty for a settled one.
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
