package sqlstore

import (
	"context"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shoal-dev/shoal"
)

//go:embed migrations/postgres/*.sql
var postgresMigrations embed.FS

// beginWriting takes the lock under which one process of all that share the
// database writes at a time. It is what makes places visible in their order,
// and it leaves no two writers that could wait for each other.
const beginWriting = `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(7462)`

// postgresDialect is the dialect of a PostgreSQL database.
func postgresDialect(url string) (*dialect, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		// The cause quotes the URL, and that may hold a password.
		return nil, shoal.E("sqlstore.Open", shoal.InvalidArgument, "The database URL is not one that PostgreSQL understands: postgres://USER:PASSWORD@HOST:PORT/NAME.")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	config.DialFunc = dialPostgres
	for name, value := range map[string]string{
		"application_name":                    "shoal",
		"jit":                                 "off", // compiling a query takes longer than any of ours
		"synchronous_commit":                  "on",
		"lock_timeout":                        "10s",
		"idle_in_transaction_session_timeout": "10s", // a writer that was stopped must not stop the others
		// The lock of a server that is gone without a word must not outlast it for long.
		"tcp_keepalives_idle":     "5",
		"tcp_keepalives_interval": "2",
		"tcp_keepalives_count":    "3",
	} {
		config.RuntimeParams[name] = value
	}
	migrations, err := fs.Sub(postgresMigrations, "migrations/postgres")
	if err != nil {
		return nil, err
	}
	connector := stdlib.GetConnector(*config)
	return &dialect{
		connect:    func(ctx context.Context, _ bool) (link, error) { return connectDriver(ctx, connector) },
		readers:    8,
		patience:   time.Minute,
		tryLock:    lockPostgres,
		timeline:   `SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`,
		begin:      beginWriting,
		beginView:  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		check:      checkPostgres,
		faultOf:    postgresFault,
		migrations: migrations,
		elements:   `json_array_elements(CAST(? AS JSON)) AS t (value)`,
		position:   "strpos",
		searchWork: 1_500, // a row costs three times what it does in a file
		now:        `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`,
	}, nil
}

// dialPostgres gives up a peer that has fallen silent, so that a cut cable is a
// lost connection and not a blocked one.
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

// checkPostgres refuses a database that cannot hold every text.
func checkPostgres(c *conn) error {
	encoding, _, err := one(c, func(r *rows) string { return r.text(0) }, `SELECT current_setting('server_encoding')`)
	if err == nil && encoding != "UTF8" {
		err = shoal.E("sqlstore.Open", shoal.InvalidArgument, fmt.Sprintf("The database has the encoding %s; make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.", encoding))
	}
	return err
}

// postgresFault reads PostgreSQL's error codes, and the errors of the network.
func postgresFault(err error) fault {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if isLost(err) {
			return faultLost
		}
		return faultWrong
	}
	switch e.Code {
	case "40001", "40P01": // serialization failure, deadlock
		return faultConflict
	case "53100", "53400": // disk full, a configured limit
		return faultFull
	case "55P03", "57014", "53200": // lock not available, cancelled, out of memory
		return faultBlocked
	case "53300", "25P03", "58030": // too many connections, idle for too long, I/O error
		return faultLost
	}
	switch e.Code[:2] {
	case "08", "57": // connection exception, operator intervention
		return faultLost
	}
	return faultWrong
}

// isLost reports whether an error that is no answer of the server means that
// there will be none.
func isLost(err error) bool {
	var network net.Error
	return errors.As(err, &network) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded)
}
