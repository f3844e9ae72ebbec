package hub

import "github.com/shoal-dev/shoal"

// EditTx changes what posted messages say, keeps what they said before, and keeps the
// reactions to messages.
type EditTx interface {
	// EditMessage stores the parts, mentions, dropped mentions, EditedAt and UpdatedAt of m
	// in the message with its id. What the message said until then becomes its next
	// version; of the versions the first and the newest stay, [shoal.MaxVersions] in all.
	// Unread entries of inboxes are not mentions any more for entities that m does not
	// mention; nothing else in inboxes changes. Searches find the message by what it says
	// now. NotFound for a message that is not there, was not posted or is deleted.
	EditMessage(m shoal.Message) error
	// SetReactions stores all reactions to a message; NotFound for one that is not there.
	SetReactions(session shoal.SessionID, id shoal.MessageID, all []shoal.Reaction) error
	// MessageVersions returns what a message said before it was edited, the newest first:
	// versions below before, or all if it is 0; at most limit.
	MessageVersions(session shoal.SessionID, id shoal.MessageID, before int64, limit int) ([]shoal.MessageVersion, error)
}
