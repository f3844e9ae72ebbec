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

type ApprovalsCommand struct {
	List    approvalsListCmd    `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List what waits for your answer: permissions, questions, tools that somebody else executes. Admins see what waits for anybody."`
	Approve approvalsApproveCmd `cmd:"" help:"Let an agent do what it asks for."`
	Deny    approvalsDenyCmd    `cmd:"" help:"Forbid an agent what it asks for; it learns that, and goes on."`
	Answer  approvalsAnswerCmd  `cmd:"" help:"Answer a question, or hand in the result of a tool."`

	Remembered approvalsRememberedCmd `cmd:"" help:"List what has been decided for later calls, too."`
	Forget     approvalsForgetCmd     `cmd:"" help:"Revoke remembered decisions: the next call asks again."`
}

type approvalsListCmd struct {
	Space shoal.SpaceID `help:"Only what this space shows." placeholder:"ID"`
	Of    shoal.RunID   `name:"run" help:"Only what this run waits for." placeholder:"ID"`
}

// Run lists what waits.
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
		about := chat.Subject(p)
		if sh.Output.Terminal {
			about = cli.Shorten(about, 72)
		}
		rows = append(rows, []string{
			string(p.ID), string(p.Kind), string(p.AgentID), cli.IDOrDash(p.SpaceID), about, sh.Output.FormatTime(&p.CreatedAt, "-"), sh.Output.FormatTime(p.ExpiresAt, "never"), string(p.RunID),
			triggerText(sh.Output, p),
		})
	}
	return sh.Output.PrintTable(all, []string{"ID", "KIND", "AGENT", "SPACE", "ABOUT", "SINCE", "EXPIRES", "RUN", "TRIGGER"}, rows...)
}

// triggerText is what the message said that started the run of an action.
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

// rememberFlags say what is remembered of a decision.
type rememberFlags struct {
	Remember bool          `help:"Decide later calls with the same arguments, too."`
	Scope    string        `help:"With --remember: call for the same arguments, tool for any." enum:"call,tool" default:"call"`
	For      time.Duration `help:"With --remember: for how long." placeholder:"TIME" default:"24h"`
	Equal    bool          `name:"also-equal" help:"Decide all equal calls that wait now, too."`
}

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
	ID     shoal.PendingID `arg:"" help:"What is approved, as shoal approvals shows it."`
	Reason string          `help:"Why; the agent learns it." placeholder:"TEXT"`
	Args   string          `help:"Arguments that run in place of the model's: a JSON object." placeholder:"JSON"`
	Hash   string          `help:"Refuse the answer if the arguments are not those with this argsHash." placeholder:"HASH"`
	rememberFlags
}

// Run approves.
func (c *approvalsApproveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	a := chat.Decision(true, c.Remember, c.Reason)
	c.apply(&a)
	if c.Args != "" {
		if !json.Valid([]byte(c.Args)) {
			return shoal.E("", cli.KindUsage, "--args is no JSON object")
		}
		a.Args = json.RawMessage(c.Args)
	}
	if c.Hash != "" {
		a.ArgsHash = &c.Hash
	}
	return decide(sh, ctx, c.ID, a)
}

type approvalsDenyCmd struct {
	ID     shoal.PendingID `arg:"" help:"What is denied, as shoal approvals shows it."`
	Reason string          `help:"Why; the agent learns it." placeholder:"TEXT"`
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

// decide answers a permission.
func decide(sh *cli.Shell, ctx context.Context, id shoal.PendingID, a shoal.PendingAnswer) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	return settle(sh, ctx, session, id, a)
}

// settle hands an answer in and prints what was settled.
func settle(sh *cli.Shell, ctx context.Context, session *client.Session, id shoal.PendingID, a shoal.PendingAnswer) error {
	p, err := session.AnswerPending(ctx, id, a)
	if err != nil {
		return err
	}
	if votes := chat.Votes(p); votes != "" && p.Status == shoal.PendingOpen {
		sh.Output.Note("your vote counts, %s; it stays open until %d give the same answer", votes, p.Quorum)
	}
	return sh.Output.PrintTable(p, []string{"ID", "STATUS", "BY", "RUN"}, []string{string(p.ID), string(p.Status), cli.IDOrDash(p.AnsweredBy), string(p.RunID)})
}

type approvalsAnswerCmd struct {
	ID    shoal.PendingID `arg:"" help:"What is answered, as shoal approvals shows it."`
	Text  []string        `arg:"" optional:"" help:"The answer to a question, or the result of a tool: JSON, or a text."`
	Error string          `help:"Why there is no result of a tool." placeholder:"TEXT"`
}

// Run answers a question or hands in the result of a tool, whichever it is.
func (c *approvalsAnswerCmd) Run(ctx context.Context, sh *cli.Shell) error {
	text := strings.Join(c.Text, " ")
	if (text == "") == (c.Error == "") {
		return shoal.E("", cli.KindUsage, "say the answer, or with --error why there is none")
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
		// What does not wait any more is in no list; it may have been a question.
		return settle(sh, ctx, session, c.ID, shoal.PendingAnswer{Answer: &text})
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
