package storage

import (
	"github.com/shoal-dev/shoal"
)

// RecordTx reads and writes a whole session as the records of an export, see
// [RecordTypes]. Values are in the order of the type's fields.
//
// A session that is being imported is hidden: only the methods here find it and its
// content, and nothing in it becomes due or claimable. The parameter at is when the import
// was last active; token identifies the import.
type RecordTx interface {
	// EachRecord calls fn with each record of a type, in the order of the export; the
	// values are fn's to read until it returns. fn must not use the transaction.
	// Only one record at a time is in memory. An error of fn ends the iteration.
	EachRecord(session shoal.SessionID, t *RecordType, fn func(values []any) error) error
	// InsertRecord stores a record that [RecordType.Parse] has accepted. It fails with
	// AlreadyExists when the session already has it.
	InsertRecord(session shoal.SessionID, t *RecordType, values []any) error
	// HasRecord reports whether the session has a record of this type with this key.
	HasRecord(session shoal.SessionID, t *RecordType, key []any) (bool, error)
	// EmptySession reports whether a session has no spaces, runs, hosted agents, files or
	// renderers, and never had a hosted agent.
	EmptySession(session shoal.SessionID) (bool, error)
	// BeginImport creates a hidden session; AlreadyExists when the id is or was in use.
	BeginImport(session shoal.SessionID, token string, at shoal.Time) error
	// TouchImport records that an import is still active; NotFound when it was dropped.
	TouchImport(session shoal.SessionID, token string, at shoal.Time) error
	// EndImport makes a hidden session visible as s. When s has another id, that session
	// must exist: the imported data replaces everything in it except its keys, and cursors
	// of its events count as too old. It fails with Conflict when the timelines or inboxes
	// have gaps.
	EndImport(session shoal.SessionID, token string, s shoal.Session) error
	// DropImport erases a part of a hidden session and reports whether anything is left.
	// When nothing is left, its id can be used again. A session that does not exist is not
	// an error.
	DropImport(session shoal.SessionID) (left bool, err error)
	// Imports returns the hidden sessions whose imports were last active before a time.
	Imports(before shoal.Time) ([]shoal.SessionID, error)
}
