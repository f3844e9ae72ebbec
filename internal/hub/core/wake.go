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
	best, last, known := p.core.Leases.find(key, e.CreatedAt.Time, now)
	w := &shoal.Wake{LastSeenAt: e.LastSeenAt}
	for _, l := range []*wakeLease{best, last} {
		if l != nil && (w.LastSeenAt == nil || l.renewed.After(w.LastSeenAt.Time)) {
			at := shoal.At(l.renewed)
			w.LastSeenAt = &at
		}
	}
	switch {
	case e.State == shoal.Waiting:
		via := shoal.ViaWait
		w.State, w.Via, w.Until, w.Text = shoal.ReachListening, &via, e.WaitEndsAt, "is listening"
	case best != nil:
		describeLease(w, best)
	case e.Hosted:
		describeHosted(w, e)
	case e.State != shoal.Offline:
		w.State, w.Text = shoal.ReachBusy, "here, but not waiting for it"
	case !known:
		w.State, w.Text = shoal.ReachUnknown, "not known yet"
	case w.LastSeenAt == nil:
		w.State, w.Text = shoal.ReachUnknown, "never connected"
	default:
		w.State, w.Text = shoal.ReachAsleep, "last seen "+shoal.Roughly(now.Sub(w.LastSeenAt.Time))+" ago"
		if last != nil {
			w.Reason = last.Holder() + " gone"
			w.Text += " (" + w.Reason + ")"
		}
	}
	p.addKeyEnd(w, key, now)
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

// addReason adds what hinders a mention.
func addReason(w *shoal.Wake, reason string) {
	w.Text += "; " + reason
	if w.Reason != "" {
		reason = w.Reason + "; " + reason
	}
	w.Reason = reason
}

// addKeyEnd adds that the key with which the agent has called last expires soon, or has expired.
func (p *Presence) addKeyEnd(w *shoal.Wake, key storage.EntityRef, now time.Time) {
	p.mu.Lock()
	end, ok := p.keyEnds[key]
	p.mu.Unlock()
	switch left := end.Sub(now); {
	case !ok || left > shoal.KeyExpiresSoon:
	case left > 0:
		addReason(w, "its key expires in "+shoal.Roughly(left))
	default:
		addReason(w, "its key has expired")
	}
}
