package core

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// AuditOptions configure the audit log. The zero value records every act in the store.
type AuditOptions struct {
	// Off records nothing.
	Off bool
	// Required refuses acts, with Busy, while Copy cannot take their records.
	Required bool
	// Copy receives the records after they are durable, in the order of each chain; nil for no
	// copy.
	Copy AuditCopy
}

// AuditCopy is a second place for the records of the audit log.
type AuditCopy interface {
	// Write stores records. It does not fail: what it cannot store it keeps, within limits, and
	// tries again later.
	Write(records []audit.Record)
	// Err returns why records cannot be stored now, or nil.
	Err() error
}

// Record appends an act of the caller to the audit log, in the transaction of the act itself: both
// are durable or neither is. session is the session whose chain it belongs to, empty for the
// server's, which must be appended to last. details are names and values; they must contain no text
// of messages and no secret. An empty Principal means the server itself.
func (ch *Change) Record(caller shoal.Principal, session shoal.SessionID, act audit.Act, target audit.Target, details ...string) error {
	r := audit.Record{Act: act, Decision: audit.Allowed, Target: target, Details: map[string]string{}, Count: 1}
	for i := 1; i < len(details); i += 2 {
		r.Details[details[i-1]] = details[i]
	}
	r.By(caller)
	origin := audit.OriginOf(ch.ctx)
	r.Address, r.RequestID = origin.Address, origin.RequestID
	return ch.AppendRecord(session, r)
}

// AppendRecord is [Change.Record] with a record that needs only its session, time and place. It always
// appends records of refusals: nothing was done that could be refused instead.
func (ch *Change) AppendRecord(session shoal.SessionID, r audit.Record) error {
	o := ch.Core.Audit
	if o.Off {
		return nil
	}
	if o.Required && o.Copy != nil && r.Decision == audit.Allowed {
		if err := o.Copy.Err(); err != nil {
			return &shoal.Error{
				Kind: shoal.Busy, Err: err,
				Msg: "The server records every such call (--audit required), and cannot write its audit log now. Nothing was done; an admin has to check the file of --audit-log.",
			}
		}
	}
	if r.At = ch.At; session != "" {
		r.SessionID = &session
	}
	r, err := ch.AppendAudit(r)
	if err == nil && o.Copy != nil {
		if ch.recorded == nil {
			ch.OnCommit(func() { o.Copy.Write(ch.recorded) })
		}
		ch.recorded = append(ch.recorded, r)
	}
	return err
}

// RecordAct records an act that changes nothing in the store, before it is carried out. It fails
// with NotFound for an unknown session, and otherwise only if the audit log is required: a failure is
// logged.
func (c *Core) RecordAct(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, act audit.Act, target audit.Target, details ...string) error {
	at := storage.NoSession
	if session != "" {
		at = storage.In(session)
	}
	err := c.Change(ctx, op, at, func(ch *Change) error {
		if session != "" {
			if _, err := FindSession(ch, session); err != nil {
				return err
			}
		}
		return ch.Record(caller, session, act, target, details...)
	})
	if err != nil && !c.Audit.Required && !errors.Is(err, shoal.NotFound) {
		c.Log.Error("an act could not be recorded in the audit log", "act", act, "session", session, "key", caller.KeyID, "error", err)
		return nil
	}
	return err
}
