package hub

import (
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
)

// start is what a run is started with.
type start struct {
	session   shoal.SessionID
	agent     shoal.EntityID
	trigger   shoal.Trigger
	cause     Cause
	requester string
}

// conversation names the conversation that the run belongs to. An id has no
// slash, so these names never meet by accident.
func (s start) conversation() string {
	switch t := s.trigger; t.Type {
	case shoal.PlanTrigger:
		return fmt.Sprintf("%s/plan/%s", s.agent, t.PlanID)
	case shoal.ServiceTrigger:
		return fmt.Sprintf("%s/service/%s", s.agent, t.ServiceName)
	default:
		return fmt.Sprintf("%s/%s", s.agent, t.SpaceID)
	}
}

// at starts the run of an agent that is configured so, and tells so. asleep says
// that it waits for the end of another run.
func (s start) at(ch *change, as StoredAgent, now shoal.Time, asleep bool) (StoredRun, error) {
	r := StoredRun{
		Run: shoal.Run{
			ID: shoal.NewID[shoal.RunID](shoal.PrefixRun), SessionID: s.session, AgentID: s.agent, Status: shoal.RunQueued, Trigger: s.trigger,
			CauseRoot: s.cause.Root, Depth: s.cause.Depth, MaxSteps: as.MaxSteps, Usage: shoal.Usage{Currency: shoal.Currency},
			PendingToolCalls: []shoal.PendingToolCall{}, CreatedAt: ch.at,
		},
		Version: as.Version, Space: s.trigger.SpaceID, Requester: s.requester, Linked: s.cause.Linked,
		Awake: !asleep, NotBefore: later(now, as.SettleMs), Conversation: s.conversation(),
	}
	if r.Space == "" {
		r.NotBefore = now // only messages settle
	}
	if r.CauseRoot == "" {
		r.CauseRoot = string(r.ID)
	}
	if err := ch.InsertRun(r); err != nil {
		return r, err
	}
	ch.hint(workTopic)
	return r, tellRun(ch, r, shoal.EventRunCreated)
}

// onMessage starts a run for a message, as the agent takes a message that comes
// while it runs. refused says that it does not take it.
func (s start) onMessage(ch *change) (refused bool, err error) {
	_, refused, err = s.run(ch)
	return refused, err
}

// run is onMessage; it returns the run that acts on the message, which may be one
// that was queued before.
func (s start) run(ch *change) (r StoredRun, refused bool, err error) {
	as, err := ch.HostedAgent(s.session, s.agent)
	if err != nil {
		return r, false, err
	}
	now, err := ch.Now()
	if err != nil {
		return r, false, err
	}
	active, err := activeRuns(ch, s.session, s.agent, s.trigger.SpaceID)
	if err != nil {
		return r, false, err
	}
	if as.SettleMs > 0 {
		if i := slices.IndexFunc(active, func(r StoredRun) bool { return settling(r, now) }); i >= 0 {
			r, err = s.instead(ch, active[i], later(now, as.SettleMs))
			return r, false, err
		}
	}
	asleep := false
	switch as.OnNewMessage {
	case "reject":
		if slices.ContainsFunc(active, busy) {
			return r, true, nil
		}
	case "enqueue":
		asleep = slices.ContainsFunc(active, busy)
	case "interrupt":
		for _, old := range active {
			ended, err := cancelRun(ch, old)
			if err != nil {
				return r, false, err
			}
			asleep = asleep || !ended.Status.Ended()
		}
	}
	r, err = s.at(ch, as, now, asleep)
	return r, false, err
}

// instead makes a newer message the trigger of a run that nobody has begun.
func (s start) instead(ch *change, r StoredRun, notBefore shoal.Time) (StoredRun, error) {
	r.Trigger, r.Requester, r.NotBefore = s.trigger, s.requester, notBefore
	r.CauseRoot, r.Depth, r.Linked = s.cause.Root, s.cause.Depth, s.cause.Linked
	ch.hint(workTopic)
	return r, ch.UpdateRun(r)
}

func later(t shoal.Time, ms int64) shoal.Time { return shoal.At(t.Add(millis(ms))) }

// settling reports whether the run waits for messages that may follow.
func settling(r StoredRun, now shoal.Time) bool {
	return r.Status == shoal.RunQueued && r.Owner == "" && r.NotBefore.After(now.Time)
}

// busy reports whether a run is under way or about to be: a parked one is not.
func busy(r StoredRun) bool {
	return r.Status == shoal.RunRunning || r.Status == shoal.RunQueued || r.Status.Parked() && r.Cancel
}

// active are the states of a run that has not ended.
var active = []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply}

// activeRuns returns the runs of an agent that messages of a space started and
// that have not ended, the newest first.
func activeRuns(ch *change, session shoal.SessionID, agent shoal.EntityID, space shoal.SpaceID) ([]StoredRun, error) {
	runs, err := ch.Runs(session, RunFilter{Agent: agent, Space: space, Status: active})
	return slices.DeleteFunc(runs, func(r StoredRun) bool { return r.Space != space }), err
}

// wakeNext wakes the oldest run that waits for the end of r, if nothing else is in
// its way.
func wakeNext(ch *change, r StoredRun) error {
	if r.Space == "" {
		return nil
	}
	runs, err := activeRuns(ch, r.SessionID, r.AgentID, r.Space)
	if err != nil {
		return err
	}
	var next *StoredRun
	for i := range runs {
		switch other := &runs[i]; {
		case other.ID == r.ID:
		case other.Status == shoal.RunQueued && !other.Awake && other.Owner == "":
			next = other // the last of them is the oldest
		case busy(*other):
			return nil
		}
	}
	if next == nil {
		return nil
	}
	next.Awake = true
	ch.hint(workTopic)
	return ch.UpdateRun(*next)
}
