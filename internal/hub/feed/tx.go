package feed

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx is what the functions of this package read in a transaction, see [core.Tx].
type Tx interface {
	runs.Tx
	Composed(session shoal.SessionID, run shoal.RunID) ([]storage.ComposedMessage, error)
	EventEnd(session shoal.SessionID) (int64, error)
	EventFloor(session shoal.SessionID, filter storage.EventFilter) (int64, error)
	Events(session shoal.SessionID, filter storage.EventFilter, after int64, limit int) ([]storage.Event, error)
	Messages(session shoal.SessionID, space shoal.SpaceID, page storage.Page) ([]shoal.Message, error)
	PendingOf(session shoal.SessionID, run shoal.RunID) ([]storage.Pending, error)
	Sessions(after shoal.SessionID, limit int) ([]shoal.Session, error)
	Spaces(session shoal.SessionID, filter storage.SpaceFilter) ([]shoal.Space, error)
	Streaming(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Message, error)
}
