package runs

import (
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// RunChange is one transaction of a run. What it has of [Tx] is for what the
// executor keeps (steps, conversations, notes, usage); everything that others see
// goes through its own methods.
type RunChange struct {
	*core.Change
	// Run is the run as it will be stored when the transaction ends: Turn, Steps,
	// Usage, Began and Ended may be set. Status changes through the methods.
	Run *storage.Run

	live *Live
}

// The methods on status. Each tells the run's followers and those of its spaces.

// Start makes a queued run running, a parked one running again (run.resumed).
// Nothing happens to one that is running.
func (c *RunChange) Start() error {
	what := shoal.EventRunResumed
	switch {
	case c.Run.Status == shoal.RunQueued:
		at := c.At
		c.Run.StartedAt, what = &at, shoal.EventRunStarted
		if err := c.refreshTriggerText(); err != nil {
			return err
		}
	case !c.Run.Status.Parked():
		return nil
	}
	c.Run.Status, c.Run.Activity, c.Run.StalledSince = shoal.RunRunning, &shoal.RunActivity{At: c.At, Kind: shoal.ActivityStarted}, nil
	c.NotifyActivity(c.Run.SessionID, c.Run.AgentID)
	return emitRun(c.Change, *c.Run, what)
}

// refreshTriggerText gives the run the text of its trigger as its model is about to read it: the
// message may have been edited since it was posted.
func (c *RunChange) refreshTriggerText() error {
	t := &c.Run.Trigger
	if t.Type != shoal.SpaceMessageTrigger {
		return nil
	}
	m, err := c.Message(c.Run.SessionID, t.SpaceID, t.MessageID)
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err == nil && m.EditedAt != nil {
		t.MessageContent = m.Text()
	}
	return err
}

// Park makes the run wait, waiting_tool if it waits for any pending action, else
// waiting_reply, and gives the lease up. run.waiting_tool goes to each space that
// shows one of the actions, and only if one of them was not told before. If an
// answer came meanwhile, the run is awake again at once.
func (c *RunChange) Park() error {
	rows, err := c.PendingOf(c.Run.SessionID, c.Run.ID)
	if err != nil {
		return err
	}
	before := c.Run.Status
	status, answered := suspendedStatus(before, rows)
	// Who woke the run since it was claimed may have had another reason: a space is
	// closed, or the agent was removed from it.
	c.Run.Status, c.Run.Awake = status, answered || c.Run.Awake || c.Run.Cancel
	if c.Run.StalledSince = nil; before == shoal.RunRunning {
		c.Run.Activity = &shoal.RunActivity{At: c.At, Kind: shoal.ActivityWait}
	}
	c.releaseLease()
	c.NotifyActivity(c.Run.SessionID, c.Run.AgentID)
	if !isBusy(*c.Run) {
		if err := wakeNext(c.Change, *c.Run); err != nil {
			return err
		}
	}
	emit := c.Run.Status != before
	if !emit && c.Run.Status == shoal.RunWaitingTool {
		if emit, err = c.hasUnreportedAction(rows); err != nil {
			return err
		}
	}
	switch {
	case !emit:
		return nil
	case c.Run.Status == shoal.RunWaitingTool:
		return emitWaitingTool(c.Change, *c.Run, rows)
	}
	event := *c.Run
	if wait := findReplyWait(rows); wait != nil && (wait.SpaceID == nil || *wait.SpaceID == event.Space) {
		event.WaitingFor = wait // elsewhere, the readers of the event need not be members
	}
	return emitRun(c.Change, event, shoal.EventRunWaitingReply)
}

// findReplyWait returns the first open wait for a reply or for a time among the rows of a
// run, nil if there is none.
func findReplyWait(rows []storage.Pending) *shoal.ReplyWait {
	i := slices.IndexFunc(rows, func(p storage.Pending) bool { return p.Status == shoal.PendingOpen && pending.IsServerWait(p.Kind) })
	if i < 0 {
		return nil
	}
	p := rows[i]
	out := shoal.ReplyWait{Until: p.Due, From: []shoal.ReplyFrom{}}
	if p.Reply == nil {
		return &out
	}
	out.SpaceID = &p.Reply.Space
	for _, from := range p.Reply.For {
		one := shoal.ReplyFrom{Type: from.Type}
		if from.EntityID != "" {
			one.EntityID = &from.EntityID
		}
		out.From = append(out.From, one)
	}
	return &out
}

// suspendedStatus returns how a run waits for these rows, and whether there is something to
// do for it at once: one of them was settled that it has not been given, or all.
func suspendedStatus(before shoal.RunStatus, rows []storage.Pending) (status shoal.RunStatus, awake bool) {
	open, action, openAction := false, false, false
	for _, p := range rows {
		settled := p.Status != shoal.PendingOpen
		if settled && p.Taken {
			continue
		}
		open, awake = open || !settled, awake || settled
		if !pending.IsServerWait(p.Kind) {
			action, openAction = true, openAction || !settled
		}
	}
	switch {
	case openAction:
		return shoal.RunWaitingTool, awake
	case open:
		return shoal.RunWaitingReply, awake
	case before.Parked():
		return before, true
	case action:
		return shoal.RunWaitingTool, true
	}
	return shoal.RunWaitingReply, true
}

// eventPageSize is how many events of a run are read at once.
const eventPageSize = 256

// hasUnreportedAction reports whether one of the open actions is in no run.waiting_tool yet:
// some of what the run waits for has come, and it waits for something new.
func (c *RunChange) hasUnreportedAction(rows []storage.Pending) (bool, error) {
	reported := map[shoal.PendingID]bool{}
	for place := int64(0); ; {
		page, err := c.Events(c.Run.SessionID, storage.EventFilter{Run: c.Run.ID}, place, eventPageSize)
		if err != nil {
			return false, err
		}
		for _, ev := range page {
			place = ev.Place
			if ev.Type == shoal.EventRunWaitingTool {
				if err := addReportedActions(ev, reported); err != nil {
					return false, err
				}
			}
		}
		if len(page) < eventPageSize {
			break
		}
	}
	return slices.ContainsFunc(rows, func(p storage.Pending) bool {
		return p.Status == shoal.PendingOpen && !pending.IsServerWait(p.Kind) && !reported[p.ID]
	}), nil
}

// Finish ends the run, cancels what it still waits for, wakes the next one that
// waits for its end, and gives the lease up. failure is nil for a completed run.
// The run's messages must be closed before.
func (c *RunChange) Finish(status shoal.RunStatus, failure *shoal.RunError) error {
	return finishRun(c.Change, c.Run, status, failure)
}

// finishRun ends a run, but for storing it.
func finishRun(ch *core.Change, r *storage.Run, status shoal.RunStatus, failure *shoal.RunError) error {
	at := ch.At
	r.Status, r.Error, r.EndedAt = status, failure, &at
	r.Owner, r.LeaseUntil, r.Awake, r.StalledSince = "", nil, false, nil
	if err := pending.CancelAll(ch, r); err != nil {
		return err
	}
	what := map[shoal.RunStatus]shoal.EventType{
		shoal.RunCompleted: shoal.EventRunCompleted, shoal.RunFailed: shoal.EventRunFailed, shoal.RunCanceled: shoal.EventRunCanceled,
	}[status]
	if err := emitRun(ch, *r, what); err != nil {
		return err
	}
	if err := recordOutcome(ch, *r); err != nil {
		return err
	}
	ch.NotifyActivity(r.SessionID, r.AgentID)
	ch.Notify(core.WorkTopic)
	return wakeNext(ch, *r)
}

// releaseLease gives the lease up.
func (c *RunChange) releaseLease() {
	c.Run.Owner, c.Run.LeaseUntil = "", nil
	if c.Run.Awake {
		c.Notify(core.WorkTopic)
	}
}

// StepStarted tells the followers of the run.
func (c *RunChange) StepStarted(s shoal.Step) error { return c.emitStep(shoal.EventStepStarted, s) }

// StepCompleted tells the followers of the run.
func (c *RunChange) StepCompleted(s shoal.Step) error { return c.emitStep(shoal.EventStepCompleted, s) }

func (c *RunChange) emitStep(what shoal.EventType, s shoal.Step) error {
	if s.ToolCalls == nil {
		s.ToolCalls = []shoal.StepCall{}
	}
	if s.MissingTools == nil {
		s.MissingTools = []shoal.MissingTool{}
	}
	return emitRunEvent(c.Change, *c.Run, "", true, what, func(h shoal.EventHead) any { return shoal.StepData{EventHead: h, Step: s} })
}
