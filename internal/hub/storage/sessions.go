package storage

import (
	"github.com/shoal-dev/shoal"
)

// SessionTx stores sessions.
type SessionTx interface {
	Session(id shoal.SessionID) (shoal.Session, error)
	// Sessions lists sessions in the order of ids, starting after the given one.
	Sessions(after shoal.SessionID, limit int) ([]shoal.Session, error)
	// InsertSession fails with AlreadyExists also for the id of a deleted session.
	InsertSession(s shoal.Session) error
	CloseSession(id shoal.SessionID, at shoal.Time) error
	// UpdateSession stores the limits, the space rights and the retention of a session.
	UpdateSession(s shoal.Session) error
	// DeleteSession erases the session and everything that belongs to it, including its
	// keys. The id cannot be used again.
	DeleteSession(id shoal.SessionID) error
}
