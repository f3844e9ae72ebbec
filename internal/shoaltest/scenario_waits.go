package shoaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
)

// stageWait is a call that waits for messages or for agents.
type stageWait struct {
	name     string
	begun    time.Time
	cancel   context.CancelFunc
	ended    chan struct{}
	took     time.Duration
	blocked  bool // its start has been printed
	printed  bool // its end has been printed
	delivery *inbox.Delivery
	outcome  []string
}

func (s *stage) wait(name string) (*stageWait, error) {
	for _, w := range slices.Backward(s.waits) {
		if w.name == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("there is no wait %q", name)
}

// startWait runs a call that may wait, and prints that it waits if it does.
func (s *stage) startWait(name string, call func(context.Context, *stageWait)) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &stageWait{name: name, begun: time.Now(), cancel: cancel, ended: make(chan struct{})}
	s.waits = append(s.waits, w)
	go func() {
		defer close(w.ended)
		defer cancel()
		call(ctx, w)
		w.took = time.Since(w.begun)
	}()
}

// printWaits prints the waits that have ended since the last call, in the order of their
// start, and those that have just started.
func (s *stage) printWaits() {
	for _, w := range s.waits {
		if w.printed {
			continue
		}
		select {
		case <-w.ended:
			w.printed = true
			after := ""
			if w.took > 0 {
				after = " after " + w.took.String()
			}
			s.say("%s %s%s", w.name, w.outcome[0], after)
			for _, line := range w.outcome[1:] {
				s.say("  %s", line)
			}
		default:
			if !w.blocked {
				w.blocked = true
				s.say("%s waits", w.name)
			}
		}
	}
}

func wait(s *stage, c *command) (err error) {
	name := c.word()
	caller, session := s.actor(c, c.word())
	req := &inbox.WaitRequest{
		Session: session, Kind: shoal.WaitKind(c.word()), Redeliver: c.flag("redeliver"), Space: shoal.SpaceID(c.option("space")),
		From: c.ids("from"), Entity: shoal.EntityID(c.option("entity")),
	}
	if req.Timeout, err = c.duration("timeout", shoal.DefaultWait); err != nil {
		return err
	}
	if kind := c.option("adapter"); kind != "" {
		req.Adapter = &shoal.WaitAdapter{Kind: kind, SessionRef: "term-1"}
	}
	if ack := c.option("ack"); ack != "" {
		if req.Ack, err = s.ack(ack); err != nil {
			return err
		}
	}
	s.startWait(name, func(ctx context.Context, w *stageWait) {
		d, err := s.hub.Inbox.Wait(ctx, caller, req)
		w.delivery = d
		w.outcome = outcome(d, err)
	})
	return nil
}

// ack returns the cursor that the named wait returned. A word with a colon is a cursor
// itself, in which EPOCH is replaced by the epoch of the database.
func (s *stage) ack(name string) (string, error) {
	if strings.Contains(name, ":") {
		return strings.ReplaceAll(name, "EPOCH", s.store.Epoch()), nil
	}
	w, err := s.wait(name)
	if err != nil {
		return "", err
	}
	if w.delivery == nil || w.delivery.Result.Cursor == nil {
		return "", fmt.Errorf("the wait %q has returned no cursor", name)
	}
	return *w.delivery.Result.Cursor, nil
}

func outcome(d *inbox.Delivery, err error) []string {
	switch {
	case errors.Is(err, context.Canceled):
		return []string{"is cancelled"}
	case err != nil:
		return []string{"ends: " + errorText(err)}
	case d.Result.TimedOut != (len(d.Result.Items) == 0) || d.Result.TimedOut != (d.Result.Cursor == nil):
		return []string{fmt.Sprintf("contradicts itself: %+v", d.Result)}
	case d.Result.TimedOut:
		return []string{"times out"}
	}
	out := []string{"returns"}
	if f := d.Result.Failed; f != nil {
		out[0] += fmt.Sprintf(", %s failed (%s)", f.EntityID, f.Code)
	}
	for _, item := range d.Result.Items {
		for _, m := range item.Messages {
			closed := ""
			if item.Space.Status == shoal.SpaceStatusClosed {
				closed = ", space closed"
			}
			out = append(out, fmt.Sprintf("%s (%s, delivery %d%s)", line(m.Message), m.Reason, m.Delivery, closed))
		}
	}
	return out
}

// respond returns the command that reports, for each named wait, whether its response was written.
func respond(written bool) func(*stage, *command) error {
	return func(s *stage, c *command) error { return recordResponses(s, c, written) }
}

func recordResponses(s *stage, c *command, written bool) error {
	for name := c.word(); name != ""; name = c.word() {
		w, err := s.wait(name)
		if err != nil {
			return err
		}
		if w.delivery == nil {
			return fmt.Errorf("the wait %q has not returned", name)
		}
		w.delivery.Settle(written)
	}
	return nil
}

func cancelWait(s *stage, c *command) error {
	w, err := s.wait(c.word())
	if err == nil {
		w.cancel()
	}
	return err
}

func waitForAgents(s *stage, c *command) error {
	name := c.word()
	caller, session := s.actor(c, c.word())
	count, err := c.number("count")
	if err != nil {
		return err
	}
	timeout, err := c.duration("timeout", shoal.DefaultWait)
	if err != nil {
		return err
	}
	ids := c.ids("ids")
	s.startWait(name, func(ctx context.Context, w *stageWait) {
		present, missing, timedOut, err := s.hub.Inbox.WaitForAgents(ctx, caller, session, ids, int(count), timeout)
		if err != nil {
			w.outcome = outcome(nil, err)
			return
		}
		here := make([]shoal.EntityID, len(present))
		for i, e := range present {
			here[i] = e.ID
		}
		w.outcome = []string{fmt.Sprintf("has present=%s missing=%s", join(here), join(missing))}
		if timedOut {
			w.outcome[0] = fmt.Sprintf("times out with present=%s missing=%s", join(here), join(missing))
		}
	})
	return nil
}
