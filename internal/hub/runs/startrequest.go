package runs

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// StartRequest is what a run is started with.
type StartRequest struct {
	Session         shoal.SessionID
	Agent           shoal.EntityID
	StartForMessage shoal.Trigger
	cause           storage.Cause
	requester       string
	client          *storage.ClientInput
}

// ConversationName names the conversation that the run belongs to. An id has no
// slash, so these names never meet by accident.
func (s StartRequest) ConversationName() string {
	switch t := s.StartForMessage; t.Type {
	case shoal.PlanTrigger:
		return fmt.Sprintf("%s/plan/%s", s.Agent, t.PlanID)
	case shoal.ServiceTrigger:
		return fmt.Sprintf("%s/service/%s", s.Agent, t.ServiceName)
	default:
		return fmt.Sprintf("%s/%s", s.Agent, t.SpaceID)
	}
}

// start starts the run of an agent that is configured so, and tells so. asleep says
// that it waits for the end of another run.
func (s StartRequest) start(ch *core.Change, as storage.Agent, now shoal.Time, asleep bool) (storage.Run, error) {
	r := storage.Run{
		Run: shoal.Run{
			ID: shoal.NewID[shoal.RunID](shoal.PrefixRun), SessionID: s.Session, AgentID: s.Agent, Status: shoal.RunQueued, Trigger: s.StartForMessage,
			CauseRoot: s.cause.Root, Depth: s.cause.Depth, ActingFor: behalf.Join(s.cause.ActingFor), MaxSteps: as.MaxSteps, Usage: shoal.Usage{Currency: shoal.Currency},
			PendingToolCalls: []shoal.PendingToolCall{}, CreatedAt: ch.At,
		},
		Version: as.Version, Space: s.StartForMessage.SpaceID, Requester: s.requester, Linked: s.cause.Linked,
		Awake: !asleep, NotBefore: addMillis(now, as.SettleMs), Conversation: s.ConversationName(),
	}
	if r.Space == "" || as.SettleMs == 0 { // only messages settle
		r.NotBefore = alwaysDue
	}
	if r.CauseRoot == "" {
		r.CauseRoot = string(r.ID)
	}
	if err := ch.InsertRun(r); err != nil {
		return r, err
	}
	if err := storeClientInput(ch, r, s.client); err != nil {
		return r, err
	}
	ch.Notify(core.WorkTopic)
	if err := fillQueuedBehind(ch, &r); err != nil {
		return r, err
	}
	return r, emitRun(ch, r, shoal.EventRunCreated)
}

// startOnMessage starts a run for a message, as the agent takes a message that comes while it
// runs. It returns the run that acts on the message, which may be one that was queued
// before; refused says that the agent does not take it.
func (s StartRequest) startOnMessage(ch *core.Change) (r storage.Run, refused bool, err error) {
	as, err := ch.HostedAgent(s.Session, s.Agent)
	if err != nil {
		return r, false, err
	}
	now, err := ch.Now()
	if err != nil {
		return r, false, err
	}
	if as.SettleMs > 0 {
		queued, err := s.findActive(ch, func(r storage.Run) bool {
			return isSettling(r, now) && len(behalf.Join(r.Roots(), s.cause.ActingFor)) <= behalf.MaxActingFor
		})
		if err != nil {
			return r, false, err
		}
		if queued != nil {
			r, err = s.replaceTrigger(ch, *queued, addMillis(now, as.SettleMs))
			return r, false, err
		}
	}
	asleep, refused, err := s.checkBusy(ch, as)
	if err != nil || refused {
		return r, refused, err
	}
	r, err = s.start(ch, as, now, asleep)
	return r, false, err
}

// checkBusy reports how the agent takes one more run in the space: whether the run has
// to wait for the end of another, or is not taken at all.
func (s StartRequest) checkBusy(ch *core.Change, as storage.Agent) (asleep, refused bool, err error) {
	switch as.OnNewMessage {
	case "reject", "enqueue":
		at, err := s.findActive(ch, isBusy)
		if err != nil || at != nil && as.OnNewMessage == "reject" {
			return false, at != nil, err
		}
		return at != nil, false, nil
	case "interrupt":
		asleep, err = s.cancelActive(ch)
	}
	return asleep, false, err
}

// replaceTrigger makes a newer message the trigger of a run that nobody has begun. The run
// acts for the senders of both.
func (s StartRequest) replaceTrigger(ch *core.Change, r storage.Run, notBefore shoal.Time) (storage.Run, error) {
	r.Trigger, r.Requester, r.NotBefore = s.StartForMessage, s.requester, notBefore
	r.ActingFor = behalf.Join(r.Roots(), s.cause.ActingFor)
	r.CauseRoot, r.Depth, r.Linked = s.cause.Root, s.cause.Depth, s.cause.Linked
	if err := storeClientInput(ch, r, s.client); err != nil {
		return r, err
	}
	ch.Notify(core.WorkTopic)
	return r, ch.UpdateRun(r)
}

// alwaysDue is due whatever the clock is set to: a run that waits for nothing must not
// wait for a clock that was set back to come round again.
var alwaysDue = shoal.At(time.Unix(0, 0))

func addMillis(t shoal.Time, ms int64) shoal.Time { return shoal.At(t.Add(milliseconds(ms))) }

// isSettling reports whether the run waits for messages that may follow.
func isSettling(r storage.Run, now shoal.Time) bool {
	return r.Status == shoal.RunQueued && r.Owner == "" && r.NotBefore.After(now.Time)
}

// isBusy reports whether a run is under way or about to be, or waits for a reply in the
// middle of a conversation. One that waits for a tool is not: it may take days.
func isBusy(r storage.Run) bool {
	return r.Status == shoal.RunRunning || r.Status == shoal.RunQueued || r.Status == shoal.RunWaitingReply || r.Status.Parked() && r.Cancel
}

// ActiveStatuses are the states of a run that has not ended.
var ActiveStatuses = []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply}

// findActive returns the newest run of the agent that a message of the space
// started, that has not ended and that is wanted, nil if there is none. There may be
// many of them, so it looks no further than that one.
func (s StartRequest) findActive(ch *core.Change, wanted func(storage.Run) bool) (*storage.Run, error) {
	filter := storage.RunFilter{Agent: s.Agent, Space: s.StartForMessage.SpaceID, Status: ActiveStatuses, Limit: shoal.MaxPage}
	for {
		page, err := ch.Runs(s.Session, filter)
		for i, r := range page {
			if r.Space == s.StartForMessage.SpaceID && wanted(r) {
				return &page[i], nil
			}
			filter.Before = r.ID
		}
		if err != nil || len(page) < filter.Limit {
			return nil, err
		}
	}
}

// cancelActive cancels what the agent does for the space. going says that some of it
// has not ended yet.
func (s StartRequest) cancelActive(ch *core.Change) (going bool, err error) {
	var all []storage.Run
	if _, err := s.findActive(ch, func(r storage.Run) bool {
		all = append(all, r)
		return false
	}); err != nil {
		return false, err
	}
	for _, r := range all {
		ended, err := CancelRun(ch, r)
		if err != nil {
			return false, err
		}
		going = going || !ended.Status.Ended()
	}
	return going, nil
}

// wakeNext wakes the oldest run that waits for the end of r, if nothing else is in
// its way.
func wakeNext(ch *core.Change, r storage.Run) error {
	if r.Space == "" {
		return nil
	}
	var next *storage.Run
	queue := StartRequest{Session: r.SessionID, Agent: r.AgentID, StartForMessage: shoal.Trigger{SpaceID: r.Space}}
	other, err := queue.findActive(ch, func(other storage.Run) bool {
		switch {
		case other.ID == r.ID:
			return false
		case isWaitingInQueue(other):
			next = &other // the last of them is the oldest
			return false
		}
		return isBusy(other)
	})
	if err != nil || other != nil || next == nil {
		return err
	}
	next.Awake = true
	ch.Notify(core.WorkTopic)
	return ch.UpdateRun(*next)
}
