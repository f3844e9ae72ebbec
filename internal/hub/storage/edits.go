package storage

import (
	"github.com/shoal-dev/shoal"
)

// EditTx edits posted messages and stores their earlier versions, and stores the
// reactions to messages.
type EditTx interface {
	// EditMessage stores the parts, mentions, dropped mentions, EditedAt and UpdatedAt of m
	// in the message with its id. The previous content becomes the next version; of the
	// versions, the first and the newest are kept, [shoal.MaxVersions] in all. Unread inbox
	// entries of entities that m does not mention stop being mentions; nothing else in
	// inboxes changes. Searches find the message by its new content. EditMessage fails with
	// NotFound for a message that does not exist, was not posted or is deleted.
	EditMessage(m shoal.Message) error
	// SetReactions replaces all reactions to a message; NotFound if it does not exist.
	SetReactions(session shoal.SessionID, id shoal.MessageID, all []shoal.Reaction) error
	// MessageVersions returns the earlier versions of an edited message, the newest first:
	// at most limit versions below before, or below any if before is 0.
	MessageVersions(session shoal.SessionID, id shoal.MessageID, before int64, limit int) ([]shoal.MessageVersion, error)
}
