package retention

import (
	"context"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/copies"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/hub/sweep"
)

// Bounds of what is in memory at once.
const (
	partLength = 10_000   // messages
	partTexts  = 16 << 20 // bytes of their texts
)

// eraseMessages replaces the messages from before a time by tombstones, and erases their copies, part
// by part. Copies are erased first, because they are found by the text.
func (r *Retention) eraseMessages(ctx context.Context, session shoal.SessionID, before shoal.Time) error {
	for after := (storage.MessagePosition{}); ; {
		var p *part
		if err := r.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			p, err = readPart(tx, session, before, after)
			return err
		}); err != nil || p.read == 0 {
			return err
		}
		after = p.last
		if len(p.erasers) == 0 {
			continue
		}
		if err := (sweep.Sweep{
			Core: r.core, Op: "hub.Retention.eraseMessages", Session: session, Scope: storage.ActTraces, Texts: p.index(),
			Store: func(ch *core.Change, row storage.Trace) error {
				if done, err := isDone(ch, session, row.Run); err != nil || !done {
					return err
				}
				return ch.SetTrace(session, row)
			},
		}).Run(ctx); err != nil {
			return err
		}
		for some := range slices.Chunk(p.ids(), batch) {
			if err := r.core.Change(ctx, "hub.Retention.eraseMessages", storage.In(session), func(ch *core.Change) error {
				return eraseUnneeded(ch, session, some)
			}); err != nil {
				return err
			}
		}
	}
}

// part is some of the messages that a session no longer keeps.
type part struct {
	read    int // messages, with those that are needed
	last    storage.MessagePosition
	erasers []*copies.Eraser
}

// readPart reads the messages from before a time after a position, without those that open runs need.
func readPart(tx storage.Tx, session shoal.SessionID, before shoal.Time, after storage.MessagePosition) (*part, error) {
	p, texts := &part{last: after}, 0
	for p.read < partLength && texts < partTexts {
		page, err := tx.OldMessages(session, before, p.last, batch)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			versions, err := tx.MessageVersions(session, m.ID, 0, shoal.MaxVersions)
			if err != nil {
				return nil, err
			}
			p.read, p.last = p.read+1, storage.MessagePosition{Space: m.SpaceID, Seq: m.Seq}
			p.erasers = append(p.erasers, copies.OfMessage(m, versions, shoal.Now()))
			texts += copies.Size(m.Parts)
			for _, v := range versions {
				texts += copies.Size(v.Parts)
			}
		}
	}
	if len(p.erasers) == 0 {
		return p, nil
	}
	needed, err := p.neededByRuns(tx, session)
	p.erasers = slices.DeleteFunc(p.erasers, func(c *copies.Eraser) bool { return needed[c] })
	return p, err
}

func (p *part) index() *copies.Index {
	x := copies.NewIndex()
	for _, c := range p.erasers {
		x.Add(c)
	}
	return x
}

func (p *part) ids() (ids []shoal.MessageID) {
	for _, c := range p.erasers {
		ids = append(ids, c.Copies().Message)
	}
	return ids
}

// neededByRuns returns those of the messages that an open run was started by, has written or has read.
func (p *part) neededByRuns(tx storage.Tx, session shoal.SessionID) (map[*copies.Eraser]bool, error) {
	needed, x := map[*copies.Eraser]bool{}, p.index()
	need := func(text string) {
		for _, c := range x.In(text) {
			needed[c] = true
		}
	}
	open, err := tx.Runs(session, storage.RunFilter{Status: runs.ActiveStatuses})
	for _, r := range open {
		for _, c := range p.erasers {
			if c.Copies().Run == r.ID || c.Copies().Message == r.Trigger.MessageID {
				needed[c] = true
			}
		}
		trigger, failed := shoal.EncodeJSON(r.Trigger)
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		need(string(trigger))
		need(string(r.Turn))
		steps, err := tx.RunSteps(session, r.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range steps {
			need(string(s.Data))
		}
	}
	return needed, err
}

// isDone reports whether a run has ended or does not exist, as the empty one.
func isDone(tx storage.Tx, session shoal.SessionID, id shoal.RunID) (bool, error) {
	if id == "" {
		return true, nil
	}
	r, err := tx.Run(session, id)
	if errors.Is(err, shoal.NotFound) {
		return true, nil
	}
	return err == nil && r.Status.Ended(), err
}

// eraseUnneeded erases those of the messages that no open run was started by or has written.
func eraseUnneeded(ch *core.Change, session shoal.SessionID, ids []shoal.MessageID) error {
	open, err := ch.Runs(session, storage.RunFilter{Status: runs.ActiveStatuses})
	if err != nil {
		return err
	}
	for _, id := range ids {
		m, err := ch.MessageByID(session, id)
		if errors.Is(err, shoal.NotFound) || err == nil && (m.DeletedAt != nil || m.Status == shoal.MessageStreaming) {
			continue
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(open, func(r storage.Run) bool {
			return r.Trigger.MessageID == id || m.RunID != nil && *m.RunID == r.ID
		}) {
			continue
		}
		if err := core.EraseMessage(ch, m); err != nil {
			return err
		}
	}
	return nil
}
