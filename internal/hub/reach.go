package hub

import (
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
)

// MemberKind is a member of a space with what decides how a mention reaches it.
type MemberKind struct {
	ID     shoal.EntityID
	Kind   shoal.EntityKind
	Hosted bool
}

// triggered is what a message has set off.
type triggered struct {
	runs    []shoal.StartedRun
	skipped []shoal.EntityID // at work, and take no second message
	queued  []shoal.EntityID // whose run waits for the end of another
	replied []shoal.EntityID // a run of theirs goes on with the message
}

// reach returns how a message reaches each of the agents that it mentions. What this
// server knows of their presence decides; only for one that is not here it is read when
// it was last seen. It has to be called before the commit: whoever waits for the message
// does not wait any more afterwards.
func (b *Inbox) reach(ch *change, m shoal.Message, mentioned []MemberKind, t triggered) (out []shoal.Reach, err error) {
	for _, id := range m.Mentions {
		i := slices.IndexFunc(mentioned, func(k MemberKind) bool { return k.ID == id })
		if i < 0 || mentioned[i].Kind != shoal.Agent {
			continue
		}
		r := reachHosted(id, t)
		if mentioned[i].Hosted {
			err = reachBusy(ch, m, &r)
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

// reachHosted is the reach of a hosted agent, which the server starts.
func reachHosted(id shoal.EntityID, t triggered) shoal.Reach {
	via := shoal.ViaHosted
	r := shoal.Reach{EntityID: id, State: shoal.ReachWakeable, Via: &via}
	started := slices.ContainsFunc(t.runs, func(s shoal.StartedRun) bool { return s.AgentID == id })
	switch {
	case slices.Contains(t.replied, id):
		r.State = shoal.ReachListening
	case slices.Contains(t.queued, id):
		r.State, r.Text = shoal.ReachBusy, "at work, and starts on it when its run has ended"
	case slices.Contains(t.skipped, id):
		r.State, r.Via, r.Text = shoal.ReachBusy, nil, "at work, and takes one message at a time"
	case !started:
		r.State, r.Via, r.Text = shoal.ReachAsleep, nil, "not started on it"
	}
	return r
}

// reachBusy names the run that a busy agent is at, and says if it has stalled.
func reachBusy(ch *change, m shoal.Message, r *shoal.Reach) error {
	if r.State != shoal.ReachBusy {
		return nil
	}
	at, err := ahead(ch.Tx, m.SessionID, r.EntityID, m.SpaceID)
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

// reachConnected is the reach of an agent that runs elsewhere.
func (b *Inbox) reachConnected(ch *change, m shoal.Message, id shoal.EntityID) (shoal.Reach, error) {
	e := b.presence.felt(shoal.Entity{SessionID: m.SessionID, ID: id})
	r := shoal.Reach{EntityID: id, State: shoal.ReachBusy, LastSeenAt: e.LastSeenAt, Text: "here, but not waiting for it"}
	if b.listens(m, id) {
		via := shoal.ViaWait
		r.State, r.Via, r.Text = shoal.ReachListening, &via, ""
		return r, nil
	}
	if e.State != shoal.Offline {
		return r, nil
	}
	if r.LastSeenAt == nil {
		last, err := b.presence.storedLast(ch.Tx, EntityRef{m.SessionID, id})
		if err != nil {
			return r, err
		}
		r.LastSeenAt = last
	}
	r.State, r.Text = shoal.ReachAsleep, "not connected"
	if r.LastSeenAt == nil {
		r.State, r.Text = shoal.ReachUnknown, "never connected"
	}
	return r, nil
}

// listens reports whether a wait of an entity is open on this server that a mention by a
// message matches.
func (b *Inbox) listens(m shoal.Message, id shoal.EntityID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	box := b.mailboxes[EntityRef{m.SessionID, id}]
	if box == nil {
		return false
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	d := delivered{reason: shoal.ReasonMention, space: m.SpaceID, sender: m.EntityID}
	return slices.ContainsFunc(box.waits, func(w *HeldWait) bool { return d.matches(w.filter) && w.call.ended() == nil })
}

// reachAgain is the reach of a message that was posted before, as it is now.
func (b *Inbox) reachAgain(ch *change, m *shoal.Message) error {
	mentioned, err := ch.MembersAmong(m.SessionID, m.SpaceID, m.Mentions)
	if err != nil {
		return err
	}
	until := shoal.At(m.CreatedAt.Add(time.Millisecond))
	started, err := ch.Runs(m.SessionID, RunFilter{Trigger: shoal.SpaceMessageTrigger, Since: &m.CreatedAt, Until: &until, Limit: shoal.MaxPage})
	if err != nil {
		return err
	}
	var t triggered
	for _, r := range slices.Backward(started) {
		if r.Trigger.MessageID == m.ID {
			t.runs = append(t.runs, shoal.StartedRun{AgentID: r.AgentID, RunID: r.ID})
		}
	}
	m.Runs = t.runs
	m.Reach, err = b.reach(ch, *m, mentioned, t)
	return err
}
