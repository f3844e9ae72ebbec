package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/perform"
	"github.com/shoal-dev/shoal/internal/spacetool"
	"github.com/shoal-dev/shoal/internal/tool"
)

// kinds are the public kinds of requests.
var kinds = map[agent.PendingKind]shoal.PendingKind{
	agent.ClientCall: shoal.PendingClientTool, agent.Permission: shoal.PendingPermission,
	agent.Clarification: shoal.PendingQuestion, agent.Continuation: shoal.PendingPermission,
}

// openPending stores a request that people see. A request that a resumed turn emits again
// keeps its row.
func (x *execution) openPending(p *perform.Attempt, change *runs.RunChange, e compose.ShowPending) error {
	request := e.Pending
	row := x.pendingRow(request, kinds[request.Kind])
	row.SpaceID = perform.OrNil(e.Space)
	if e.Place != nil && !p.IsUnopened(e.Place.Message) {
		row.MessageID, row.PartID, row.Target = &e.Place.Message, &e.Place.Part, e.Place.Target
	}
	switch request.Kind {
	case agent.Clarification:
		// A model may write any character, and PostgreSQL does not store this one.
		asked := strings.ReplaceAll(request.Question, "\x00", "\uFFFD")
		row.Question, row.Options = &asked, request.Options
	case agent.Continuation:
		asked := fmt.Sprintf("%s has used its %d steps. May it take %d more?", x.config.Agent.Name, request.MaxSteps, x.config.Loop.Continuation)
		row.Question = &asked
	}
	if t := x.toolOf(request); t != nil {
		c := t.Config()
		row.Policy = storage.Policy{By: c.Answer.By, Quorum: c.Answer.Quorum, NotRequester: c.Answer.NotRequester}
		route, _, err := t.Strip(request.Call.Arguments)
		row.Policy.Targeted = err == nil && route.TargetSpaceID != "" && route.TargetSpaceID == e.Space
		if request.Kind == agent.ClientCall {
			row.ResultSchema = c.OutputSchema
			if field, ok := agentconfig.ChoiceField(c.OutputSchema); ok && c.Answer.Choose == shoal.ChooseOne {
				row.Policy.Choose = &storage.Choice{Field: field}
			}
		}
		if c.ExpiresInMs > 0 {
			at := shoal.At(request.RequestedAt.Add(time.Duration(c.ExpiresInMs) * time.Millisecond))
			row.ExpiresAt, row.Due = &at, &at
		}
	}
	if request.Kind == agent.Permission {
		row.Policy.ArgsSchema = x.argsSchema(request)
		if request.Agent != x.agentName() {
			row.Policy.ToolOf = shoal.EntityID(request.Agent)
		}
	}
	_, err := change.OpenPending(row)
	return err
}

// anyObject is the schema of a tool without a schema.
var anyObject = json.RawMessage(`{"type":"object"}`)

// argsSchema returns the schema for edited arguments of a call, without the fields that state
// where the call is shown.
func (x *execution) argsSchema(p agent.Pending) json.RawMessage {
	if t := x.toolOf(p); t != nil {
		if schema := t.Config().InputSchema; len(schema) > 0 {
			return schema
		}
		return anyObject
	}
	schema, found := x.servers.Schema(p.Agent, p.Call.Name)
	if found && len(schema) == 0 {
		return anyObject
	}
	return schema
}

// pendingRow returns the fields that all rows of requests have.
func (x *execution) pendingRow(p agent.Pending, kind shoal.PendingKind) storage.Pending {
	args := x.publicArgs(p.Agent, p.Call)
	return storage.Pending{
		PendingAction: shoal.PendingAction{
			Kind: kind, RunID: x.run.ID, AgentID: x.run.AgentID, ToolCallID: p.Call.ID, ToolName: p.Call.Name, Args: args, Status: shoal.PendingOpen,
		},
		Session: x.run.SessionID, Request: p.ID, Requester: x.run.Requester,
		Policy: storage.Policy{Quorum: 1},
	}
}

// toolOf returns the configured tool that a request is about, nil for another.
func (x *execution) toolOf(p agent.Pending) *tool.Tool { return x.findTool(p.Agent, p.Call.Name) }

// ownRequest handles requests that nobody outside answers: messages, which Options.Answer
// sends, and timers.
func (x *execution) ownRequest(p agent.Pending) (bool, error) {
	if p.Kind != agent.ClientCall {
		return false, nil
	}
	if p.Via == "" && p.Call.Name == spacetool.SendTool {
		return true, nil
	}
	t := x.toolOf(p)
	if t == nil || t.Kind() != tool.Clock {
		return false, nil
	}
	wait, err := t.Wait(p.Call.Arguments)
	if err != nil { // it was checked before; not waiting is the safe choice
		x.log.Warn("the arguments of a wait cannot be decoded", "tool", p.Call.Name, "error", err)
	}
	row := x.pendingRow(p, storage.PendingTimer)
	due := shoal.At(p.RequestedAt.Add(wait.Duration))
	row.Due = &due
	return true, x.write(x.ctx, func(c *runs.RunChange) error {
		_, err := c.OpenPending(row)
		return err
	})
}

// withAnswers adds the answers that the hub has to an open turn. The rows of the hub are
// authoritative.
func (x *execution) withAnswers(open *agent.OpenTurn) *agent.OpenTurn {
	if open == nil || len(open.Steps) == 0 || len(x.rows) == 0 {
		return open
	}
	last := len(open.Steps) - 1
	pending := slices.Clone(open.Steps[last].Pending)
	for i := range pending {
		if p := &pending[i]; p.Answer == nil {
			p.Answer = x.answerOf(*p)
		}
	}
	out := *open
	out.Steps = slices.Clone(open.Steps)
	out.Steps[last].Pending = pending
	return &out
}

// answerOf returns the answer to a request that has one.
func (x *execution) answerOf(p agent.Pending) *agent.Answer {
	at := slices.IndexFunc(x.rows, func(r storage.Pending) bool { return r.Request == p.ID })
	if at < 0 {
		return nil
	}
	row := x.rows[at]
	if row.Status != shoal.PendingAnswered && row.Status != shoal.PendingExpired {
		return nil
	}
	a := agent.Answer{PendingID: p.ID}
	if row.AnsweredBy != nil {
		a.By = string(*row.AnsweredBy)
	}
	switch {
	case row.Kind == storage.PendingTimer:
		a.Text = x.waitResult(p, row)
	case row.Kind == storage.PendingReply:
		a.Text = x.replyResult(p, row)
	case row.Status == shoal.PendingExpired || row.Answer == nil:
		why := "Nobody answered in time."
		if row.Answer != nil { // the hub stored the reason
			why = cmp.Or(orEmpty(row.Answer.Reason), orEmpty(row.Answer.Error), why)
		}
		a.Reason, a.Text, a.Failed = why, "Error: "+why, true
	default:
		x.translateAnswer(&a, p, *row.Answer)
	}
	return &a
}

// translateAnswer converts an answer of the API.
func (x *execution) translateAnswer(a *agent.Answer, p agent.Pending, in shoal.PendingAnswer) {
	switch p.Kind {
	case agent.ClientCall:
		if in.Error != nil {
			a.Text, a.Failed = *in.Error, true
			return
		}
		a.Text = string(in.Result)
		if t := x.toolOf(p); t != nil {
			if err := t.CheckResult(a.Text); err != nil {
				a.Text, a.Failed = fmt.Sprintf("Error: %s was executed, but its result does not fit the outputSchema: %v", p.Call.Name, err), true
			}
		}
	case agent.Clarification:
		a.Text = orEmpty(in.Answer)
	default:
		a.Approved, a.Reason = in.Approved != nil && *in.Approved, orEmpty(in.Reason)
		a.Ask = orEmpty(in.Ask)
		if p.Kind == agent.Permission && a.Approved && len(in.Args) > 0 {
			a.Arguments = x.approvedArguments(p, in.Args)
		}
	}
}

// approvedArguments returns the arguments that replace the model's: the approved ones, with
// the fields that state where the call is shown.
func (x *execution) approvedArguments(p agent.Pending, args json.RawMessage) string {
	var written, public, out map[string]json.RawMessage
	if json.Unmarshal(args, &out) != nil || out == nil { // the hub has checked it
		return string(args)
	}
	if t := x.toolOf(p); t != nil {
		_, stripped, err := t.Strip(p.Call.Arguments)
		if err == nil && json.Unmarshal([]byte(p.Call.Arguments), &written) == nil && json.Unmarshal([]byte(stripped), &public) == nil {
			for name, value := range written {
				if _, is := public[name]; !is {
					out[name] = value
				}
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil { // what was decoded can be encoded
		return string(args)
	}
	return string(text)
}

// waitResult is the result of a timer.
func (x *execution) waitResult(p agent.Pending, row storage.Pending) string {
	t := x.toolOf(p)
	if t == nil || row.Due == nil {
		return "{}"
	}
	wait, err := t.Wait(p.Call.Arguments)
	if err != nil {
		x.log.Warn("the arguments of a wait cannot be decoded", "tool", p.Call.Name, "error", err)
	}
	return wait.Result(row.Due.Time)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// decodeReply returns the message that satisfied a wait, nil if none arrived.
func decodeReply(row storage.Pending) (*spacetool.Reply, error) {
	if row.Answer == nil || len(row.Answer.Result) == 0 {
		return nil, nil
	}
	var result struct{ Reply *spacetool.Reply }
	err := json.Unmarshal(row.Answer.Result, &result)
	return result.Reply, err
}

// markAnswersTaken records that the run received the answers that existed when it was claimed.
func (x *execution) markAnswersTaken(c *runs.RunChange) error {
	rows, err := c.PendingOf(x.run.SessionID, x.run.ID)
	if err != nil {
		return err
	}
	given := map[shoal.PendingID]bool{}
	for _, row := range x.rows {
		given[row.ID] = row.Status != shoal.PendingOpen
	}
	for _, row := range rows {
		if !given[row.ID] || row.Taken {
			continue
		}
		row.Taken = true
		if err := c.UpdatePending(row); err != nil {
			return err
		}
	}
	return nil
}
