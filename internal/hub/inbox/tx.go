package inbox

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx is what the functions of this package read in a transaction, see [core.Tx].
type Tx interface {
	core.Tx
	Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, upTo int64, known []storage.DeliveredEntry) (storage.Acknowledged, error)
	DeletedSpace(session shoal.SessionID, id shoal.SpaceID) (bool, error)
	EventEnd(session shoal.SessionID) (int64, error)
	Explicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) (bool, error)
	InboxEnd(session shoal.SessionID) (int64, error)
	PlaceOfEvent(session shoal.SessionID, event int64) (int64, error)
	SetExplicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) error
	Unread(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, limit int) ([]storage.InboxEntry, error)
}
