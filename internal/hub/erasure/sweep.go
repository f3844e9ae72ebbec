package erasure

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/copies"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/hub/sweep"
)

// sweep erases the copies of texts and the name of a person in everything of the session that is
// not their own. It cancels the runs that are being executed and have stored a copy, because they
// have it in memory too, and returns them.
func (e *Erasures) sweep(ctx context.Context, session shoal.SessionID, x *copies.Index, person *copies.Eraser) (working []shoal.RunID, err error) {
	held := map[shoal.RunID]bool{}
	err = sweep.Sweep{
		Core: e.core, Op: "hub.Erasures.sweep", Session: session, Scope: storage.AllTraces, Texts: x, Person: person,
		Store: func(ch *core.Change, row storage.Trace) error {
			if err := ch.SetTrace(session, row); err != nil {
				return err
			}
			executed, err := cancelHeld(ch, session, row.Run)
			if executed {
				held[row.Run] = true
			}
			return err
		},
	}.Run(ctx)
	working = slices.Collect(maps.Keys(held))
	if err != nil {
		return working, err
	}
	return working, e.sweepMessages(ctx, session, x, person)
}

// cancelHeld cancels a run if it is being executed, and reports whether it is.
func cancelHeld(ch *core.Change, session shoal.SessionID, id shoal.RunID) (bool, error) {
	if id == "" {
		return false, nil
	}
	r, err := ch.Run(session, id)
	if errors.Is(err, shoal.NotFound) || err == nil && (r.LeaseUntil == nil || r.Status.Ended()) {
		return false, nil
	}
	if err == nil {
		err = cancel(ch, session, id)
	}
	return true, err
}

// sweepMessages is sweep for the messages of runs and of the system.
func (e *Erasures) sweepMessages(ctx context.Context, session shoal.SessionID, x *copies.Index, person *copies.Eraser) error {
	for after := int64(0); ; {
		var page []shoal.Message
		var last int64
		if err := e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			page, last, err = tx.GeneratedMessages(session, after, batch)
			return err
		}); err != nil || len(page) == 0 {
			return err
		}
		after = last
		for _, m := range page {
			changed, err := eraseParts(m.Parts, x, person)
			if err != nil {
				return err
			}
			if !changed {
				continue
			}
			if err := e.core.Change(ctx, "hub.Erasures.sweep", storage.In(session), func(ch *core.Change) error { return rewriteMessage(ch, m, x, person) }); err != nil {
				return err
			}
		}
	}
}

// rewriteMessage erases the copies in a message.
func rewriteMessage(ch *core.Change, m shoal.Message, x *copies.Index, person *copies.Eraser) error {
	now, err := ch.MessageByID(m.SessionID, m.ID)
	if errors.Is(err, shoal.NotFound) || err == nil && now.DeletedAt != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := ch.LockSpace(now.SessionID, now.SpaceID); err != nil {
		return err
	}
	if changed, err := eraseParts(now.Parts, x, person); err != nil || !changed {
		return err
	}
	if err := ch.ReplaceParts(now); err != nil {
		return err
	}
	return core.AnnounceMessage(ch, now.SessionID, now.ID)
}

// eraseParts erases the copies in parts and reports whether it has changed one.
func eraseParts(parts []shoal.Part, x *copies.Index, person *copies.Eraser) (changed bool, err error) {
	for i := range parts {
		p := &parts[i]
		was, err := shoal.EncodeJSON(storedPart{p.ID, p.ToolCallID, p.Text, p.Error, p.Args, p.Result, p.EditedArgs, p.Data, p.Display, p.Decision})
		if err != nil {
			return changed, err
		}
		now := x.Erase(string(was), person)
		if now == string(was) {
			continue
		}
		var to storedPart
		if err := json.Unmarshal([]byte(now), &to); err != nil {
			return changed, err
		}
		p.Text, p.Error, p.Args, p.Result, p.EditedArgs, p.Data, p.Display, p.Decision = to.Text, to.Error, to.Args, to.Result, to.EditedArgs, to.Data, to.Display, to.Decision
		changed = true
	}
	return changed, nil
}

// storedPart is what can contain copies in a part.
type storedPart struct {
	ID         shoal.PartID    `json:"id"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Text       string          `json:"text,omitempty"`
	Error      string          `json:"error,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	EditedArgs json.RawMessage `json:"editedArgs,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
	Display    json.RawMessage `json:"display,omitempty"`
	Decision   *shoal.Decision `json:"decision,omitempty"`
}
