// Package audits reads the audit log, and records the calls that the server refuses. What is carried
// out is recorded by the operations themselves, in their transactions: see [core.Change.Record].
package audits

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Tx is what the functions of this package read in a transaction, see [core.Tx].
type Tx interface {
	core.Tx
	Audit(session shoal.SessionID, filter storage.AuditFilter) ([]audit.Record, error)
	AuditHead(session shoal.SessionID) (audit.Head, error)
}

// Audits is the audit log of a hub. It is safe for concurrent use.
type Audits struct {
	core *core.Core

	mu       sync.Mutex
	refusals map[refusal]int64
	others   int64   // refusals for which there was no room
	credit   float64 // how many records of refusals may be stored now
	earnedAt time.Time
}

// NewAudits returns the audit log of a hub.
func NewAudits(c *core.Core) *Audits {
	return &Audits{core: c, refusals: map[refusal]int64{}, credit: maxCredit, earnedAt: time.Now()}
}

// List returns the records of a session that match a filter, the newest first, and the head of its
// chain at the same moment. For admins, and for owners, admins and auditors of the session. Admins also
// read the log of a session that was deleted.
func (a *Audits) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, filter storage.AuditFilter) (out []audit.Record, head audit.Head, err error) {
	const op = "hub.Audits.List"
	err = a.core.View(ctx, op, func(tx storage.Tx) error {
		if err := mayRead(caller, session); err != nil {
			return err
		}
		out, head, err = read(tx, session, filter)
		if err != nil || head.Seq > 0 {
			return err
		}
		_, err = core.FindSession(tx, session)
		return err
	})
	return out, head, err
}

// ListServer is List for what belongs to no session. Admins only.
func (a *Audits) ListServer(ctx context.Context, caller shoal.Principal, filter storage.AuditFilter) (out []audit.Record, head audit.Head, err error) {
	const op = "hub.Audits.ListServer"
	if err := core.RequireAdmin(caller); err != nil {
		return nil, head, core.Wrap(op, err)
	}
	err = a.core.View(ctx, op, func(tx storage.Tx) error {
		out, head, err = read(tx, "", filter)
		return err
	})
	return out, head, err
}

func read(tx Tx, session shoal.SessionID, filter storage.AuditFilter) ([]audit.Record, audit.Head, error) {
	head, err := tx.AuditHead(session)
	if err != nil {
		return nil, head, err
	}
	out, err := tx.Audit(session, filter)
	return out, head, err
}

// mayRead checks that the caller may read the audit log of a session.
func mayRead(caller shoal.Principal, session shoal.SessionID) error {
	if err := core.CheckSession(caller, session); err != nil {
		return err
	}
	if !core.ValidID(session) {
		return core.SessionNotFound(session)
	}
	if err := core.May(caller, roles.ReadAudit); err == nil || caller.Scopes != "" {
		return err
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only admins, and owners, admins and auditors of the session %q, may read its audit log.", session))
}
