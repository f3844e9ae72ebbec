package run

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// storeFile stores a file that a tool made.
func (x *execution) storeFile(ctx context.Context, f shoal.File, data []byte) (stored shoal.File, err error) {
	err = x.writeUntil(ctx, func(c *runs.RunChange) (err error) {
		stored, err = c.AddFile(f, data)
		return err
	})
	return stored, err
}

// readFile returns the bytes of a file that the agent may see: one that it uploaded, or
// that a message shows to it. It returns nil for any other file.
func (x *execution) readFile(ctx context.Context, session shoal.SessionID, id shoal.FileID) (data []byte, err error) {
	if session != x.run.SessionID {
		return nil, nil
	}
	err = x.read(ctx, func(tx storage.Tx) error {
		_, uploader, stored, err := tx.File(session, id)
		if err != nil {
			return err
		}
		visible := uploader == x.run.AgentID
		if !visible {
			var shown []shoal.SpaceID
			shown, err = tx.FileShownTo(session, id, x.run.AgentID)
			visible = len(shown) > 0
		}
		if visible {
			data = stored
		}
		return err
	})
	if errors.Is(err, shoal.NotFound) {
		return nil, nil
	}
	return data, err
}

// conversationSoFar returns the messages of the run's conversation, for tools that read
// them.
func (x *execution) conversationSoFar(ctx context.Context) ([]agent.Message, error) {
	r, err := x.store.Load(ctx, string(x.run.ID))
	return r.Messages, err
}
