package shoaltest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Hosted agents and their runs as callers see them.

func newAgent(s *stage, c *command) error {
	caller, session := s.by(c)
	id := shoal.EntityID(c.word())
	settle, err := c.duration("settle", 0)
	if err != nil {
		return err
	}
	steps, err := c.number("steps")
	if err != nil {
		return err
	}
	a := storage.Agent{
		HostedAgent: shoal.HostedAgent{ID: id, SessionID: session, Config: json.RawMessage(`{}`)},
		Name:        c.option("name"), Description: c.option("description"), OnNewMessage: c.option("on"), SettleMs: settle.Milliseconds(), MaxSteps: int(steps),
	}
	if invite := c.option("invite"); invite != "" {
		config, err := json.Marshal(map[string]any{"invite": strings.Split(invite, ",")})
		if err != nil {
			return err
		}
		a.Config = config
	}
	if a.OnNewMessage == "" {
		a.OnNewMessage = "parallel"
	}
	if a.MaxSteps == 0 {
		a.MaxSteps = 5
	}
	// The hash is computed from the configuration.
	a.Hash = hash(fmt.Sprint(a.Name, a.Description, a.OnNewMessage, settle, steps, string(a.Config)))
	made, created, err := s.hub.Agents.Put(ctx, caller, a)
	if err != nil {
		return err
	}
	what := "changed"
	if created {
		what = "created"
	}
	s.say("agent %s version %d (%s: %t)", made.ID, made.Version, what[:7], created)
	return nil
}

func listAgents(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	all, err := s.hub.Agents.List(ctx, caller, session, "", shoal.MaxPage)
	for _, a := range all {
		s.say("agent %s version %d", a.ID, a.Version)
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

func listVersions(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id := shoal.EntityID(c.word())
	before, err := c.number("before")
	if err != nil {
		return err
	}
	all, err := s.hub.Agents.Versions(ctx, caller, session, id, int(before), shoal.MaxPage)
	for _, a := range all {
		s.say("agent %s version %d", a.ID, a.Version)
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

func unhost(s *stage, c *command) error {
	caller, session := s.by(c)
	return s.hub.Agents.Delete(ctx, caller, session, shoal.EntityID(c.word()))
}

func triggerAgent(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	agent, service := shoal.EntityID(c.word()), c.word()
	made, err := s.hub.Runs.Trigger(ctx, caller, session, agent, service, json.RawMessage(c.option("payload")), c.option("once"))
	if err == nil {
		s.say("%s", s.run(made))
	}
	return err
}

func listRuns(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	filter := storage.RunFilter{Agent: shoal.EntityID(c.option("agent")), Space: shoal.SpaceID(c.option("space")), Limit: shoal.MaxPage}
	if status := c.option("status"); status != "" {
		filter.Status = []shoal.RunStatus{shoal.RunStatus(status)}
	}
	all, err := s.hub.Runs.List(ctx, caller, session, filter)
	for _, r := range all {
		s.say("%s", s.run(r))
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

func getRun(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, err := s.runID(c.word())
	if err != nil {
		return err
	}
	r, err := s.hub.Runs.Get(ctx, caller, session, id)
	if err == nil {
		s.say("%s", s.run(r))
		if r.Trigger.MessageID != "" {
			s.name(r.Trigger.MessageID)
		}
		said, err := json.Marshal(r.Trigger)
		if err != nil {
			return err
		}
		s.say("  trigger %s", said)
		s.say("  for %s", join(r.ActingFor))
	}
	return err
}

func cancelRun(s *stage, c *command) error {
	name := c.word()
	caller, session := s.actor(c, c.word())
	id, err := s.runID(c.word())
	if err != nil {
		return err
	}
	s.startWait(name, func(ctx context.Context, w *stageWait) {
		r, err := s.hub.Runs.Cancel(ctx, caller, session, id)
		if err != nil {
			w.outcome = outcome(nil, err)
			return
		}
		w.outcome = []string{"returns", s.run(r)}
	})
	return nil
}

func retryRun(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, err := s.runID(c.word())
	if err != nil {
		return err
	}
	made, err := s.hub.Runs.Retry(ctx, caller, session, id, c.option("once"))
	if err == nil {
		s.say("%s", s.run(made))
	}
	return err
}

// runName returns the number of a run: run1 is the first that was printed. It may be
// called from any goroutine.
func (s *stage) runName(id shoal.RunID) string {
	s.naming.Lock()
	defer s.naming.Unlock()
	if s.runNames[id] == "" {
		s.runNames[id] = "run" + strconv.Itoa(len(s.runNames)+1)
		s.runIDs[s.runNames[id]] = id
	}
	return s.runNames[id]
}

func (s *stage) runID(name string) (shoal.RunID, error) {
	s.naming.Lock()
	defer s.naming.Unlock()
	if id := s.runIDs[name]; id != "" {
		return id, nil
	}
	if strings.HasPrefix(name, "run") {
		return "", fmt.Errorf("no run was shown as %q", name)
	}
	return shoal.RunID(name), nil
}

func (s *stage) run(r shoal.Run) string {
	out := fmt.Sprintf("%s %s %s", s.runName(r.ID), r.AgentID, r.Status)
	switch t := r.Trigger; t.Type {
	case shoal.SpaceMessageTrigger:
		out += fmt.Sprintf(" on %s %q by %s", t.SpaceID, t.MessageContent, t.SenderEntityID)
	case shoal.PlanTrigger:
		out += fmt.Sprintf(" on plan %q of %s", t.PlanName, s.since(t.ScheduledAt.Time))
	case shoal.ServiceTrigger:
		out += fmt.Sprintf(" on service %q %s", t.ServiceName, t.Payload)
	}
	if r.Depth > 0 {
		out += fmt.Sprintf(" depth=%d", r.Depth)
	}
	if len(r.PendingToolCalls) > 0 {
		calls := make([]string, len(r.PendingToolCalls))
		for i, p := range r.PendingToolCalls {
			calls[i] = p.ToolCallID
		}
		out += " pending=" + strings.Join(calls, ",")
	}
	if r.Error != nil {
		out += " error=" + r.Error.Code
	}
	if r.StalledSince != nil {
		out += fmt.Sprintf(" stalled since %s (%s)", s.since(r.StalledSince.Time), r.Activity.Kind)
	}
	if r.WaitingFor != nil {
		out += showWaitingFor(*r.WaitingFor)
	}
	if r.QueuedBehind != nil {
		out += " after " + s.runName(*r.QueuedBehind)
	}
	return out
}

func showWaitingFor(w shoal.ReplyWait) string {
	if w.SpaceID == nil {
		return " for a time"
	}
	out := " for a reply from"
	for _, from := range w.From {
		if from.EntityID != nil {
			out += " " + string(*from.EntityID)
		} else {
			out += " " + from.Type
		}
	}
	return out + " in " + string(*w.SpaceID)
}
