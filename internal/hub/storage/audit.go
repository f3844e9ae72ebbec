package storage

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
)

// AuditTx stores the audit log. A chain is named by its session, and that of the server by an empty
// session. Deleting a session leaves its chain.
type AuditTx interface {
	// AppendAudit appends a record to the chain of its session, and returns it with its number
	// and hashes. Of transactions that append to one chain at the same time, one waits for the
	// end of the other; a transaction appends to the chain of the server after it has locked
	// everything else.
	AppendAudit(r audit.Record) (audit.Record, error)
	// Audit lists the records of a chain that match a filter, the newest first.
	Audit(session shoal.SessionID, filter AuditFilter) ([]audit.Record, error)
	// AuditHead returns the head of a chain, which is stored apart from its records; the zero
	// head of a chain without records.
	AuditHead(session shoal.SessionID) (audit.Head, error)
}

// AuditFilter selects records of a chain. An empty field selects all.
type AuditFilter struct {
	// By is the id of a key, of a sign-in, or of an entity that made the call or that an admin
	// acted as.
	By string
	// Acts are the acts to select.
	Acts     []audit.Act
	Decision audit.Decision
	// Target is the id of what the act changed.
	Target string
	// Since and Until are the times from which and before which records are selected.
	Since, Until *shoal.Time
	// Before is the number before which records are selected, 0 for the end.
	Before int64
	Limit  int
}
