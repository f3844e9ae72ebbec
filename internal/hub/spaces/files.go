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
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Files stores uploaded files.
type Files struct{ core *core.Core }

// NewFiles returns the files of a hub.
func NewFiles(c *core.Core) *Files { return &Files{c} }

// Upload stores a file. url returns the URL of a file from its id. Upload fails with
// TooLarge for more than [shoal.MaxFile] bytes, and with Conflict if the caller has used
// its quota.
func (f *Files) Upload(ctx context.Context, caller shoal.Principal, session shoal.SessionID, n shoal.File, data []byte, url func(shoal.FileID) string, idempotencyKey string) (file shoal.File, err error) {
	const op = "hub.Files.Upload"
	n.Size = int64(len(data))
	if err := errors.Join(core.Authorize(caller, session, roles.Post), n.Validate(), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return file, core.Wrap(op, core.FirstError(err))
	}
	type fingerprint struct{ Name, MediaType, Hash string }
	sum := sha256.Sum256(data)
	err = f.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		file, _, err = core.Once(ch, caller, session, op, idempotencyKey, fingerprint{n.Name, n.MediaType, hex.EncodeToString(sum[:])}, func() (shoal.File, error) {
			if err := f.core.CheckFileQuota(ch, session, caller, n.Size); err != nil {
				return shoal.File{}, err
			}
			out := n
			out.ID = shoal.NewID[shoal.FileID](shoal.PrefixFile)
			out.URL = url(out.ID)
			return out, ch.InsertFile(session, out, caller.EntityID, ch.At, data)
		})
		return err
	})
	return file, err
}

// Get returns a file to its uploader, to members of the spaces that show it, and to
// services and admins. A space shows the files that are posted there as file parts, and
// those that a hosted agent has created and names there. For other callers Get fails with
// NotFound.
func (f *Files) Get(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.FileID) (out shoal.File, data []byte, err error) {
	err = f.core.View(ctx, "hub.Files.Get", func(tx storage.Tx) error {
		if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
			return err
		}
		if err := maySeeFile(tx, caller, session, id); err != nil {
			return err
		}
		out, _, data, err = tx.File(session, id)
		return err
	})
	return out, data, err
}

// Delete erases a file. Messages that show it keep their part, whose URL is not found from
// then on. For its uploader, the owner of the agent that uploaded or created it, and admins
// and owners of the session, in closed spaces and sessions too.
func (f *Files) Delete(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.FileID) error {
	return f.core.Change(ctx, "hub.Files.Delete", storage.In(session), func(ch *core.Change) error {
		if err := core.Authorize(caller, session, roles.Post); err != nil {
			return err
		}
		if err := maySeeFile(ch, caller, session, id); err != nil {
			return err
		}
		_, by, err := ch.FileHead(session, id)
		if err != nil {
			return err
		}
		may, err := mayErase(ch, caller, session, by)
		if err != nil {
			return err
		}
		if !may {
			return shoal.E("", shoal.Forbidden, "Only its uploader, the owner of the agent that uploaded it, or an admin or owner of the session can delete a file.")
		}
		return ch.DeleteFile(session, id)
	})
}

// maySeeFile is [core.MaySeeFile] for a caller. A key that is limited to spaces sees, besides what its
// entity has uploaded, what these spaces show.
func maySeeFile(tx Tx, caller shoal.Principal, session shoal.SessionID, id shoal.FileID) error {
	reader := core.ReaderEntity(caller)
	if err := core.MaySeeFile(tx, session, id, reader); err != nil {
		return err
	}
	if _, limited := scopes.Spaces(caller.Scopes); !limited {
		return nil
	}
	_, by, err := tx.FileHead(session, id)
	if err != nil || by == caller.EntityID {
		return err
	}
	shown, err := tx.FileShownTo(session, id, reader)
	if err == nil && !slices.ContainsFunc(shown, func(s shoal.SpaceID) bool { return scopes.AllowSpace(caller.Scopes, s) }) {
		err = core.FileNotFound(id)
	}
	return err
}

// mayShowFiles rejects a message with files that the key of its sender does not reach.
func mayShowFiles(tx Tx, caller shoal.Principal, session shoal.SessionID, parts []shoal.Part) error {
	if caller.Scopes == "" {
		return nil
	}
	for _, p := range parts {
		if in, file, here := p.File(); here && in == session {
			if err := maySeeFile(tx, caller, session, file); err != nil {
				return err
			}
		}
	}
	return nil
}
