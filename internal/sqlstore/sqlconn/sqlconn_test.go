package sqlconn

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/shoal-dev/shoal"
)

// kindOf returns the kind of error that an error of PostgreSQL becomes.
func kindOf(err error) shoal.Kind { return shoal.KindOf(NewFailure(postgresFault(err), "", err)) }

func TestPostgresFaults(t *testing.T) {
	for code, want := range map[string]shoal.Kind{
		"40001": shoal.Busy, "40P01": shoal.Busy, // serialization failure, deadlock
		"53100": shoal.StorageFull,
		"55P03": shoal.Busy, "57014": shoal.Busy, "53200": shoal.Busy, // a lock, a cancellation, no memory
		"57P01": shoal.Busy, "57P03": shoal.Busy, "08006": shoal.Busy, "53300": shoal.Busy, "25P03": shoal.Busy, // no connection
		"23505": shoal.Internal, "42601": shoal.Internal, "25006": shoal.Internal, // mistakes of our own
	} {
		if got := kindOf(&pgconn.PgError{Code: code}); got != want {
			t.Errorf("%s has the kind %s, want %s", code, got, want)
		}
	}
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded, net.ErrClosed, &net.OpError{Op: "read", Err: syscall.ECONNRESET}} {
		if got := kindOf(err); got != shoal.Busy {
			t.Errorf("%v has the kind %s, want %s", err, got, shoal.Busy)
		}
	}
	if got := kindOf(errors.New("cannot encode")); got != shoal.Internal {
		t.Errorf("a mistake in an argument has the kind %s", got)
	}
}

func TestSQLiteVersion(t *testing.T) {
	for version, ok := range map[string]bool{
		"3.51.3": true, "3.51.4": true, "3.52.0": true, "3.53.4": true, "4.0.0": true,
		"3.51.2": false, "3.51.0": false, "3.9.9": false, "3.7.0": false, "2.99.99": false, "": false, "new": false,
	} {
		if err := CheckSQLiteVersion(version); (err == nil) != ok {
			t.Errorf("version %q: %v, want accepted %v", version, err, ok)
		}
	}
}

// The cache is reset by statements that change its tables, which their texts show.
func TestChangedTable(t *testing.T) {
	for text, want := range map[string]string{
		"INSERT INTO members (a) VALUES (1)": "members", "UPDATE spaces SET a = 1": "spaces", "DELETE FROM inboxes WHERE a = 1": "inboxes",
		"\n\tDELETE FROM sessions": "sessions", "INSERT INTO events(a) VALUES (1)": "events",
		"SELECT 1 FROM members": "", "INSERT INTO messages (a) SELECT a FROM spaces": "messages", "DELETE FROM inbox WHERE a = 1": "inbox",
		"UPDATE event_floors SET a = 1": "event_floors", "BEGIN IMMEDIATE": "",
	} {
		if got := changedTable(text); got != want {
			t.Errorf("%q changes the table %q, want %q", text, got, want)
		}
	}
}
