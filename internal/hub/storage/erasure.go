package storage

import (
	"github.com/shoal-dev/shoal"
)

// EraseTx finds messages by their ids and erases them.
type EraseTx interface {
	// MessageByID fails with NotFound for a message that is not in any space of the
	// session.
	MessageByID(session shoal.SessionID, id shoal.MessageID) (shoal.Message, error)
	// EraseMessage replaces a completed message by its tombstone: it has no parts and no
	// mentions, DeletedAt is set, searches do not find it, and in inboxes it stops being a
	// mention. The key that it was posted under remains.
	EraseMessage(session shoal.SessionID, id shoal.MessageID, at shoal.Time) error
	// RewriteCopies calls rewrite for every JSON value or text of the session that may
	// contain a copy of a message, and stores the returned text if it is different. It
	// skips messages and model requests.
	RewriteCopies(session shoal.SessionID, t MessageCopies, rewrite func(text string) string) error
}

// MessageCopies identifies copies of a message: they contain its id, belong to the run that
// wrote it, or contain one of some pieces of text that read the same inside and outside
// of JSON.
type MessageCopies struct {
	Message shoal.MessageID
	Run     shoal.RunID // empty for a posted message
	Pieces  []string
}
