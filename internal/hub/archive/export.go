package archive

import (
	"context"
	"fmt"
	"io"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Archive exports and imports sessions.
type Archive struct{ core *core.Core }

// NewArchive returns the archive of a hub.
func NewArchive(c *core.Core) *Archive { return &Archive{c} }

// Export writes a session to w as JSON lines, as docs/export.md describes: the head, the
// records of [storage.RecordTypes] in their order, and a last line with counts and a
// digest. Two exports of an unchanged session differ only in the head. server is the
// version of the server, which the head states. For admins and owners of the session.
//
// The export shows one moment of the session: one transaction reads it while other calls
// can write. Only one record at a time is in memory. The transaction lasts until w has
// accepted all lines, so w must not be a client that can be slow.
func (a *Archive) Export(ctx context.Context, caller shoal.Principal, id shoal.SessionID, server string, w io.Writer) error {
	const op = "hub.Archive.Export"
	if err := core.Authorize(caller, id, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	if err := a.core.RecordAct(ctx, op, caller, id, audit.SessionExport, audit.Target{Kind: "session", ID: string(id)}); err != nil {
		return err
	}
	return a.core.View(ctx, op, func(tx storage.Tx) error {
		session, err := core.FindSession(tx, id)
		if err != nil {
			return err
		}
		head, err := shoal.EncodeJSON(exportHead{"export", ExportVersion, server, id, shoal.Now()})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(head, '\n')); err != nil {
			return err
		}
		e := exporter{ctx: ctx, w: w, sum: newExportSum()}
		var closed any
		if session.ClosedAt != nil {
			closed = *session.ClosedAt
		}
		if err := e.writeRecord(storage.SessionRecord, []any{session.Name, string(session.Status), session.CreatedAt, closed, session.Limits.MaxCostPerRequest, session.Limits.MaxTokensPerRequest, string(session.SpaceRights), session.Retention.MessagesForMs, session.Retention.RunsForMs, session.Retention.PromptsForMs}); err != nil {
			return err
		}
		for _, t := range storage.RecordTypes[1:] {
			if err := tx.EachRecord(id, t, func(values []any) error { return e.writeRecord(t, values) }); err != nil {
				return err
			}
		}
		_, err = w.Write(e.sum.endLine())
		return err
	})
}

// exporter writes the records of an export.
type exporter struct {
	ctx  context.Context
	w    io.Writer
	sum  exportSum
	line []byte
}

func (e *exporter) writeRecord(t *storage.RecordType, values []any) (err error) {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if e.line, err = t.Append(e.line[:0], values); err != nil {
		return err
	}
	if len(e.line) > storage.MaxRecordLine {
		return shoal.E("", shoal.TooLarge, fmt.Sprintf("A %s of the session has more than %d bytes as a line, which no import would take.", t.Name, storage.MaxRecordLine))
	}
	e.sum.add(t, e.line)
	_, err = e.w.Write(e.line)
	return err
}
