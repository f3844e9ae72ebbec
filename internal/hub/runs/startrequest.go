package runs

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// StartRequest describes a run that is to be started.
type StartRequest struct {
	Session   shoal.SessionID
	Agent     shoal.EntityID
	Trigger   shoal.Trigger
	cause     storage.Cause
	requester string
	client    *storage.ClientInput
	trace     string // of the request that started it, if it was not the present one
}

// ConversationName returns the name of the conversation that the run belongs to. Ids
// contain no slash, so these names are never equal by accident.
func (s StartRequest) ConversationName() string {
	switch t := s.Trigger; t.Type {
	case shoal.PlanTrigger:
		return fmt.Sprintf("%s/plan/%s", s.Agent, t.PlanID)
	case shoal.ServiceTrigger:
		return fmt.Sprintf("%s/service/%s", s.Agent, t.ServiceName)
	default:
		return fmt.Sprintf("%s/%s", s.Agent, t.SpaceID)
	}
}

// create creates the run with the given configuration of its agent and emits run.created.
// asleep makes it wait for the end of another run.
func (s StartRequest) create(ch *core.Change, as storage.Agent, now shoal.Time, asleep bool) (storage.Run, error) {
	r := storage.Run{
		Run: shoal.Run{
			ID: shoal.NewID[shoal.RunID](shoal.PrefixRun), SessionID: s.Session, AgentID: s.Agent, Status: shoal.RunQueued, Trigger: s.Trigger,
			CauseRoot: s.cause.Root, Depth: s.cause.Depth, ActingFor: behalf.Join(s.cause.ActingFor), MaxSteps: as.MaxSteps, Usage: shoal.Usage{Currency: shoal.Currency},
			PendingToolCalls: []shoal.PendingToolCall{}, CreatedAt: ch.At,
		},
		Version: as.Version, Remote: as.Remote, Space: s.Trigger.SpaceID, Requester: s.requester, Linked: s.cause.Linked,
		Awake: !asleep, NotBefore: addMillis(now, as.SettleMs), Conversation: s.ConversationName(), TraceParent: cmp.Or(s.trace, ch.TraceParent()),
	}
	if r.Space == "" || as.SettleMs == 0 { // only messages wait for others that may follow
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
	ch.NotifyWork(r)
	if err := fillQueuedBehind(ch, &r); err != nil {
		return r, err
	}
	return r, emitRun(ch, r, shoal.EventRunCreated)
}

// startOnMessage starts a run for a message, according to the agent's setting for messages
// that arrive while it runs. It returns the run that acts on the message, which may have
// been queued before. refused reports that the agent does not accept the message.
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
			return IsSettling(r, now) && len(behalf.Join(r.Roots(), s.cause.ActingFor)) <= behalf.MaxActingFor
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
	r, err = s.create(ch, as, now, asleep)
	return r, false, err
}

// checkBusy reports whether a new run has to wait for the end of another one (asleep), or
// is not accepted at all (refused).
func (s StartRequest) checkBusy(ch *core.Change, as storage.Agent) (asleep, refused bool, err error) {
	switch as.OnNewMessage {
	case "reject", "enqueue", "steer":
		at, err := s.findActive(ch, busyFor(as))
		if err != nil || at != nil && as.OnNewMessage == "reject" {
			return false, at != nil, err
		}
		return at != nil, false, nil
	case "interrupt":
		asleep, err = s.cancelActive(ch)
	}
	return asleep, false, err
}

// replaceTrigger makes a newer message the trigger of a queued run. The run acts for the
// senders of both messages.
func (s StartRequest) replaceTrigger(ch *core.Change, r storage.Run, notBefore shoal.Time) (storage.Run, error) {
	r.Trigger, r.Requester, r.NotBefore = s.Trigger, s.requester, notBefore
	r.ActingFor = behalf.Join(r.Roots(), s.cause.ActingFor)
	r.CauseRoot, r.Depth, r.Linked, r.TraceParent = s.cause.Root, s.cause.Depth, s.cause.Linked, cmp.Or(ch.TraceParent(), r.TraceParent)
	if err := storeClientInput(ch, r, s.client); err != nil {
		return r, err
	}
	ch.NotifyWork(r)
	return r, ch.UpdateRun(r)
}

// alwaysDue is before every time of the clock. A run that waits for nothing uses it, so
// that it is not delayed when the clock is set back.
var alwaysDue = shoal.At(time.Unix(0, 0))

func addMillis(t shoal.Time, ms int64) shoal.Time { return shoal.At(t.Add(milliseconds(ms))) }

// IsSettling reports whether the run waits for messages that may follow.
func IsSettling(r storage.Run, now shoal.Time) bool {
	return r.Status == shoal.RunQueued && r.Owner == "" && r.NotBefore.After(now.Time)
}

// isBusy reports whether a run is in progress or about to be, or waits for a reply in the
// middle of a conversation. A run that waits for a tool is not busy, because it may wait
// for days.
func isBusy(r storage.Run) bool {
	return r.Status == shoal.RunRunning || r.Status == shoal.RunQueued || r.Status == shoal.RunWaitingReply || r.Status.Suspended() && r.Cancel
}

// busyFor returns what a message for an agent waits for: besides the runs that are busy, for one
// that takes messages in the middle of its turn, the turn that waits for an answer and whose
// program waits with it.
func busyFor(as storage.Agent) func(storage.Run) bool {
	return func(r storage.Run) bool { return isBusy(r) || as.OnNewMessage == "steer" && isHeldByProgram(r) }
}

// isHeldByProgram reports whether a program waits for an answer with the run.
func isHeldByProgram(r storage.Run) bool {
	return r.Remote && r.Status == shoal.RunWaitingTool && r.Owner != ""
}

// ActiveStatuses are the statuses of a run that has not ended.
var ActiveStatuses = []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply}

// findActive returns the newest active run of the agent that a message of the space started
// and that matches selects, or nil. It stops reading at that run, because there may be many.
func (s StartRequest) findActive(ch *core.Change, matches func(storage.Run) bool) (*storage.Run, error) {
	filter := storage.RunFilter{Agent: s.Agent, Space: s.Trigger.SpaceID, Status: ActiveStatuses, Limit: shoal.MaxPage}
	for {
		page, err := ch.Runs(s.Session, filter)
		for i, r := range page {
			if r.Space == s.Trigger.SpaceID && matches(r) {
				return &page[i], nil
			}
			filter.Before = r.ID
		}
		if err != nil || len(page) < filter.Limit {
			return nil, err
		}
	}
}

// cancelActive cancels the active runs of the agent for the space. going reports whether
// one of them has not ended yet.
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

// wakeNext wakes the oldest run that waits for the end of r, unless another run is busy.
func wakeNext(ch *core.Change, r storage.Run) error {
	if r.Space == "" {
		return nil
	}
	busy := isBusy
	if r.Remote {
		switch as, err := ch.HostedAgent(r.SessionID, r.AgentID); {
		case err == nil:
			busy = busyFor(as)
		case !errors.Is(err, shoal.NotFound):
			return err
		}
	}
	if !r.Status.Ended() && busy(r) {
		return nil
	}
	var next *storage.Run
	queue := StartRequest{Session: r.SessionID, Agent: r.AgentID, Trigger: shoal.Trigger{SpaceID: r.Space}}
	other, err := queue.findActive(ch, func(other storage.Run) bool {
		switch {
		case other.ID == r.ID:
			return false
		case IsWaitingInQueue(other):
			next = &other // the last of them is the oldest
			return false
		}
		return busy(other)
	})
	if err != nil || other != nil || next == nil {
		return err
	}
	next.Awake = true
	ch.NotifyWork(*next)
	return ch.UpdateRun(*next)
}

// FindBlockingRun returns the run that the queued runs of an agent in a space wait for: the
// oldest one in progress, or else the one that starts next, or that takes messages while it
// waits for an answer. It returns nil if the queued runs wait for nothing.
func FindBlockingRun(tx Tx, session shoal.SessionID, agent shoal.EntityID, space shoal.SpaceID) (head *storage.Run, err error) {
	for _, status := range [][]shoal.RunStatus{{shoal.RunRunning, shoal.RunWaitingReply}, {shoal.RunQueued}, {shoal.RunWaitingTool}} {
		filter := storage.RunFilter{Agent: agent, Space: space, Status: status, Limit: shoal.MaxPage}
		for {
			page, err := tx.Runs(session, filter)
			if err != nil {
				return nil, err
			}
			for i, r := range page { // the newest first
				if filter.Before = r.ID; r.Space == space && !IsWaitingInQueue(r) && (r.Status != shoal.RunWaitingTool || isHeldByProgram(r)) {
					head = &page[i]
				}
			}
			if len(page) < filter.Limit {
				break
			}
		}
		if head != nil {
			return head, nil
		}
	}
	return nil, nil
}

// IsWaitingInQueue reports whether a run waits for the end of another run.
func IsWaitingInQueue(r storage.Run) bool {
	return r.Status == shoal.RunQueued && !r.Awake && r.Owner == ""
}

// fillQueuedBehind sets QueuedBehind of a run that waits for the end of another run.
func fillQueuedBehind(tx Tx, r *storage.Run) error {
	if !IsWaitingInQueue(*r) || r.Space == "" {
		return nil
	}
	before, err := FindBlockingRun(tx, r.SessionID, r.AgentID, r.Space)
	if err == nil && before != nil {
		r.QueuedBehind = &before.ID
	}
	return err
}
