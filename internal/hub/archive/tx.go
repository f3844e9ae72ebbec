package archive

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx is what the functions of this package read in a transaction, see [core.Tx].
type Tx interface {
	core.Tx
	EachRecord(session shoal.SessionID, t *storage.RecordType, fn func(values []any) error) error
	EmptySession(session shoal.SessionID) (bool, error)
	HasRecord(session shoal.SessionID, t *storage.RecordType, key []any) (bool, error)
	Imports(before shoal.Time) ([]shoal.SessionID, error)
	InsertRecord(session shoal.SessionID, t *storage.RecordType, values []any) error
}
