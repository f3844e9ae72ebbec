package erasure

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/copies"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// sweep erases the copies of texts and the name of a person in everything of the session that is
// not their own. It cancels the runs that are being executed and have stored a copy, because they
// have it in memory too, and returns them.
func (e *Erasures) sweep(ctx context.Context, session shoal.SessionID, x *copies.Index, person *copies.Eraser) (working []shoal.RunID, err error) {
	for at := (storage.TracePosition{}); ; {
		var page []storage.Trace
		if err := e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			page, err = tx.Traces(session, at, batch)
			return err
		}); err != nil || len(page) == 0 {
			if err != nil {
				return working, err
			}
			break
		}
		if hasCopy(page, x, person) {
			var held []shoal.RunID
			if err := e.core.Change(ctx, "hub.Erasures.sweep", storage.In(session), func(ch *core.Change) (err error) {
				held, err = erasePage(ch, session, at, x, person)
				return err
			}); err != nil {
				return working, err
			}
			working = append(working, held...)
		}
		at = page[len(page)-1].At
	}
	return working, e.sweepMessages(ctx, session, x, person)
}

// eraserOf returns an eraser for everything in a text that is to be erased.
func eraserOf(text string, x *copies.Index, person *copies.Eraser) *copies.Eraser {
	found := x.For(text)
	if person.MayName(text) {
		found = copies.Join(found, person)
	}
	return found
}

// erase returns a text without copies.
func erase(text string, x *copies.Index, person *copies.Eraser) string {
	if by := eraserOf(text, x, person); !by.Empty() {
		return by.Erase(text)
	}
	return text
}

func hasCopy(page []storage.Trace, x *copies.Index, person *copies.Eraser) bool {
	for _, row := range page {
		for _, text := range row.Texts {
			if erase(text, x, person) != text {
				return true
			}
		}
	}
	return false
}

// erasePage erases the copies in the rows after a position.
func erasePage(ch *core.Change, session shoal.SessionID, at storage.TracePosition, x *copies.Index, person *copies.Eraser) (held []shoal.RunID, err error) {
	page, err := ch.Traces(session, at, batch)
	if err != nil {
		return nil, err
	}
	for _, row := range page {
		changed := false
		for i, text := range row.Texts {
			row.Texts[i] = erase(text, x, person)
			changed = changed || row.Texts[i] != text
		}
		if !changed {
			continue
		}
		if err := ch.SetTrace(session, row); err != nil {
			return nil, err
		}
		working, err := cancelHeld(ch, session, row.Run)
		if err != nil {
			return nil, err
		}
		if working {
			held = append(held, row.Run)
		}
	}
	return held, nil
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
	return announce(ch, now.SessionID, now.ID)
}

// eraseParts erases the copies in parts and reports whether it has changed one.
func eraseParts(parts []shoal.Part, x *copies.Index, person *copies.Eraser) (changed bool, err error) {
	for i := range parts {
		p := &parts[i]
		was, err := shoal.EncodeJSON(storedPart{p.ID, p.ToolCallID, p.Text, p.Error, p.Args, p.Result, p.EditedArgs, p.Data, p.Display, p.Decision})
		if err != nil {
			return changed, err
		}
		now := erase(string(was), x, person)
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
