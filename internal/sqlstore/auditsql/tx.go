// Package auditsql is the SQL of the audit log.
package auditsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Tx reads and appends to the audit log in the current transaction of a connection.
type Tx struct{ c *sqlconn.Conn }

// New returns the Tx of a connection.
func New(c *sqlconn.Conn) *Tx { return &Tx{c} }

const columns = `session_id, seq, at, act, decision, role, key_id, sign_in, entity_id, acting_as, target_kind, target_id, details, address, request_id, count, prev_hash, hash`

func recordOf(r *sqlconn.Rows) audit.Record {
	out := audit.Record{
		SessionID: idOrNil[shoal.SessionID](r.Text(0)), Seq: r.Int(1), At: r.Time(2), Act: audit.Act(r.Text(3)), Decision: audit.Decision(r.Text(4)),
		Role: audit.Role(r.Text(5)), KeyID: shoal.KeyID(r.Text(6)), SignInID: shoal.KeyID(r.Text(7)),
		EntityID: idOrNil[shoal.EntityID](r.Text(8)), ActingAs: idOrNil[shoal.EntityID](r.Text(9)),
		Target: audit.Target{Kind: r.Text(10), ID: r.Text(11)}, Address: r.Text(13), RequestID: r.Text(14), Count: r.Int(15), PrevHash: r.Text(16), Hash: r.Text(17),
	}
	r.Decode(r.Text(12), &out.Details)
	return out
}

func idOrNil[T ~string](id string) *T {
	if id == "" {
		return nil
	}
	out := T(id)
	return &out
}

func textOf[T ~string](id *T) string {
	if id == nil {
		return ""
	}
	return string(*id)
}

func headOf(r *sqlconn.Rows) audit.Head { return audit.Head{Seq: r.Int(0), Hash: r.Text(1)} }

// AppendAudit implements [storage.AuditTx]. The first statement locks the head, also where
// transactions write at the same time.
func (t *Tx) AppendAudit(r audit.Record) (audit.Record, error) {
	_, err := t.c.Exec(`INSERT INTO audit_heads (session_id, seq, hash) VALUES ($1, 0, '') ON CONFLICT (session_id) DO UPDATE SET seq = audit_heads.seq`, r.Session())
	if err != nil {
		return r, err
	}
	head, err := t.AuditHead(r.Session())
	if err != nil {
		return r, err
	}
	if head, err = r.Link(head); err != nil {
		return r, err
	}
	details, err := sqlconn.Encode(r.Details)
	if err != nil {
		return r, err
	}
	_, err = t.c.Exec(`INSERT INTO audit (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		r.Session(), r.Seq, r.At, string(r.Act), string(r.Decision), string(r.Role), r.KeyID, r.SignInID, textOf(r.EntityID), textOf(r.ActingAs), r.Target.Kind, r.Target.ID,
		details, r.Address, r.RequestID, r.Count, r.PrevHash, r.Hash)
	if err != nil {
		return r, err
	}
	_, err = t.c.Exec(`UPDATE audit_heads SET seq = $2, hash = $3 WHERE session_id = $1`, r.Session(), head.Seq, head.Hash)
	return r, err
}

// AuditHead implements [storage.AuditTx].
func (t *Tx) AuditHead(session shoal.SessionID) (audit.Head, error) {
	head, _, err := sqlconn.One(t.c, headOf, `SELECT seq, hash FROM audit_heads WHERE session_id = $1`, session)
	return head, err
}

// Audit implements [storage.AuditTx].
func (t *Tx) Audit(session shoal.SessionID, f storage.AuditFilter) ([]audit.Record, error) {
	var b sqlconn.Builder
	b.Add(`SELECT `+columns+` FROM audit WHERE session_id = ?`, session)
	if f.Before > 0 {
		b.Add(` AND seq < ?`, f.Before)
	}
	if f.By != "" {
		b.Add(` AND (entity_id = ? OR acting_as = ? OR key_id = ? OR sign_in = ?)`, f.By, f.By, f.By, f.By)
	}
	if len(f.Acts) > 0 {
		acts := make([]string, len(f.Acts))
		for i, act := range f.Acts {
			acts[i] = string(act)
		}
		sqlconn.AddIn(&b, ` AND act IN (?)`, acts)
	}
	if f.Decision != "" {
		b.Add(` AND decision = ?`, string(f.Decision))
	}
	if f.Target != "" {
		b.Add(` AND target_id = ?`, f.Target)
	}
	if f.Since != nil {
		b.Add(` AND at >= ?`, *f.Since)
	}
	if f.Until != nil {
		b.Add(` AND at < ?`, *f.Until)
	}
	b.Add(` ORDER BY seq DESC` + sqlconn.Limit(f.Limit))
	return sqlconn.ListFirst(t.c, f.Limit, recordOf, b.Text(), b.Args...)
}
