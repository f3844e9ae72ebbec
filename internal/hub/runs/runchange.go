package runs

import (
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/notices"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// RunChange is one transaction of a run. Use its methods of [storage.Tx] only for what the
// executor itself stores (steps, conversations, goals, memories, usage); everything that
// others see goes through the methods of RunChange.
type RunChange struct {
	*core.Change
	// Run is the run as it will be stored when the transaction ends: Turn, Steps,
	// Usage, Began and Ended may be set. Status changes through the methods.
	Run *storage.Run

	live *live.Parts
}

// Of returns the change of another run in the same transaction. The caller stores that run.
func (c *RunChange) Of(r *storage.Run) *RunChange {
	return &RunChange{Change: c.Change, Run: r, live: c.live}
}

// Start makes a queued run running (run.started) and a suspended run running again
// (run.resumed). It does nothing for a running one. Like all methods that change the
// status, it notifies the followers of the run and of its spaces.
func (c *RunChange) Start() error {
	what := shoal.EventRunResumed
	switch {
	case c.Run.Status == shoal.RunQueued:
		at := c.At
		c.Run.StartedAt, what = &at, shoal.EventRunStarted
		if err := c.refreshTriggerText(); err != nil {
			return err
		}
	case !c.Run.Status.Suspended():
		return nil
	}
	c.Run.Status, c.Run.Activity, c.Run.StalledSince = shoal.RunRunning, &shoal.RunActivity{At: c.At, Kind: shoal.ActivityStarted}, nil
	c.NotifyActivity(c.Run.SessionID, c.Run.AgentID)
	return emitRun(c.Change, *c.Run, what)
}

// refreshTriggerText updates the text of the run's trigger before its model reads it: the
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

// Suspend suspends the run and releases the lease. The status becomes waiting_tool if the run
// waits for a pending action, else waiting_reply. run.waiting_tool is emitted to each space
// that shows one of the actions, but only if one of them was not reported before. If an
// answer has arrived in the meantime, the run is awake again at once.
func (c *RunChange) Suspend() error {
	rows, err := c.PendingOf(c.Run.SessionID, c.Run.ID)
	if err != nil {
		return err
	}
	before := c.Run.Status
	status, answered := suspendedStatus(before, rows)
	// The run may have been woken since it was claimed for another reason: a space was
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

// AwaitAction makes the run waiting_tool, and leaves it its lease: the program that executes
// it waits for an answer. It does nothing if all actions are settled. Start makes it running
// again.
func (c *RunChange) AwaitAction() error {
	rows, err := c.PendingOf(c.Run.SessionID, c.Run.ID)
	if err != nil || !slices.ContainsFunc(rows, func(p storage.Pending) bool { return p.Status == shoal.PendingOpen }) {
		return err
	}
	emit := c.Run.Status != shoal.RunWaitingTool
	if !emit {
		if emit, err = c.hasUnreportedAction(rows); err != nil || !emit {
			return err
		}
	}
	c.Run.Status, c.Run.StalledSince, c.Run.Activity = shoal.RunWaitingTool, nil, &shoal.RunActivity{At: c.At, Kind: shoal.ActivityWait}
	c.NotifyActivity(c.Run.SessionID, c.Run.AgentID)
	if err := wakeNext(c.Change, *c.Run); err != nil {
		return err
	}
	return emitWaitingTool(c.Change, *c.Run, rows)
}

// findReplyWait returns the first open wait for a reply or for a time among the rows of a
// run, or nil.
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

// suspendedStatus returns the status of a suspended run that waits for these rows. awake
// reports whether the run can continue at once: a settled row has not been delivered to it,
// or all rows are settled.
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
	case before.Suspended():
		return before, true
	case action:
		return shoal.RunWaitingTool, true
	}
	return shoal.RunWaitingReply, true
}

// eventPageSize is how many events of a run are read at once.
const eventPageSize = 256

// hasUnreportedAction reports whether one of the open actions is in no run.waiting_tool
// event yet: some answers have arrived, and the run waits for something new.
func (c *RunChange) hasUnreportedAction(rows []storage.Pending) (bool, error) {
	reported := map[shoal.PendingID]bool{}
	for position := int64(0); ; {
		page, err := c.Events(c.Run.SessionID, storage.EventFilter{Run: c.Run.ID}, position, eventPageSize)
		if err != nil {
			return false, err
		}
		for _, ev := range page {
			position = ev.Position
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

// Finish ends the run, cancels what it still waits for, wakes the next run that waits for
// its end, and releases the lease. failure is nil for a completed run. The run's messages
// must be closed before.
func (c *RunChange) Finish(status shoal.RunStatus, failure *shoal.RunError) error {
	return finishRun(c.Change, c.Run, status, failure)
}

// finishRun ends a run without storing it.
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
	if err := notices.RecordOutcome(ch, *r); err != nil {
		return err
	}
	ch.NotifyActivity(r.SessionID, r.AgentID)
	ch.NotifyWork(*r)
	return wakeNext(ch, *r)
}

// releaseLease releases the lease of the run.
func (c *RunChange) releaseLease() {
	c.Run.Owner, c.Run.LeaseUntil = "", nil
	if c.Run.Awake {
		c.Notify(core.WorkTopic)
	}
}

// StepStarted emits step.started to the followers of the run.
func (c *RunChange) StepStarted(s shoal.Step) error {
	if s.Index == 0 {
		receiptChanged(c.Change, *c.Run)
	}
	return c.emitStep(shoal.EventStepStarted, s)
}

// StepCompleted emits step.completed to the followers of the run.
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

// ReadConversation returns the conversation of a run, a new one if none is stored.
func ReadConversation(tx storage.Tx, r storage.Run) (storage.Conversation, error) {
	conv, err := tx.Conversation(r.SessionID, r.Conversation)
	if errors.Is(err, shoal.NotFound) {
		return storage.Conversation{Session: r.SessionID, ID: r.Conversation, Agent: r.AgentID}, nil
	}
	return conv, err
}

// NextPosition advances the clock of the run's conversation and returns its new value.
func (c *RunChange) NextPosition() (int64, error) {
	conv, err := ReadConversation(c.Tx, *c.Run)
	if err != nil {
		return 0, err
	}
	conv.Clock++
	return conv.Clock, c.PutConversation(conv)
}
