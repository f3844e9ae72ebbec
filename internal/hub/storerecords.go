package hub

import "github.com/shoal-dev/shoal"

// RecordTx reads and writes a whole session as the records of an export, see
// [RecordTypes]. Values stand in the order of the type's fields.
//
// A session that is being imported is hidden: nothing but the methods here finds
// it, nor what is in it, whatever is due or could be claimed. At is when its import
// last made itself felt, token which import that is.
type RecordTx interface {
	// EachRecord calls fn with each record of a type, in the order of the export; the
	// values are fn's to read until it returns. fn must not use the transaction.
	// However many there are, memory holds one. An error of fn ends it.
	EachRecord(session shoal.SessionID, t *RecordType, fn func(values []any) error) error
	// InsertRecord stores a record that [RecordType.Parse] has accepted;
	// AlreadyExists when the session has it.
	InsertRecord(session shoal.SessionID, t *RecordType, values []any) error
	// HasRecord reports whether the session has the record of a type with this key.
	HasRecord(session shoal.SessionID, t *RecordType, key []any) (bool, error)
	// EmptySession reports whether a session has neither spaces nor runs, hosted
	// agents, files or renderers, and never had any hosted agent.
	EmptySession(session shoal.SessionID) (bool, error)
	// BeginImport makes a hidden session. AlreadyExists when the id is or was taken.
	BeginImport(session shoal.SessionID, token string, at shoal.Time) error
	// TouchImport notes that an import goes on; NotFound when it was dropped.
	TouchImport(session shoal.SessionID, token string, at shoal.Time) error
	// EndImport shows a hidden session as s says. When s has another id, that session
	// must be there: all that it holds but its keys gives way to what was imported,
	// and cursors of its events count as too old. Conflict when the timelines or
	// inboxes have gaps.
	EndImport(session shoal.SessionID, token string, s shoal.Session) error
	// DropImport erases a part of a hidden session and reports whether any of it is
	// left; its id is free when nothing is. One that is not there is no error.
	DropImport(session shoal.SessionID) (left bool, err error)
	// Imports returns the hidden sessions whose imports were last felt before a time.
	Imports(before shoal.Time) ([]shoal.SessionID, error)
}
