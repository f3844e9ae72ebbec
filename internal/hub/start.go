package hub

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
)

// start is what a run is started with.
type start struct {
	session   shoal.SessionID
	agent     shoal.EntityID
	trigger   shoal.Trigger
	cause     Cause
	requester string
	client    *ClientInput
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
			CauseRoot: s.cause.Root, Depth: s.cause.Depth, ActingFor: behalf.Join(s.cause.ActingFor), MaxSteps: as.MaxSteps, Usage: shoal.Usage{Currency: shoal.Currency},
			PendingToolCalls: []shoal.PendingToolCall{}, CreatedAt: ch.at,
		},
		Version: as.Version, Space: s.trigger.SpaceID, Requester: s.requester, Linked: s.cause.Linked,
		Awake: !asleep, NotBefore: later(now, as.SettleMs), Conversation: s.conversation(),
	}
	if r.Space == "" || as.SettleMs == 0 { // only messages settle
		r.NotBefore = always
	}
	if r.CauseRoot == "" {
		r.CauseRoot = string(r.ID)
	}
	if err := ch.InsertRun(r); err != nil {
		return r, err
	}
	if err := keepClientInput(ch, r, s.client); err != nil {
		return r, err
	}
	ch.hint(workTopic)
	if err := queuedBehind(ch, &r); err != nil {
		return r, err
	}
	return r, tellRun(ch, r, shoal.EventRunCreated)
}

// onMessage starts a run for a message, as the agent takes a message that comes while it
// runs. It returns the run that acts on the message, which may be one that was queued
// before; refused says that the agent does not take it.
func (s start) onMessage(ch *change) (r StoredRun, refused bool, err error) {
	as, err := ch.HostedAgent(s.session, s.agent)
	if err != nil {
		return r, false, err
	}
	now, err := ch.Now()
	if err != nil {
		return r, false, err
	}
	if as.SettleMs > 0 {
		queued, err := s.findActive(ch, func(r StoredRun) bool {
			return settling(r, now) && len(behalf.Join(r.roots(), s.cause.ActingFor)) <= behalf.MaxActingFor
		})
		if err != nil {
			return r, false, err
		}
		if queued != nil {
			r, err = s.instead(ch, *queued, later(now, as.SettleMs))
			return r, false, err
		}
	}
	asleep, refused, err := s.behind(ch, as)
	if err != nil || refused {
		return r, refused, err
	}
	r, err = s.at(ch, as, now, asleep)
	return r, false, err
}

// behind reports how the agent takes one more run in the space: whether the run has
// to wait for the end of another, or is not taken at all.
func (s start) behind(ch *change, as StoredAgent) (asleep, refused bool, err error) {
	switch as.OnNewMessage {
	case "reject", "enqueue":
		at, err := s.findActive(ch, busy)
		if err != nil || at != nil && as.OnNewMessage == "reject" {
			return false, at != nil, err
		}
		return at != nil, false, nil
	case "interrupt":
		asleep, err = s.interrupt(ch)
	}
	return asleep, false, err
}

// instead makes a newer message the trigger of a run that nobody has begun. The run
// acts for the senders of both.
func (s start) instead(ch *change, r StoredRun, notBefore shoal.Time) (StoredRun, error) {
	r.Trigger, r.Requester, r.NotBefore = s.trigger, s.requester, notBefore
	r.ActingFor = behalf.Join(r.roots(), s.cause.ActingFor)
	r.CauseRoot, r.Depth, r.Linked = s.cause.Root, s.cause.Depth, s.cause.Linked
	if err := keepClientInput(ch, r, s.client); err != nil {
		return r, err
	}
	ch.hint(workTopic)
	return r, ch.UpdateRun(r)
}

// always is due whatever the clock is set to: a run that waits for nothing must not
// wait for a clock that was set back to come round again.
var always = shoal.At(time.Unix(0, 0))

func later(t shoal.Time, ms int64) shoal.Time { return shoal.At(t.Add(millis(ms))) }

// settling reports whether the run waits for messages that may follow.
func settling(r StoredRun, now shoal.Time) bool {
	return r.Status == shoal.RunQueued && r.Owner == "" && r.NotBefore.After(now.Time)
}

// busy reports whether a run is under way or about to be, or waits for a reply in the
// middle of a conversation. One that waits for a tool is not: it may take days.
func busy(r StoredRun) bool {
	return r.Status == shoal.RunRunning || r.Status == shoal.RunQueued || r.Status == shoal.RunWaitingReply || r.Status.Parked() && r.Cancel
}

// active are the states of a run that has not ended.
var active = []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply}

// findActive returns the newest run of the agent that a message of the space
// started, that has not ended and that is wanted, nil if there is none. There may be
// many of them, so it looks no further than that one.
func (s start) findActive(ch *change, wanted func(StoredRun) bool) (*StoredRun, error) {
	filter := RunFilter{Agent: s.agent, Space: s.trigger.SpaceID, Status: active, Limit: shoal.MaxPage}
	for {
		page, err := ch.Runs(s.session, filter)
		for i, r := range page {
			if r.Space == s.trigger.SpaceID && wanted(r) {
				return &page[i], nil
			}
			filter.Before = r.ID
		}
		if err != nil || len(page) < filter.Limit {
			return nil, err
		}
	}
}

// interrupt cancels what the agent does for the space. going says that some of it
// has not ended yet.
func (s start) interrupt(ch *change) (going bool, err error) {
	var all []StoredRun
	if _, err := s.findActive(ch, func(r StoredRun) bool {
		all = append(all, r)
		return false
	}); err != nil {
		return false, err
	}
	for _, r := range all {
		ended, err := cancelRun(ch, r)
		if err != nil {
			return false, err
		}
		going = going || !ended.Status.Ended()
	}
	return going, nil
}

// wakeNext wakes the oldest run that waits for the end of r, if nothing else is in
// its way.
func wakeNext(ch *change, r StoredRun) error {
	if r.Space == "" {
		return nil
	}
	var next *StoredRun
	of := start{session: r.SessionID, agent: r.AgentID, trigger: shoal.Trigger{SpaceID: r.Space}}
	other, err := of.findActive(ch, func(other StoredRun) bool {
		switch {
		case other.ID == r.ID:
			return false
		case asleep(other):
			next = &other // the last of them is the oldest
			return false
		}
		return busy(other)
	})
	if err != nil || other != nil || next == nil {
		return err
	}
	next.Awake = true
	ch.hint(workTopic)
	return ch.UpdateRun(*next)
}
