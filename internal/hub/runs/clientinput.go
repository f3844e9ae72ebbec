package runs

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ClientInput returns what the caller's front end sent for a run. It returns nil if there
// is nothing or if another entity sent it.
func (r *Runs) ClientInput(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID) (out *storage.ClientInput, err error) {
	err = r.core.View(ctx, "hub.Runs.ClientInput", func(tx storage.Tx) error {
		if _, err := core.VisibleRun(tx, caller, session, id); err != nil {
			return err
		}
		found, err := findClientInput(tx, session, id)
		if err == nil && found != nil && found.EntityID == caller.EntityID {
			out = found
		}
		return err
	})
	return out, err
}

// findClientInput returns what a front end sent for a run, or nil for nothing.
func findClientInput(tx Tx, session shoal.SessionID, run shoal.RunID) (*storage.ClientInput, error) {
	in, err := tx.ClientInput(session, run)
	if errors.Is(err, shoal.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &in, nil
}

// storeClientInput stores what a front end sent for a new run, or for a queued run that
// gets another trigger. It changes nothing if in is nil.
func storeClientInput(ch *core.Change, r storage.Run, in *storage.ClientInput) error {
	if in == nil {
		return nil
	}
	own := *in
	own.Refused = []string{} // in may come from another run
	return ch.PutClientInput(r.SessionID, r.ID, own)
}
