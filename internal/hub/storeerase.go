package hub

import "github.com/shoal-dev/shoal"

// EraseTx finds messages by their ids and erases them.
type EraseTx interface {
	// MessageByID is NotFound for one that is in no space of the session.
	MessageByID(session shoal.SessionID, id shoal.MessageID) (shoal.Message, error)
	// EraseMessage leaves of a message that is finished what says that there was one: it
	// has no parts and mentions nobody, DeletedAt is set, no search finds it, and in
	// inboxes it is not a mention any more. The key that it was posted under stays.
	EraseMessage(session shoal.SessionID, id shoal.MessageID, at shoal.Time) error
	// RewriteTraces calls rewrite for every JSON value or text of the session that may
	// hold a copy of a message, and stores what it returns if that is different. Messages
	// and what models were sent are left out.
	RewriteTraces(session shoal.SessionID, t Traces, rewrite func(text string) string) error
}

// Traces says by what copies of a message are recognized: they name its id, belong to
// the run that wrote it, or hold one of some pieces of text, which mean the same inside
// and outside of JSON.
type Traces struct {
	Message shoal.MessageID
	Run     shoal.RunID // empty for a posted message
	Pieces  []string
}
