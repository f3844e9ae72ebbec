package sqlconn

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shoal-dev/shoal"
)

// Which transactions of all servers run at the same time is decided by two kinds of locks,
// which each transaction takes first, in this order:
//
//  1. the advisory lock 7462, shared, or exclusively if the transaction may change anything;
//  2. the rows of the sessions that it changes, in the order of their ids.
//
// Every transaction in a session has the session's row, so there is one at a time: positions
// are assigned without gaps and become visible in their order. No transaction waits for a row
// while another one that holds rows waits for the advisory lock, and rows are locked in one
// order, so transactions never wait for each other in a circle.

// postgresLanes is the number of connections that each change some of the sessions.
const postgresLanes = 4

// beginGlobal starts a transaction that may change anything: it waits for all others, and
// excludes them.
const beginGlobal = `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(7462)`

// writing selects the transactions that have the advisory lock.
const writing = `SELECT virtualtransaction FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
	WHERE l.locktype = 'advisory' AND l.classid = 0 AND l.objid = 7462 AND l.objsubid = 1 AND l.granted AND d.datname = current_database()`

// The statements that start a transaction in sessions.
var (
	beginShared  = lockStatement{"shoal_begin", `BEGIN ISOLATION LEVEL READ COMMITTED`}
	lockShared   = lockStatement{"shoal_share", `SELECT pg_advisory_xact_lock_shared(7462)`}
	lockSessions = lockStatement{"shoal_lock", selectSessions}
	skipSessions = lockStatement{"shoal_skip", selectSessions + ` SKIP LOCKED`}
	markSessions = lockStatement{"shoal_mark", `UPDATE sessions SET writer = $2 WHERE id = ANY($1)`}
)

// selectSessions also reads which program may write, which connection has changed a session last,
// and how often everything was changed: what a connection read of a session before is right as long
// as it is the session's last writer. A transaction that only adds to the search index is not
// counted. The statement has its snapshot after the shared lock, so it sees every change of
// everything; a row that another transaction changes meanwhile is read again when it is locked.
const selectSessions = `SELECT s.id, s.writer, (SELECT changes FROM store), (SELECT oldest_program FROM store) FROM sessions AS s WHERE s.id = ANY($1) ORDER BY s.id FOR UPDATE OF s`

// countChange is the last statement of a transaction that has changed anything. It changes no row
// if the program is too old.
const countChange = `UPDATE store SET changes = changes + 1 WHERE oldest_program <= $1`

// lockedSession is a row of selectSessions.
type lockedSession struct {
	id              shoal.SessionID
	writer, changes string
	oldest          int64 // the program that the database requires
}

// lockStatement is a statement with the name under which it is prepared.
type lockStatement struct{ name, text string }

// beginInSessions implements Dialect.beginIn, in one round trip.
func beginInSessions(c *Conn, sessions []shoal.SessionID, wait bool) ([]shoal.SessionID, error) {
	lock := skipSessions
	if wait {
		lock = lockSessions
	}
	conn := c.raw.(stdConn).Conn.(*stdlib.Conn).Conn()
	for _, s := range []lockStatement{beginShared, lockShared, lock, markSessions} {
		if _, err := conn.Prepare(c.ctx, s.name, s.text); err != nil { // once for each connection
			return nil, err
		}
	}
	rows, err := sendLocks(c.ctx, conn, lock, sessions)
	if err != nil {
		return nil, err
	}
	locked := make([]shoal.SessionID, len(rows))
	for i, r := range rows {
		if failed := c.dialect.checkProgram(r.oldest); failed != nil {
			return nil, failed
		}
		locked[i] = r.id
		if r.writer != c.name {
			c.foreign = append(c.foreign, r.id)
		}
		if r.writer != c.name || r.changes != c.changesSeen {
			c.cacheVersion++
			c.changesSeen = r.changes
		}
	}
	if len(sessions) == 0 {
		return nil, c.checkProgram()
	}
	return locked, nil
}

// markInSessions implements Dialect.mark.
func markInSessions(c *Conn, sessions []shoal.SessionID) error {
	conn := c.raw.(stdConn).Conn.(*stdlib.Conn).Conn()
	_, err := conn.Exec(c.ctx, markSessions.name, textArray(sessions), c.name)
	return err
}

func sendLocks(ctx context.Context, conn *pgx.Conn, lock lockStatement, sessions []shoal.SessionID) (rows []lockedSession, err error) {
	p := conn.PgConn().StartPipeline(ctx)
	p.SendQueryPrepared(beginShared.name, nil, nil, nil)
	p.SendQueryPrepared(lockShared.name, nil, nil, nil)
	p.SendQueryPrepared(lock.name, [][]byte{[]byte(textArray(sessions))}, nil, nil)
	if err := p.Sync(); err != nil {
		_ = p.Close()
		return nil, err
	}
	for {
		results, err := p.GetResults()
		if err != nil {
			_ = p.Close() // returns the same error
			return nil, err
		}
		switch r := results.(type) {
		case nil, *pgconn.PipelineSync:
			return rows, p.Close()
		case *pgconn.ResultReader:
			for r.NextRow() {
				if v := r.Values(); len(v) == 4 { // of lock, not of lockShared
					oldest, err := strconv.ParseInt(string(v[3]), 10, 64)
					if err != nil {
						_ = p.Close()
						return nil, err
					}
					rows = append(rows, lockedSession{shoal.SessionID(v[0]), string(v[1]), string(v[2]), oldest})
				}
			}
			if _, err := r.Close(); err != nil {
				_ = p.Close()
				return nil, err
			}
		}
	}
}

var arrayEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// textArray returns ids as an array of PostgreSQL.
func textArray(ids []shoal.SessionID) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(arrayEscapes.Replace(string(id)))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}
