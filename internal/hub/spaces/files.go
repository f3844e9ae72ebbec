package spaces

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Files keeps uploaded files.
type Files struct{ core *core.Core }

// NewFiles returns the files of a hub.
func NewFiles(c *core.Core) *Files { return &Files{c} }

// Upload stores a file. url makes its URL from its id. TooLarge over
// [shoal.MaxFile] bytes.
func (f *Files) Upload(ctx context.Context, who shoal.Principal, session shoal.SessionID, n shoal.File, data []byte, url func(shoal.FileID) string, idempotencyKey string) (file shoal.File, err error) {
	const op = "hub.Files.Upload"
	n.Size = int64(len(data))
	if err := errors.Join(core.CheckSession(who, session), n.Validate(), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return file, core.Wrap(op, core.FirstError(err))
	}
	type fingerprint struct{ Name, MediaType, Hash string }
	sum := sha256.Sum256(data)
	err = f.core.Change(ctx, op, func(ch *core.Change) (err error) {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		file, _, err = core.Once(ch, who, session, op, idempotencyKey, fingerprint{n.Name, n.MediaType, hex.EncodeToString(sum[:])}, func() (shoal.File, error) {
			if err := f.core.CheckFileQuota(ch, session, who, n.Size); err != nil {
				return shoal.File{}, err
			}
			out := n
			out.ID = shoal.NewID[shoal.FileID](shoal.PrefixFile)
			out.URL = url(out.ID)
			return out, ch.InsertFile(session, out, who.EntityID, ch.At, data)
		})
		return err
	})
	return file, err
}

// Get returns a file to its uploader, to members of the spaces that show it, to
// services and admins. A space shows what is posted there as a file part, and what a
// hosted agent made and names there.
func (f *Files) Get(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.FileID) (out shoal.File, data []byte, err error) {
	err = f.core.View(ctx, "hub.Files.Get", func(tx storage.Tx) error {
		if err := core.CheckSession(who, session); err != nil {
			return err
		}
		if err := core.MaySeeFile(tx, session, id, core.ReaderEntity(who)); err != nil {
			return err
		}
		out, _, data, err = tx.File(session, id)
		return err
	})
	return out, data, err
}

// Delete erases a file. Messages that show it keep their part, whose URL leads nowhere
// any more. Its uploader may, the owner of the agent that uploaded or made it, and admins
// and owners of the session, in closed spaces and sessions too.
func (f *Files) Delete(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.FileID) error {
	return f.core.Change(ctx, "hub.Files.Delete", func(ch *core.Change) error {
		if err := core.CheckSession(who, session); err != nil {
			return err
		}
		if err := core.MaySeeFile(ch, session, id, core.ReaderEntity(who)); err != nil {
			return err
		}
		_, by, err := ch.FileHead(session, id)
		if err != nil {
			return err
		}
		may, err := mayErase(ch, who, session, by)
		if err != nil {
			return err
		}
		if !may {
			return shoal.E("", shoal.Forbidden, "A file is deleted by its uploader, by the owner of the agent that uploaded it, or by an admin or owner of the session.")
		}
		return ch.DeleteFile(session, id)
	})
}

// Usage says what model calls used.
type Usage struct{ core *core.Core }

// NewUsage returns the usage of a hub.
func NewUsage(c *core.Core) *Usage { return &Usage{c} }

// usageGroups are what usage can be grouped by.
var usageGroups = []string{"day", "agent", "model", "run"}

// Sum adds up what was used, grouped. For admins and owners of the session.
func (u *Usage) Sum(ctx context.Context, who shoal.Principal, session shoal.SessionID, q storage.UsageQuery) (out []shoal.UsageRow, err error) {
	const op = "hub.Usage.Sum"
	if err := errors.Join(core.CheckSession(who, session), core.RequireManager(who)); err != nil {
		return nil, core.Wrap(op, core.FirstError(err))
	}
	for i, name := range q.By {
		if !slices.Contains(usageGroups, name) || slices.Contains(q.By[:i], name) {
			return nil, core.Wrap(op, shoal.Invalid("by", "must be of day, agent, model and run, each once"))
		}
	}
	switch {
	case q.Agent != "" && !core.ValidID(q.Agent):
		return nil, core.Wrap(op, core.EntityNotFound(q.Agent))
	case q.Run != "" && !core.ValidID(q.Run):
		return nil, core.Wrap(op, core.RunNotFound(q.Run))
	}
	err = u.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		out, err = tx.Usage(session, q)
		return err
	})
	return out, err
}
