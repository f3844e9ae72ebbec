package remoterun

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/perform"
)

// cards returns how the cards of a configuration appear in spaces.
func cards(c *agentconfig.Config) (out []compose.Tool, err error) {
	for _, t := range c.Tools {
		shown := compose.Tool{Name: t.Name, Display: true, Targeted: t.Targeted}
		if t.Display != nil {
			if shown.Rendering, err = json.Marshal(t.Display); err != nil {
				return nil, err
			}
		}
		out = append(out, shown)
	}
	return out, nil
}

// checkMention refuses a line that mentions an entity which is not in the space of the line.
func (x *running) checkMention(ctx context.Context, e entry) error {
	if e.Line == nil || e.Line.Mention == "" {
		return nil
	}
	l := e.Line
	if o := x.machine.open; o != nil && o.mention == l.Mention {
		return nil
	}
	space := cmp.Or(l.SpaceID, x.run.Space)
	return x.s.o.Hub.Work.Read(ctx, func(tx storage.Tx) error {
		is, err := tx.IsMember(x.run.SessionID, space, l.Mention)
		if err == nil && !is {
			err = lineError(l.N, "mentions %q, who is not a member of the space %q", l.Mention, space)
		}
		return err
	})
}

// askSpaces answers the questions of the composer about spaces. A space in which the agent may
// not write is an error of the line that names it.
func (x *running) askSpaces(ctx context.Context, effects []compose.Effect, e entry) (out []standing, err error) {
	for _, effect := range effects {
		ask, is := effect.(compose.AskSpace)
		if !is {
			continue
		}
		a := standing{Space: ask.Space, Target: ask.Target}
		err := x.s.o.Hub.Work.Read(ctx, func(tx storage.Tx) (err error) {
			a.Is, err = perform.Standing(tx, &x.run, x.output.Access, ask.Space, ask.Target)
			return err
		})
		if err != nil {
			return nil, err
		}
		if l := cmp.Or(e.Line, e.Call); a.Is != compose.Member && l != nil {
			return nil, lineError(l.N, "%s", refused[a.Is](x.run.AgentID, ask))
		}
		out = append(out, a)
	}
	return out, nil
}

// refused are the errors about spaces in which an agent may not write.
var refused = map[compose.Membership]func(agent shoal.EntityID, ask compose.AskSpace) string{
	compose.NotMember: func(agent shoal.EntityID, ask compose.AskSpace) string {
		return fmt.Sprintf("writes into the space %q, which %q is not in or may not write to", ask.Space, agent)
	},
	compose.SpaceClosed: func(_ shoal.EntityID, ask compose.AskSpace) string {
		return fmt.Sprintf("writes into the space %q, which is closed", ask.Space)
	},
	compose.NoTarget: func(_ shoal.EntityID, ask compose.AskSpace) string {
		return fmt.Sprintf("shows something to %q, who is not in the space %q", ask.Target, ask.Space)
	},
}

// pendingKinds are the public kinds of requests.
var pendingKinds = map[agent.PendingKind]shoal.PendingKind{
	agent.ClientCall: shoal.PendingClientTool, agent.Permission: shoal.PendingPermission, agent.Clarification: shoal.PendingQuestion,
}

// anyObject is the schema of edited arguments: only the program knows more.
var anyObject = json.RawMessage(`{"type":"object"}`)

// openPending stores a request that people see.
func (x *running) openPending(p *perform.Attempt, c *runs.RunChange, e compose.ShowPending) error {
	k := x.machine.calls[e.Pending.Call.ID]
	row := storage.Pending{
		PendingAction: shoal.PendingAction{
			Kind: pendingKinds[e.Pending.Kind], RunID: x.run.ID, AgentID: x.run.AgentID, ToolCallID: k.CallID, ToolName: k.Tool, Args: k.Args,
			Status: shoal.PendingOpen, SpaceID: perform.OrNil(e.Space),
		},
		Session: x.run.SessionID, Request: e.Pending.ID, Requester: x.run.Requester, Policy: storage.Policy{Quorum: 1},
	}
	if e.Place != nil && !p.IsUnopened(e.Place.Message) {
		row.MessageID, row.PartID, row.Target = &e.Place.Message, &e.Place.Part, e.Place.Target
	}
	expires := x.config.Remote.ExpiresInMs
	switch e.Pending.Kind {
	case agent.Clarification:
		asked := strings.ReplaceAll(e.Pending.Question, "\x00", "\uFFFD")
		row.Question, row.Options = &asked, e.Pending.Options
	case agent.Permission:
		row.Policy.Targeted = e.Space != "" && e.Space == k.space
		if !k.fixed {
			row.Policy.ArgsSchema = anyObject
		}
	}
	if i := slices.IndexFunc(x.config.Tools, func(t agentconfig.Tool) bool { return t.Name == k.Tool }); i >= 0 {
		t := x.config.Tools[i]
		row.Policy.By, row.Policy.Quorum, row.Policy.NotRequester = t.Answer.By, t.Answer.Quorum, t.Answer.NotRequester
		if e.Pending.Kind == agent.ClientCall {
			row.ResultSchema = t.OutputSchema
			if field, ok := agentconfig.ChoiceField(t.OutputSchema); ok && t.Answer.Choose == shoal.ChooseOne {
				row.Policy.Choose = &storage.Choice{Field: field}
			}
		}
		expires = cmp.Or(t.ExpiresInMs, expires)
	}
	if expires > 0 {
		at := shoal.At(e.Pending.RequestedAt.Add(time.Duration(expires) * time.Millisecond))
		row.ExpiresAt, row.Due = &at, &at
	}
	_, err := c.OpenPending(row)
	return err
}

// sync gives the machine what has happened since: answers, requests that have expired, and
// spaces in which the agent may not write any more.
func (x *running) sync(ctx context.Context) error {
	var in []entry
	err := x.s.o.Hub.Work.Read(ctx, func(tx storage.Tx) error {
		in = nil
		rows, err := tx.PendingOf(x.run.SessionID, x.run.ID)
		if err != nil {
			return err
		}
		for _, row := range rows {
			k := x.machine.calls[row.ToolCallID]
			if k == nil || !k.asked || row.Status == shoal.PendingOpen {
				continue
			}
			in = append(in, entry{Answer: &answered{CallID: k.CallID, Kind: lineTypes[row.Kind], Order: orderOf(row)}})
		}
		for _, m := range x.output.Messages {
			if m.Status != shoal.MessageStreaming {
				continue
			}
			is, err := perform.Standing(tx, &x.run, x.output.Access, m.SpaceID, "")
			if err != nil {
				return err
			}
			if is != compose.Member {
				in = append(in, entry{Space: &standing{Space: m.SpaceID, Is: is}})
			}
		}
		return nil
	})
	if err != nil || len(in) == 0 {
		return err
	}
	return x.input(ctx, in, x.n)
}

// lineTypes are the lines that ask requests, by their kinds.
var lineTypes = map[shoal.PendingKind]shoal.WorkType{
	shoal.PendingPermission: shoal.WorkPermission, shoal.PendingQuestion: shoal.WorkQuestion, shoal.PendingClientTool: shoal.WorkCard,
}

// orderOf returns a settled request as the program gets it.
func orderOf(row storage.Pending) shoal.Order {
	out := shoal.Order{Type: shoal.OrderAnswer, CallID: row.ToolCallID, ArgsHash: row.Hash}
	if row.AnsweredBy != nil {
		out.By = *row.AnsweredBy
	}
	a := row.Answer
	if a == nil {
		a = &shoal.PendingAnswer{}
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	unanswered := row.Status != shoal.PendingAnswered
	if row.Kind == shoal.PendingPermission {
		yes := !unanswered && a.Approved != nil && *a.Approved
		out.Approved, out.Reason = &yes, text(a.Reason)
		if unanswered {
			out.Reason = cmp.Or(out.Reason, "Nobody answered in time.")
		}
		if a.Ask != nil {
			out.Reason = "Has not decided and asks: " + *a.Ask
		}
		if yes && len(a.Args) > 0 {
			out.EditedArgs, out.ArgsHash = a.Args, approval.ArgsHash(row.ToolName, a.Args)
		}
		return out
	}
	out.Text, out.Result, out.Error = text(a.Answer), a.Result, text(a.Error)
	if unanswered {
		out.Error = cmp.Or(out.Error, "Nobody answered in time.")
	}
	return out
}
