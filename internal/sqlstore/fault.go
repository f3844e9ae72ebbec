package sqlstore

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// fault says what an error of the database means for the transaction in which
// it happened.
type fault int

const (
	faultWrong    fault = iota // this statement alone could not be done
	faultConflict              // another process was in the way: run it again
	faultBlocked               // another process held a lock for too long
	faultFull                  // there is no room on the disk
	faultLost                  // the connection is gone
	faultDisk                  // the disk failed: what is on it is unknown
	faultTimeline              // the database went on from another point of its history
)

// failure is an error of the database with its meaning.
type failure struct {
	fault fault
	err   *shoal.Error
}

// ends reports whether this process must write nothing more.
func (f *failure) ends() bool { return f.fault == faultDisk || f.fault == faultTimeline }

// Error implements error.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap lets the kind of the error be found.
func (f *failure) Unwrap() error { return f.err }

// newFailure words an error of the database; query is the statement at fault.
func newFailure(f fault, query string, err error) *failure {
	kind, msg := shoal.Internal, "Something went wrong in the server's database."
	switch f {
	case faultWrong:
	case faultConflict, faultBlocked:
		kind, msg = shoal.Busy, "The database is busy; nothing was done. Try again in a moment."
	case faultLost:
		kind, msg = shoal.Busy, "The database cannot be reached; nothing was done. Try again in a moment."
	case faultFull:
		kind, msg = shoal.StorageFull, "The server's disk is full; nothing was done. Make room on it, then try again."
	case faultDisk:
		msg = "The server's disk failed."
	case faultTimeline:
		kind, msg = shoal.Busy, "The database has been replaced and the server is starting anew; nothing was done. Try again in a moment."
	}
	return &failure{f, &shoal.Error{Op: "sqlstore", Kind: kind, Msg: msg, Err: fmt.Errorf("%w, in: %s", err, query)}}
}

// unknown is the failure of a transaction of which nobody can say whether it
// was kept.
func (f *failure) unknown() *failure {
	kind := shoal.Internal
	if f.fault == faultLost {
		kind = shoal.Busy // it can be found out as soon as the database is back
	}
	return &failure{f.fault, &shoal.Error{
		Op: "sqlstore.Update", Kind: kind, Err: fmt.Errorf("%w: %w", hub.ErrUnsure, f.err),
		Msg: "The database failed while this was being stored, so it may or may not be. Try again with the same idempotency key.",
	}}
}
