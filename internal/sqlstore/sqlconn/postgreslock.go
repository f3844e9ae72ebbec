package sqlconn

import (
	"context"
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
	lockSessions = lockStatement{"shoal_lock", `SELECT id FROM sessions WHERE id = ANY($1) ORDER BY id FOR UPDATE`}
	skipSessions = lockStatement{"shoal_skip", `SELECT id FROM sessions WHERE id = ANY($1) ORDER BY id FOR UPDATE SKIP LOCKED`}
)

// lockStatement is a statement with the name under which it is prepared.
type lockStatement struct{ name, text string }

// beginInSessions implements Dialect.beginIn, in one round trip.
func beginInSessions(c *Conn, sessions []shoal.SessionID, wait bool) ([]shoal.SessionID, error) {
	lock := skipSessions
	if wait {
		lock = lockSessions
	}
	conn := c.raw.(stdConn).Conn.(*stdlib.Conn).Conn()
	for _, s := range []lockStatement{beginShared, lockShared, lock} {
		if _, err := conn.Prepare(c.ctx, s.name, s.text); err != nil { // once for each connection
			return nil, err
		}
	}
	return sendLocks(c.ctx, conn, lock, sessions)
}

func sendLocks(ctx context.Context, conn *pgx.Conn, lock lockStatement, sessions []shoal.SessionID) (locked []shoal.SessionID, err error) {
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
			return locked, p.Close()
		case *pgconn.ResultReader:
			for locked = nil; r.NextRow(); { // the last result is that of lock
				locked = append(locked, shoal.SessionID(r.Values()[0]))
			}
			if _, err := r.Close(); err != nil {
				_ = p.Close()
				return nil, err
			}
		}
	}
}

// textArray returns ids as an array of PostgreSQL.
func textArray(ids []shoal.SessionID) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(id)))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}
