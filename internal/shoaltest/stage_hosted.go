package shoaltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// The activity of hosted agents as other clients see it.

func work(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	all, err := s.hub.Runs.List(ctx, caller, session, storage.RunFilter{Agent: shoal.EntityID(c.option("agent")), Limit: shoal.MaxPage})
	// Events of the same moment have no defined order.
	slices.SortFunc(all, func(a, b shoal.Run) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(s.runNumber(a.ID), s.runNumber(b.ID)), cmp.Compare(a.Depth, b.Depth),
			cmp.Compare(a.AgentID, b.AgentID), cmp.Compare(a.Trigger.PlanName, b.Trigger.PlanName), cmp.Compare(a.Trigger.MessageContent, b.Trigger.MessageContent))
	})
	for _, r := range all {
		line := s.run(r) + fmt.Sprintf(" steps=%d", r.Steps)
		if r.Error != nil {
			line += fmt.Sprintf(" %q", r.Error.Message)
		}
		s.say("%s", line)
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

// runNumber returns the number in the name of a run; a run that was not printed yet comes
// after all others.
func (s *stage) runNumber(id shoal.RunID) int {
	s.naming.Lock()
	defer s.naming.Unlock()
	if n, err := strconv.Atoi(strings.TrimPrefix(s.runNames[id], "run")); err == nil {
		return n
	}
	return math.MaxInt
}

func printTranscript(s *stage, c *command) error {
	id, err := s.runID(c.word())
	if err != nil {
		return err
	}
	caller, session := s.by(c)
	steps, err := s.hub.Runs.Steps(ctx, caller, session, id)
	for _, step := range steps {
		s.say("step %d %q", step.Index, step.Text)
		for _, call := range step.ToolCalls {
			result := "nothing yet"
			if call.Result != nil {
				result = *call.Result
			}
			s.say("  %s#%s %s: %s", call.ToolName, call.ToolCallID, call.Status, result)
		}
	}
	if err == nil && len(steps) == 0 {
		s.say("nothing")
	}
	return err
}

func showParts(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	limit, err := c.number("limit")
	if err != nil {
		return err
	}
	messages, err := s.hub.Messages.Read(ctx, caller, session, shoal.SpaceID(c.word()), storage.Page{Limit: shoal.PageLimit(int(limit), shoal.DefaultPage)})
	for _, m := range messages {
		head := fmt.Sprintf("#%d %s %s", m.Seq, m.EntityID, m.Status)
		if m.RunID != nil {
			head += " " + s.runName(*m.RunID)
		}
		if len(m.Mentions) > 0 {
			head += " mentions=" + join(m.Mentions)
		}
		if len(m.OnBehalfOf) > 0 {
			head += " on behalf of " + join(m.OnBehalfOf)
		}
		s.say("%s", head)
		for _, p := range m.Parts {
			s.say("  %s", part(p))
		}
	}
	if err == nil && len(messages) == 0 {
		s.say("nothing")
	}
	return err
}

func part(p shoal.Part) string {
	switch {
	case p.Private:
		return "private " + string(p.Type)
	case p.Type == shoal.TextPart && p.Status == shoal.PartDone:
		return strconv.Quote(p.Text)
	case p.Type == shoal.TextPart:
		return fmt.Sprintf("%q %s", p.Text, p.Status)
	}
	out := fmt.Sprintf("%s#%s %s %s", p.ToolName, p.ToolCallID, p.Args, p.Status)
	if p.Target != "" {
		out += " for " + string(p.Target)
	}
	if p.AnsweredBy != "" {
		out += " by " + string(p.AnsweredBy)
	}
	if p.Result != nil {
		out += " = " + string(p.Result)
	}
	if p.Error != "" {
		out += fmt.Sprintf(" error %q", p.Error)
	}
	return out + decision(p.Decision)
}

func waiting(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	status := shoal.PendingOpen
	if c.has("status") {
		status = shoal.PendingStatus(c.option("status"))
	}
	all, err := s.hub.Pending.List(ctx, caller, session, storage.PendingFilter{Status: []shoal.PendingStatus{status}, Limit: shoal.MaxPage})
	slices.SortFunc(all, func(a, b shoal.PendingAction) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.ToolCallID, b.ToolCallID))
	})
	for _, p := range all {
		s.say("%s", s.pending(p))
	}
	if err == nil && len(all) == 0 {
		s.say("nothing")
	}
	return err
}

func (s *stage) pending(p shoal.PendingAction) string {
	out := fmt.Sprintf("%s %s", p.ID, p.Kind)
	if p.ToolName != "" {
		out += fmt.Sprintf(" %s#%s %s", p.ToolName, p.ToolCallID, p.Args)
	}
	if p.Question != nil {
		out += fmt.Sprintf(" %q", *p.Question)
	}
	out += fmt.Sprintf(" of %s", s.runName(p.RunID))
	if p.SpaceID != nil {
		out += " in " + string(*p.SpaceID)
	}
	out += " " + string(p.Status)
	if p.AnsweredBy != nil {
		out += " by " + string(*p.AnsweredBy)
	}
	if p.ExpiresAt != nil {
		out += " until " + s.since(p.ExpiresAt.Time)
	}
	return out
}

func giveAnswer(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	name := c.word()
	var id shoal.PendingID
	for known, given := range s.others {
		if given == name {
			id = shoal.PendingID(known)
		}
	}
	if id == "" {
		return fmt.Errorf("nothing was shown as %q", name)
	}
	a := shoal.PendingAnswer{Error: c.optional("error"), Reason: c.optional("reason"), Remember: parseRemember(c), Answer: c.optional("says"), Result: json.RawMessage(c.option("result")), Args: json.RawMessage(c.option("args")), Ask: c.optional("ask")}
	yes, no := c.flag("approve"), c.flag("deny")
	if yes || no {
		a.Approved = &yes
	}
	p, err := s.hub.Pending.Answer(ctx, caller, session, id, a)
	if err != nil {
		s.say("%s", errorText(err))
		return nil
	}
	s.say("%s", s.pending(p))
	return nil
}

// continuesDelta reports whether both events are deltas of one part.
func continuesDelta(ev, next shoal.Event) bool {
	if ev.Type != next.Type || !strings.HasSuffix(string(ev.Type), "-delta") {
		return false
	}
	var one, other shoal.PartHead
	return json.Unmarshal(ev.Data, &one) == nil && json.Unmarshal(next.Data, &other) == nil && one.MessageID == other.MessageID && one.PartID == other.PartID
}
