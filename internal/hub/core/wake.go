package core

import (
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Wake returns how a mention reaches an agent whose live state is filled in, or nil for a human. It
// reads nothing but memory.
func (p *Presence) Wake(e shoal.Entity) *shoal.Wake {
	if e.Kind != shoal.Agent {
		return nil
	}
	key, now := storage.EntityRef{Session: e.SessionID, ID: e.ID}, time.Now()
	best, last, knownAt := p.core.Leases.find(key, e.CreatedAt.Time, now)
	w := &shoal.Wake{LastSeenAt: e.LastSeenAt, Proof: e.WakeProof}
	for _, l := range []*wakeLease{best, last} {
		if l != nil && (w.LastSeenAt == nil || l.renewed.After(w.LastSeenAt.Time)) {
			at := shoal.At(l.renewed)
			w.LastSeenAt = &at
		}
	}
	keyEnd, keyEnds := p.keyEnd(key)
	switch {
	case e.State == shoal.Waiting && !e.Remote:
		via := shoal.ViaWait
		w.State, w.Via, w.Until, w.Text = shoal.ReachListening, &via, e.WaitEndsAt, "is listening"
	case best != nil:
		describeLease(w, best)
	case e.Remote:
		describeRemote(w, e)
	case e.Hosted:
		describeHosted(w, e)
	case e.State != shoal.Offline && (!keyEnds || keyEnd.After(now)):
		w.State, w.Text = shoal.ReachBusy, "here, but not waiting for it"
	case !knownAt.IsZero():
		until := shoal.At(knownAt)
		w.State, w.Until, w.Text = shoal.ReachUnknown, &until, "not known yet"
	case w.LastSeenAt == nil:
		w.State, w.Text = shoal.ReachUnknown, "never connected"
	default:
		w.State, w.Text = shoal.ReachAsleep, "last seen "+shoal.Roughly(now.Sub(w.LastSeenAt.Time))+" ago"
		if last != nil {
			w.Reason = last.Holder() + " gone"
			w.Text += " (" + w.Reason + ")"
		}
	}
	if keyEnds {
		addKeyEnd(w, keyEnd.Sub(now))
	}
	return w
}

// describeLease describes an agent that a program wakes.
func describeLease(w *shoal.Wake, l *wakeLease) {
	since, until := shoal.At(l.since), shoal.At(l.until)
	w.State, w.Via, w.Since, w.Until = shoal.ReachWakeable, &l.Via, &since, &until
	w.Text = "will be woken (" + l.Holder() + ")"
	if l.Busy {
		w.State, w.Text = shoal.ReachBusy, "is working; it gets this next ("+l.Holder()+")"
	}
	if l.Harness != "" {
		w.Harness = &l.Harness
	}
	if l.Runner != "" {
		w.Runner = &l.Runner
	}
}

// describeHosted describes an agent whose runs the server starts.
func describeHosted(w *shoal.Wake, e shoal.Entity) {
	via := shoal.ViaHosted
	w.State, w.Via, w.Text = shoal.ReachWakeable, &via, "will be started"
	if e.State == shoal.Running {
		w.State, w.Text = shoal.ReachBusy, "is working"
	}
	if f := e.LastFailure; f != nil && strings.HasPrefix(f.Code, "provider_") {
		addReason(w, "its last run failed with "+f.Code)
	}
}

// describeRemote describes an agent whose runs a program claims: one that waits for work does so at
// once.
func describeRemote(w *shoal.Wake, e shoal.Entity) {
	via := shoal.ViaProgram
	w.Via = &via
	switch {
	case e.State == shoal.Waiting:
		w.State, w.Until, w.Text = shoal.ReachWakeable, e.WaitEndsAt, "will be started"
	case e.AtWork:
		w.State, w.Text = shoal.ReachBusy, "its program is at work, and takes it next"
	default:
		w.State, w.Text = shoal.ReachAsleep, "no program is connected for @"+string(e.ID)
	}
}

// addReason adds what hinders a mention.
func addReason(w *shoal.Wake, reason string) {
	w.Text += "; " + reason
	if w.Reason != "" {
		reason = w.Reason + "; " + reason
	}
	w.Reason = reason
}

// keyEnd returns when the key expires with which an agent has called last, if it does.
func (p *Presence) keyEnd(key storage.EntityRef) (end time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end, ok = p.keyEnds[key]
	return end, ok
}

// LacksKey reports whether the key has expired with which an agent has called last.
func (p *Presence) LacksKey(s shoal.SessionID, e shoal.EntityID) bool {
	end, ok := p.keyEnd(storage.EntityRef{Session: s, ID: e})
	return ok && !end.After(time.Now())
}

// addKeyEnd adds that the key of an agent expires soon, or has expired.
func addKeyEnd(w *shoal.Wake, left time.Duration) {
	switch {
	case left > shoal.KeyExpiresSoon:
	case left > 0:
		addReason(w, "its key expires in "+shoal.Roughly(left))
	default:
		addReason(w, "its key has expired")
	}
}
