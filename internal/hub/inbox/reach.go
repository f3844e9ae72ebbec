package inbox

import (
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Reach returns how a message reaches each of the agents that it mentions. mentioned are
// the mentioned members, and t the runs that the message started. Reach uses the presence and the
// leases that this server knows, and reads from the store only what it knows of an absent or a hosted
// agent. Of a wait on another server it does not know what the wait is for, and takes it as one for
// the message. It must be called before the commit, because the commit ends the waits for the message.
func (b *Inbox) Reach(ch *core.Change, m shoal.Message, mentioned []storage.MemberKind, t runs.TriggerResult) (out []shoal.Reach, err error) {
	for _, id := range m.Mentions {
		i := slices.IndexFunc(mentioned, func(k storage.MemberKind) bool { return k.ID == id })
		if i < 0 || mentioned[i].Kind != shoal.Agent {
			continue
		}
		var r shoal.Reach
		if mentioned[i].Hosted {
			r, err = b.reachHosted(ch, m, id, t)
		} else {
			r, err = b.reachConnected(ch, m, id)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// reachHosted returns the reach of a hosted agent, which the server starts.
func (b *Inbox) reachHosted(ch *core.Change, m shoal.Message, id shoal.EntityID, t runs.TriggerResult) (shoal.Reach, error) {
	via := shoal.ViaHosted
	r := shoal.Reach{EntityID: id, State: shoal.ReachWakeable, Via: &via}
	started := slices.ContainsFunc(t.Runs, func(s shoal.StartedRun) bool { return s.AgentID == id })
	switch {
	case slices.Contains(t.Replied, id):
		r.State, r.Text = shoal.ReachListening, "is listening"
	case slices.Contains(t.Queued, id):
		r.State, r.Text = shoal.ReachBusy, "at work, and starts on it when its run has ended"
	case slices.Contains(t.Skipped, id):
		r.State, r.Via, r.Text = shoal.ReachBusy, nil, "at work, and takes one message at a time"
	case !started:
		r.State, r.Via, r.Text = shoal.ReachAsleep, nil, "not started on it"
	default:
		e := shoal.Entity{SessionID: m.SessionID, ID: id, Kind: shoal.Agent, Hosted: true, State: shoal.Connected}
		if err := b.core.Presence.FillStored(ch.Tx, &e); err != nil {
			return r, err
		}
		w := b.core.Presence.Wake(e)
		r.State, r.Via, r.Text, r.Reason = w.State, w.Via, w.Text, w.Reason
		if w.Since == nil { // no program holds a lease
			return r, b.reachRemote(ch, m, t, &r)
		}
	}
	return r, describeBusy(ch, m, &r)
}

// reachRemote corrects the reach of a remote agent whose run may start: a program has to claim
// it. One that waits for work does so at once.
func (b *Inbox) reachRemote(ch *core.Change, m shoal.Message, t runs.TriggerResult, r *shoal.Reach) error {
	if r.State != shoal.ReachWakeable || !slices.Contains(t.Remote, r.EntityID) {
		return nil
	}
	via := shoal.ViaProgram
	r.Via = &via
	e := b.core.Presence.FillState(shoal.Entity{SessionID: m.SessionID, ID: r.EntityID})
	if e.WaitEndsAt != nil || b.core.Presence.WaitsElsewhere(m.SessionID, r.EntityID) {
		return nil
	}
	now, err := ch.Now()
	if err != nil {
		return err
	}
	held, err := ch.CountRemote(m.SessionID, r.EntityID, now)
	switch {
	case err != nil:
		return err
	case held > 0:
		r.State, r.Text = shoal.ReachBusy, "its program is at work, and takes it next"
	default:
		r.State, r.Via, r.Text = shoal.ReachAsleep, nil, fmt.Sprintf("waiting for a program that serves %s", r.EntityID)
	}
	return nil
}

// describeBusy adds the run of a busy agent to the text of its reach, and whether the run
// has stalled.
func describeBusy(ch *core.Change, m shoal.Message, r *shoal.Reach) error {
	if r.State != shoal.ReachBusy {
		return nil
	}
	at, err := runs.FindBlockingRun(ch.Tx, m.SessionID, r.EntityID, m.SpaceID)
	if err != nil || at == nil {
		return err
	}
	r.Text = fmt.Sprintf("%s (%s", r.Text, at.ID)
	if at.StalledSince != nil {
		r.Text += fmt.Sprintf(", without a sign of life since %s; it can be canceled", at.StalledSince.UTC().Format(time.TimeOnly))
	}
	r.Text += ")"
	return nil
}

// reachConnected returns the reach of a connected agent.
func (b *Inbox) reachConnected(ch *core.Change, m shoal.Message, id shoal.EntityID) (shoal.Reach, error) {
	e := b.core.Presence.FillState(shoal.Entity{SessionID: m.SessionID, ID: id, Kind: shoal.Agent})
	switch {
	case b.isListening(m, id) || b.core.Presence.WaitsElsewhere(m.SessionID, id):
		e.State = shoal.Waiting
	case e.State == shoal.Waiting: // for something else
		e.State = shoal.Connected
	case e.State == shoal.Offline:
		if err := b.core.Presence.FillStored(ch.Tx, &e); err != nil {
			return shoal.Reach{}, err
		}
	}
	w := b.core.Presence.Wake(e)
	return shoal.Reach{EntityID: id, State: w.State, Via: w.Via, LastSeenAt: w.LastSeenAt, Text: w.Text, Reason: w.Reason}, nil
}

// isListening reports whether the entity has an open wait on this server that a mention in
// the message matches.
func (b *Inbox) isListening(m shoal.Message, id shoal.EntityID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	box := b.mailboxes[storage.EntityRef{Session: m.SessionID, ID: id}]
	if box == nil {
		return false
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	return box.machine.listens(delivery{reason: shoal.ReasonMention, space: m.SpaceID, sender: m.EntityID})
}

// RefreshReach sets the runs and the reach of a message that was posted earlier to their
// current state.
func (b *Inbox) RefreshReach(ch *core.Change, m *shoal.Message) error {
	mentioned, err := ch.MembersAmong(m.SessionID, m.SpaceID, m.Mentions)
	if err != nil {
		return err
	}
	until := shoal.At(m.CreatedAt.Add(time.Millisecond))
	started, err := ch.Runs(m.SessionID, storage.RunFilter{Trigger: shoal.SpaceMessageTrigger, Since: &m.CreatedAt, Until: &until, Limit: shoal.MaxPage})
	if err != nil {
		return err
	}
	var t runs.TriggerResult
	for _, r := range slices.Backward(started) {
		if r.Trigger.MessageID == m.ID {
			t.Runs = append(t.Runs, shoal.StartedRun{AgentID: r.AgentID, RunID: r.ID})
			if r.Remote && !r.Status.Ended() {
				t.Remote = append(t.Remote, r.AgentID)
			}
		}
	}
	m.Runs = t.Runs
	m.Reach, err = b.Reach(ch, *m, mentioned, t)
	return err
}
