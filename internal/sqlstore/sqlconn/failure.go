package sqlconn

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Fault is what an error of the database means for the transaction in which it occurred.
type Fault int

// The faults.
const (
	FaultWrong    Fault = iota // only this statement failed
	FaultConflict              // another process interfered: run the transaction again
	FaultBlocked               // another process held a lock for too long
	FaultHeld                  // another transaction held a session for longer than [WaitBriefly] waits
	FaultFull                  // the disk is full
	FaultLost                  // the connection was lost
	FaultDisk                  // the disk failed: its content is unknown
	FaultTimeline              // the database continues from another point of its history
	FaultOutdated              // a newer program has changed the database, and this one does not fit it
)

// Failure is an error of the database with its meaning.
type Failure struct {
	Fault Fault
	err   *shoal.Error
}

// IsFinal reports whether this process must not write any more.
func (f *Failure) IsFinal() bool {
	return f.Fault == FaultDisk || f.Fault == FaultTimeline || f.Fault == FaultOutdated
}

// Error implements error.
func (f *Failure) Error() string { return f.err.Error() }

// Unwrap returns the [shoal.Error] with the kind and the message for people.
func (f *Failure) Unwrap() error { return f.err }

// NewFailure returns the failure for an error of the database; query is the statement that
// failed.
func NewFailure(f Fault, query string, err error) *Failure {
	kind, msg := shoal.Internal, "Something went wrong in the server's database."
	switch f {
	case FaultWrong:
	case FaultConflict, FaultBlocked, FaultHeld:
		kind, msg = shoal.Busy, "The database is busy; nothing was done. Try again in a moment."
	case FaultLost:
		kind, msg = shoal.Busy, "The database cannot be reached; nothing was done. Try again in a moment."
	case FaultFull:
		kind, msg = shoal.StorageFull, "The server's disk is full; nothing was done. Make room on it, then try again."
	case FaultDisk:
		msg = "The server's disk failed."
	case FaultTimeline:
		kind, msg = shoal.Busy, "The database has been replaced and the server is starting anew; nothing was done. Try again in a moment."
	case FaultOutdated:
		kind, msg = shoal.Busy, "A newer version of the server has taken over and this one is stopping; nothing was done. Try again in a moment."
	}
	return &Failure{f, &shoal.Error{Op: "sqlstore", Kind: kind, Msg: msg, Err: fmt.Errorf("%w, in: %s", err, query)}}
}

// unknown returns the failure of a transaction whose outcome is unknown.
func (f *Failure) unknown() *Failure {
	kind := shoal.Internal
	if f.Fault == FaultLost {
		kind = shoal.Busy // the outcome can be determined when the database is back
	}
	return &Failure{f.Fault, &shoal.Error{
		Op: "sqlstore.Update", Kind: kind, Err: fmt.Errorf("%w: %w", storage.ErrUnknownOutcome, f.err),
		Msg: "The database failed while this was being stored, so it may or may not be. Try again with the same idempotency key.",
	}}
}
