package storage

import (
	"github.com/shoal-dev/shoal"
)

// FileTx stores files.
type FileTx interface {
	InsertFile(session shoal.SessionID, f shoal.File, by shoal.EntityID, at shoal.Time, data []byte) error
	// File returns a file and the entity that uploaded it ("" for none).
	File(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, data []byte, err error)
	// ShowFile records that a space shows the file; it may be repeated.
	ShowFile(session shoal.SessionID, id shoal.FileID, space shoal.SpaceID) error
	// StoredBytes returns the total size of the files that an entity has uploaded or
	// created.
	StoredBytes(session shoal.SessionID, by shoal.EntityID) (int64, error)
	// FileHead is File without the data, which may be large.
	FileHead(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, err error)
	// DeleteFile erases a file with its name, and the stored response to the idempotency
	// key that it was uploaded under.
	DeleteFile(session shoal.SessionID, id shoal.FileID) error
	// FileShownTo returns the spaces of an entity that show the file, or of anybody if entity is
	// empty, in any order.
	FileShownTo(session shoal.SessionID, id shoal.FileID, entity shoal.EntityID) ([]shoal.SpaceID, error)
}
