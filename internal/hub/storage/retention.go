package storage

import (
	"github.com/shoal-dev/shoal"
)

// RetentionTx finds and erases what a session no longer keeps. [RequestTx.DropRequests] belongs to
// it, too.
type RetentionTx interface {
	// OldMessages returns the first limit messages after a position, in the order of their spaces and
	// then of seq, that were posted before a time, are complete and not deleted, and do not show a
	// pending action that is open.
	OldMessages(session shoal.SessionID, before shoal.Time, after MessagePosition, limit int) ([]shoal.Message, error)
	// DropRuns erases at most limit runs that ended before a time, with everything that they stored
	// except their usage and their messages, and as many pending actions without a run that were
	// settled before. It returns how many in all. The conversations of sub-agents of a run go with
	// it, and with the last run of a conversation what is stored about that. A run stays while another one has not ended that
	// has the same root or conversation or is part of it. Followers of its spaces that have not
	// received its events get a snapshot.
	DropRuns(session shoal.SessionID, before shoal.Time, limit int) (int, error)
}
