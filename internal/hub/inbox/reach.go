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
		r.State, r.Text = shoal.ReachAsleep, "not started on it"
	default:
		e := shoal.Entity{SessionID: m.SessionID, ID: id, Kind: shoal.Agent, Hosted: true, State: shoal.Connected, Remote: slices.Contains(t.Remote, id)}
		if err := b.fillHosted(ch, &e); err != nil {
			return r, err
		}
		r = shoal.ReachOf(id, *b.core.Presence.Wake(e))
	}
	return r, describeBusy(ch, m, t, &r)
}

// fillHosted fills in what decides how a message reaches a hosted agent that it has started: of a
// remote one, whether a program waits for work or executes a run.
func (b *Inbox) fillHosted(ch *core.Change, e *shoal.Entity) error {
	if e.Remote {
		*e = b.core.Presence.FillState(*e)
		now, err := ch.Now()
		if err != nil {
			return err
		}
		held, err := ch.CountRemote(e.SessionID, e.ID, now)
		if err != nil {
			return err
		}
		e.AtWork = held > 0
	}
	return b.core.Presence.FillStored(ch.Tx, e)
}

// describeBusy adds the run for which a message to a busy agent waits to the text of its reach, and
// whether that run has stalled.
func describeBusy(ch *core.Change, m shoal.Message, t runs.TriggerResult, r *shoal.Reach) error {
	if r.State != shoal.ReachBusy {
		return nil
	}
	at, err := runs.FindBlockingRun(ch.Tx, m.SessionID, r.EntityID, m.SpaceID)
	if err != nil || at == nil || slices.Contains(t.Runs, shoal.StartedRun{AgentID: r.EntityID, RunID: at.ID}) {
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
	}
	if e.State == shoal.Offline || b.core.Presence.LacksKey(m.SessionID, id) {
		if err := b.core.Presence.FillStored(ch.Tx, &e); err != nil {
			return shoal.Reach{}, err
		}
	}
	return shoal.ReachOf(id, *b.core.Presence.Wake(e)), nil
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
