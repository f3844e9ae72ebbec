package sqlconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shoal-dev/shoal"
)

// newPostgres returns the dialect of a PostgreSQL database.
func newPostgres(url string) (*Dialect, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		// The cause quotes the URL, and that may contain a password.
		return nil, shoal.E("sqlstore.Open", shoal.InvalidArgument, "The database URL is not one that PostgreSQL understands: postgres://USER:PASSWORD@HOST:PORT/NAME.")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	config.DialFunc = dialPostgres
	for name, value := range map[string]string{
		"application_name":                    "shoal",
		"jit":                                 "off", // compiling a query takes longer than running any query of the store
		"synchronous_commit":                  "on",
		"lock_timeout":                        "2s",
		"idle_in_transaction_session_timeout": "10s",
		// The lock of a server that disappeared must not outlast it for long.
		"tcp_keepalives_idle":     "5",
		"tcp_keepalives_interval": "2",
		"tcp_keepalives_count":    "3",
	} {
		config.RuntimeParams[name] = value
	}
	reader := stdlib.GetConnector(*config)
	config.RuntimeParams = maps.Clone(config.RuntimeParams)
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "3s" // a suspended writer must not block the others
	writer := stdlib.GetConnector(*config)
	return &Dialect{
		Readers:      8,
		Elements:     `json_array_elements(CAST(? AS JSON)) AS t (value)`,
		Position:     "strpos",
		ForUpdate:    " FOR UPDATE",
		Writing:      writing,
		Analyze:      `ANALYZE (SKIP_LOCKED) messages, members, spaces, events, inbox_entries, read_ranges`,
		Analyzed:     `SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = CAST('messages' AS REGCLASS)`,
		SearchBudget: 1_500, // a row costs three times as much as in a file
		connect: func(ctx context.Context, reads bool) (driverConn, error) {
			if reads {
				return connectStd(ctx, reader)
			}
			return connectStd(ctx, writer)
		},
		patience:     time.Minute,
		answer:       3 * time.Second,
		commit:       4500 * time.Millisecond,
		tryLock:      newLockPostgres(),
		timeline:     `SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`,
		Lanes:        postgresLanes,
		begin:        beginGlobal,
		beginIn:      beginInSessions,
		catchUp:      catchUpInSessions,
		commitMarked: commitMarkedInSessions,
		beginView:    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		check:        checkPostgres,
		faultOf:      postgresFault,
		now:          `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`,
	}, nil
}

// dialPostgres closes the connection to a server that does not respond, so that a cut cable
// is a lost connection and not a blocked one.
func dialPostgres(ctx context.Context, network, address string) (net.Conn, error) {
	const silence = 10 * time.Second
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: silence / 4, Count: 2}}
	d.Control = func(network, _ string, raw syscall.RawConn) error {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		return raw.Control(func(fd uintptr) { limitSilence(fd, silence) })
	}
	return d.DialContext(ctx, network, address)
}

// checkPostgres refuses a database that cannot store every text.
func checkPostgres(c *Conn) error {
	encoding, _, err := One(c, func(r *Rows) string { return r.Text(0) }, `SELECT current_setting('server_encoding')`)
	if err == nil && encoding != "UTF8" {
		err = shoal.E("sqlstore.Open", shoal.InvalidArgument, fmt.Sprintf("The database has the encoding %s; make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.", encoding))
	}
	return err
}

// postgresFault returns the meaning of PostgreSQL's error codes and of network errors.
func postgresFault(err error) Fault {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if isLost(err) {
			return FaultLost
		}
		return FaultWrong
	}
	switch e.Code {
	case "40001", "40P01": // serialization failure, deadlock
		return FaultConflict
	case "53100", "53400": // disk full, a configured limit
		return FaultFull
	case "55P03", "57014", "53200": // lock not available, cancelled, out of memory
		return FaultBlocked
	case "53300", "25P03", "58030": // too many connections, idle for too long, I/O error
		return FaultLost
	}
	switch e.Code[:2] {
	case "08", "57": // connection exception, operator intervention
		return FaultLost
	}
	return FaultWrong
}

// isLost reports whether an error that the server did not send means that the connection is
// lost.
func isLost(err error) bool {
	var network net.Error
	return errors.As(err, &network) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
