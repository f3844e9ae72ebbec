package talk

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// WakeCommand is shoal wake.
type WakeCommand struct {
	Test wakeTestCmd `cmd:"" help:"Test whether a mention wakes an agent: post one, and measure each step until it answers. This costs one turn of its model."`
}

type wakeTestCmd struct {
	Agent   string        `arg:"" help:"The agent, with or without an @."`
	Space   shoal.SpaceID `help:"The space for the test (default: the smallest one that both are in, or a new one)." placeholder:"ID"`
	Timeout time.Duration `help:"How long to wait for the answer." default:"60s"`
	Dry     bool          `help:"Post nothing; only check whether the agent can be reached now."`
	Code    string        `help:"The word that the agent has to repeat (default: a random one)." placeholder:"WORD"`
}

var errAgentSilent = &shoal.Error{Kind: cli.KindNotAnswered, Msg: "the agent has not answered in time"}

// wakeCode are the codes that an agent is asked to repeat.
var wakeCode = regexp.MustCompile(`^[A-Za-z0-9]{4,32}$`)

// Run tests an agent.
func (c *wakeTestCmd) Run(ctx context.Context, sh *cli.Shell) error {
	if c.Code == "" {
		var random [2]byte
		_, _ = rand.Read(random[:]) // never fails
		c.Code = strings.ToUpper(hex.EncodeToString(random[:]))
	}
	if !wakeCode.MatchString(c.Code) {
		return shoal.E("", cli.KindUsage, "--code must be 4 to 32 letters and digits")
	}
	session, as, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	agent := shoal.EntityID(strings.TrimPrefix(c.Agent, "@"))
	switch e, err := session.Entity(ctx, agent); {
	case err != nil:
		return err
	case e.Kind != shoal.Agent:
		return shoal.E("", cli.KindUsage, string(agent)+" is a person; only agents are tested")
	case as == "":
		return shoal.E("", cli.KindUsage, "the test has to be posted by somebody: name yourself with --as ID")
	case as == agent:
		return shoal.E("", cli.KindUsage, fmt.Sprintf("you act as %s, which cannot mention itself", agent))
	case c.Dry:
		return printDryWake(sh.Output, e)
	}
	t := &wakeTest{out: sh.Output, session: session, WakeReport: WakeReport{AgentID: agent, Code: c.Code, Steps: []WakeStep{}}}
	if t.SpaceID, err = c.space(ctx, session, agent); err != nil {
		return err
	}
	sh.Output.Note("this costs one turn of the model of %s", agent)
	ctx, cancel := context.WithTimeoutCause(ctx, max(c.Timeout, time.Millisecond), errAgentSilent)
	defer cancel()
	err = errors.Join(t.run(ctx, as), t.record(ctx))
	if sh.Output.JSON {
		return errors.Join(sh.Output.PrintObject(t.WakeReport), err)
	}
	return err
}

// printDryWake says how an agent would be reached now. It fails for one that would not.
func printDryWake(o *cli.Output, e shoal.Entity) error {
	if e.Wake == nil {
		return shoal.E("", cli.KindNotAnswered, "the server is too old to say how a mention reaches "+string(e.ID))
	}
	reach := shoal.ReachOf(e.ID, *e.Wake)
	report := struct {
		shoal.Reach
		Proven bool `json:"proven"`
	}{Reach: reach}
	if err := o.PrintTable(report, []string{"STEP", "STATE"}, []string{"reach", reachText(reach) + " (not proven)"}); err != nil {
		return err
	}
	switch {
	case reach.KnownAt != nil:
		return shoal.E("", cli.KindNotAnswered, fmt.Sprintf("whether a mention would wake %s is not known yet: the server has just started", e.ID))
	case !reach.Missed():
		return nil
	}
	return shoal.E("", cli.KindNotAnswered, fmt.Sprintf("a mention would not wake %s now (%s)", e.ID, reach.Text))
}

// space returns the space for the test. Without --space it is the smallest open one that the
// caller and the agent are in, or a new one.
func (c *wakeTestCmd) space(ctx context.Context, session *client.Session, agent shoal.EntityID) (shoal.SpaceID, error) {
	if c.Space != "" {
		_, err := session.Member(ctx, c.Space, agent)
		if errors.Is(err, shoal.NotFound) {
			err = shoal.E("", shoal.NotFound, fmt.Sprintf("%s is not a member of %s; add it with `shoal spaces add %s %s`", agent, c.Space, c.Space, agent))
		}
		return c.Space, err
	}
	var open []shoal.Space
	for s, err := range session.Spaces(ctx) {
		if err != nil {
			return "", err
		}
		if s.Status == shoal.SpaceStatusOpen {
			open = append(open, s)
		}
	}
	slices.SortStableFunc(open, func(a, b shoal.Space) int { return cmp.Compare(a.MemberCount, b.MemberCount) })
	for _, s := range open {
		in := slices.ContainsFunc(s.Members, func(m shoal.Member) bool { return m.EntityID == agent })
		if !in && !s.Complete() {
			_, err := session.Member(ctx, s.ID, agent)
			if err != nil && !errors.Is(err, shoal.NotFound) {
				return "", err
			}
			in = err == nil
		}
		if in {
			return s.ID, nil
		}
	}
	made, err := session.CreateSpace(ctx, shoal.NewSpace{Name: "Wake tests of " + string(agent), Members: []shoal.EntityID{agent}})
	return made.ID, err
}

// WakeReport is the JSON of a test.
type WakeReport struct {
	AgentID   shoal.EntityID  `json:"agentId"`
	SpaceID   shoal.SpaceID   `json:"spaceId"`
	MessageID shoal.MessageID `json:"messageId"`
	Code      string          `json:"code"`
	Answered  bool            `json:"answered"`
	Steps     []WakeStep      `json:"steps"`
}

// WakeStep is a step of a test, with the time since the post.
type WakeStep struct {
	Step string `json:"step"`
	Ms   int64  `json:"ms"`
	Text string `json:"text"`
}

// wakeTest is a test in progress.
type wakeTest struct {
	WakeReport
	out      *cli.Output
	session  *client.Session
	posted   shoal.Message // its id is empty until it is posted
	answer   shoal.MessageID
	timeline timeline
}

// run posts the message and prints the steps until the agent has answered. It follows the
// space before it posts, so that it misses nothing.
func (t *wakeTest) run(ctx context.Context, as shoal.EntityID) error {
	t.timeline = newTimeline(t.session)
	for event, err := range t.session.Follow(ctx, client.FollowOptions{Space: t.SpaceID}) {
		if err == nil && t.posted.ID == "" {
			err = t.post(ctx, as)
		} else if err == nil {
			err = t.handle(ctx, event)
		}
		if ctx.Err() != nil && !t.Answered {
			break // also if the time was up during a call
		}
		if err != nil || t.Answered {
			return err
		}
	}
	if cause := context.Cause(ctx); !errors.Is(cause, errAgentSilent) {
		return cause
	}
	return t.silence(ctx)
}

func (t *wakeTest) post(ctx context.Context, as shoal.EntityID) (err error) {
	t.posted, err = t.session.Post(ctx, t.SpaceID, shoal.Draft{Parts: []shoal.Part{shoal.Text(shoal.WakeTestText(t.Code, as))}, Mentions: []shoal.EntityID{t.AgentID}})
	if err != nil {
		return err
	}
	t.MessageID = t.posted.ID
	t.timeline.last[t.SpaceID] = t.posted.Seq
	t.out.Note("posted as %s in %s", t.posted.ID, t.SpaceID)
	for _, r := range t.posted.Reach {
		if err := t.add("reach", t.posted.CreatedAt, reachText(r)); err != nil {
			return err
		}
	}
	return nil
}

// record stores what came of the test, also when its time is up. A test that was interrupted says
// nothing about the agent.
func (t *wakeTest) record(ctx context.Context) error {
	if t.posted.ID == "" || ctx.Err() != nil && !errors.Is(context.Cause(ctx), errAgentSilent) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReceiptsWithin)
	defer cancel()
	_, err := t.session.RecordWakeTest(ctx, t.AgentID, shoal.WakeTest{MessageID: t.posted.ID, AnsweredBy: t.answer})
	return err
}

// add records and prints a step, each one once.
func (t *wakeTest) add(name string, at shoal.Time, text string) error {
	if slices.ContainsFunc(t.Steps, func(s WakeStep) bool { return s.Step == name }) {
		return nil
	}
	s := WakeStep{name, at.Sub(t.posted.CreatedAt.Time).Milliseconds(), text}
	t.Steps = append(t.Steps, s)
	if t.out.JSON {
		return nil
	}
	return t.out.PrintText(fmt.Sprintf("%-10s %6d ms  %s", s.Step, s.Ms, s.Text))
}

// handle processes an event. Only a message of the agent with the code is an answer.
func (t *wakeTest) handle(ctx context.Context, e shoal.Event) error {
	messages, _, err := t.timeline.newMessages(ctx, e)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.EntityID != t.AgentID || !strings.Contains(m.Text(), t.Code) {
			continue
		}
		t.Answered, t.answer = true, m.ID
		receipts, err := t.session.Receipts(ctx, t.posted.ID)
		if err == nil {
			err = t.addReceipts(receipts)
		}
		return cmp.Or(err, t.add("answered", m.CreatedAt, string(m.ID)))
	}
	switch e.Type {
	case shoal.EventDeliveryUpdated, shoal.EventRunFailed, shoal.EventRunCanceled, shoal.EventRunCompleted:
		receipts, err := t.session.Receipts(ctx, t.posted.ID)
		if err != nil {
			return err
		}
		return t.addReceipts(receipts)
	case shoal.EventSpaceClosed:
		return shoal.E("", shoal.SpaceClosed, "the space was closed before an answer arrived")
	}
	return nil
}

// addReceipts adds the steps that the receipt of the agent has. It fails if the mention has
// failed.
func (t *wakeTest) addReceipts(receipts []shoal.Receipt) error {
	for _, r := range receipts {
		if r.EntityID != t.AgentID {
			continue
		}
		if r.DeliveredAt != nil {
			via := "before it was acknowledged"
			if r.Via != nil {
				via = "via " + *r.Via
			}
			if err := t.add("delivered", *r.DeliveredAt, via); err != nil {
				return err
			}
		}
		if r.ResumedAt != nil {
			if err := t.add("resumed", *r.ResumedAt, ""); err != nil {
				return err
			}
		}
		if r.State == shoal.ReceiptFailed && !t.Answered {
			return shoal.E("", cli.KindNotAnswered, fmt.Sprintf("%s: %s", t.AgentID, receiptText(r)))
		}
	}
	return nil
}

// silence returns the error of a test whose time is up: the step at which it hangs.
func (t *wakeTest) silence(ctx context.Context) error {
	where := ""
	if t.posted.ID != "" {
		receipts := lastReceipts(ctx, t.session, t.posted.ID)
		if err := t.addReceipts(receipts); err != nil {
			return err
		}
		for _, r := range receipts {
			if r.EntityID == t.AgentID {
				where = "; it is " + receiptText(r)
				if r.State == shoal.ReceiptAnswered {
					where += ", without " + t.Code
				}
			}
		}
	}
	return shoal.E("", cli.KindNotAnswered, fmt.Sprintf("%s has not answered in time%s", t.AgentID, where))
}
