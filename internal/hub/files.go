package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
)

// Files keeps uploaded files.
type Files struct{ *core }

// NewFiles returns the files of a hub.
func NewFiles(c *core) *Files { return &Files{c} }

// Upload stores a file. url makes its URL from its id. TooLarge over
// [shoal.MaxFile] bytes.
func (f *Files) Upload(ctx context.Context, who shoal.Principal, session shoal.SessionID, n shoal.File, data []byte, url func(shoal.FileID) string, idempotencyKey string) (made shoal.File, err error) {
	const op = "hub.Files.Upload"
	n.Size = int64(len(data))
	if err := errors.Join(enter(who, session), n.Validate(), checkOnce(idempotencyKey)); err != nil {
		return made, wrap(op, first(err))
	}
	type ask struct{ Name, MediaType, Hash string }
	sum := sha256.Sum256(data)
	err = f.change(ctx, op, func(ch *change) (err error) {
		if err := openSession(ch, session); err != nil {
			return err
		}
		made, _, err = once(ch, who, session, op, idempotencyKey, ask{n.Name, n.MediaType, hex.EncodeToString(sum[:])}, func() (shoal.File, error) {
			if err := f.mayStore(ch, session, who, n.Size); err != nil {
				return shoal.File{}, err
			}
			out := n
			out.ID = shoal.NewID[shoal.FileID](shoal.PrefixFile)
			out.URL = url(out.ID)
			return out, ch.InsertFile(session, out, who.EntityID, ch.at, data)
		})
		return err
	})
	return made, err
}

// Get returns a file to its uploader, to members of the spaces that show it, to
// services and admins. A space shows what is posted there as a file part, and what a
// hosted agent made and names there.
func (f *Files) Get(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.FileID) (out shoal.File, data []byte, err error) {
	err = f.view(ctx, "hub.Files.Get", func(tx Tx) error {
		if err := enter(who, session); err != nil {
			return err
		}
		if err := maySeeFile(tx, session, id, reader(who)); err != nil {
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
	return f.change(ctx, "hub.Files.Delete", func(ch *change) error {
		if err := enter(who, session); err != nil {
			return err
		}
		if err := maySeeFile(ch, session, id, reader(who)); err != nil {
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

// maySeeFile refuses a file that reader may not see as one that is not there; an
// empty reader may see all.
func maySeeFile(tx Tx, session shoal.SessionID, id shoal.FileID, reader shoal.EntityID) error {
	missing := shoal.E("", shoal.NotFound, fmt.Sprintf("There is no file %q among those that you have uploaded or that your spaces show.", id))
	if !mayBe(session) || !mayBe(id) {
		return missing
	}
	_, by, err := tx.FileHead(session, id)
	if errors.Is(err, shoal.NotFound) {
		return missing
	}
	if err != nil || reader == "" || by == reader {
		return err
	}
	shown, err := tx.FileShownTo(session, id, reader)
	if err == nil && !shown {
		err = missing
	}
	return err
}

// showFiles notes that a message's space shows the files of this server that are
// in it. The sender must be able to see them itself.
func showFiles(ch *change, m shoal.Message) error {
	for i, p := range m.Parts {
		session, file, here := p.File()
		if !here {
			continue
		}
		missing := session != m.SessionID
		if !missing {
			err := maySeeFile(ch, session, file, m.EntityID)
			if missing = errors.Is(err, shoal.NotFound); err != nil && !missing {
				return err
			}
		}
		if missing {
			return shoal.Invalid(fmt.Sprintf("parts[%d].url", i), "names no file of this session that the sender may see; upload it first")
		}
		if err := ch.ShowFile(session, file, m.SpaceID); err != nil {
			return err
		}
	}
	return nil
}

// Usage says what model calls used.
type Usage struct{ *core }

// NewUsage returns the usage of a hub.
func NewUsage(c *core) *Usage { return &Usage{c} }

// usageNames are what usage can be grouped by.
var usageNames = []string{"day", "agent", "model", "run"}

// Sum adds up what was used, grouped. For admins and owners of the session.
func (u *Usage) Sum(ctx context.Context, who shoal.Principal, session shoal.SessionID, q UsageQuery) (out []shoal.UsageRow, err error) {
	const op = "hub.Usage.Sum"
	if err := errors.Join(enter(who, session), managersOnly(who)); err != nil {
		return nil, wrap(op, first(err))
	}
	for i, name := range q.By {
		if !slices.Contains(usageNames, name) || slices.Contains(q.By[:i], name) {
			return nil, wrap(op, shoal.Invalid("by", "must be of day, agent, model and run, each once"))
		}
	}
	switch {
	case q.Agent != "" && !mayBe(q.Agent):
		return nil, wrap(op, noEntity(q.Agent))
	case q.Run != "" && !mayBe(q.Run):
		return nil, wrap(op, noRun(q.Run))
	}
	err = u.view(ctx, op, func(tx Tx) error {
		if _, err := sessionOf(tx, session); err != nil {
			return err
		}
		out, err = tx.Usage(session, q)
		return err
	})
	return out, err
}
