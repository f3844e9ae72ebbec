package spaces

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx is what the functions of this package read in a transaction, see [core.Tx].
type Tx interface {
	core.Tx
	EntityNames(session shoal.SessionID, ids []shoal.EntityID) (map[shoal.EntityID]string, error)
	File(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, data []byte, err error)
	LeftSpaces(limit int) ([]storage.DeletedSpace, error)
	Member(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (shoal.Member, error)
	Members(session shoal.SessionID, space shoal.SpaceID, after shoal.EntityID, limit int) ([]shoal.Member, error)
	MessageByID(session shoal.SessionID, id shoal.MessageID) (shoal.Message, error)
	MessageByKey(session shoal.SessionID, scope string, key string) (shoal.Message, string, error)
	MessageVersions(session shoal.SessionID, id shoal.MessageID, before int64, limit int) ([]shoal.MessageVersion, error)
	Messages(session shoal.SessionID, space shoal.SpaceID, page storage.Page) ([]shoal.Message, error)
	RendererPage(session shoal.SessionID, name shoal.RendererName, version int) (shoal.Renderer, []byte, error)
	Renderers(session shoal.SessionID, after shoal.RendererName, limit int) ([]shoal.Renderer, error)
	RunSteps(session shoal.SessionID, run shoal.RunID) ([]storage.Step, error)
	Search(session shoal.SessionID, query storage.SearchQuery) (storage.SearchResult, error)
	Spaces(session shoal.SessionID, filter storage.SpaceFilter) ([]shoal.Space, error)
	Streaming(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Message, error)
	Usage(session shoal.SessionID, q storage.UsageQuery) ([]shoal.UsageRow, error)
}

// receiptTx is what receipts are read from.
type receiptTx interface {
	Tx
	runs.Tx
	Composed(session shoal.SessionID, run shoal.RunID) ([]storage.ComposedMessage, error)
	Mentions(session shoal.SessionID, space shoal.SpaceID, seq int64, entities []shoal.EntityID) ([]storage.Mention, error)
}
