package sqlconn

import (
	"slices"
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
	briefly      = lockStatement{"shoal_brief", `SET LOCAL statement_timeout = '500ms'`} // for all sessions together; lock_timeout is for each
	patiently    = lockStatement{"shoal_patient", `SET LOCAL statement_timeout = '2500ms'`}
	anyTime      = lockStatement{"shoal_any", `SET LOCAL statement_timeout TO DEFAULT`}
	markSessions = lockStatement{"shoal_mark", `UPDATE sessions SET writer = $2 || substr(writer, strpos(writer, ' ')) WHERE id = ANY($1)`}
	readSince    = lockStatement{"shoal_since", selectSince}
	keepPlans    = lockStatement{"shoal_keep", `SET LOCAL plan_cache_mode = force_generic_plan`} // planning the statements that follow takes longer than running them
	choosePlans  = lockStatement{"shoal_choose", `SET LOCAL plan_cache_mode = auto`}
	commitMarks  = lockStatement{"shoal_commit", `COMMIT`}
	turnSessions = lockStatement{"shoal_turn", `UPDATE sessions SET writer = $2 WHERE id = ANY($1)`}
)

// lockStatements are the statements that lock sessions.
var lockStatements = map[Wait][]lockStatement{
	SkipHeld:    {skipSessions},
	WaitBriefly: {briefly, lockSessions, anyTime},
	WaitLong:    {patiently, lockSessions, anyTime},
}

// selectSessions also reads which program may write, which connection has changed a session last and
// which state it has left, and how often everything was changed: what a connection read of a session
// before is right as long as it is the session's last writer, and, but for positions, as long as the
// state is the same. Older programs leave no state. A transaction that only adds to the search index
// is not counted. The statement has its snapshot after the shared lock, so it sees every change of
// everything; a row that another transaction changes meanwhile is read again when it is locked.
const selectSessions = `SELECT s.id, s.writer, (SELECT changes FROM store), (SELECT oldest_program FROM store) FROM sessions AS s WHERE s.id = ANY($1) ORDER BY s.id FOR UPDATE OF s`

// selectSince reads the messages of a session that have got their places after one, and the last
// event.
var selectSince = `(SELECT m.space_id, m.seq, COALESCE(m.arrival, 0), m.place, COALESCE(m.event_place, 0) FROM messages AS m
	WHERE m.session_id = $1 AND m.place > $2 AND m.place IS NOT NULL ORDER BY m.place LIMIT ` + strconv.Itoa(maxCaughtUp) + `)
	UNION ALL SELECT '', 0, 0, 0, COALESCE((SELECT MAX(e.place) FROM events AS e WHERE e.session_id = $1), 0)`

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
func beginInSessions(c *Conn, sessions []shoal.SessionID, wait Wait) ([]shoal.SessionID, error) {
	locks := lockStatements[wait]
	conn := c.raw.(stdConn).Conn.(*stdlib.Conn).Conn()
	for _, s := range append(slices.Clone(locks), beginShared, lockShared, readSince, markSessions, turnSessions, commitMarks, keepPlans, choosePlans) {
		if _, err := conn.Prepare(c.ctx, s.name, s.text); err != nil { // once for each connection
			return nil, err
		}
	}
	if c.cache != nil {
		for _, id := range sessions {
			if since, likely := c.cache.Since(id); likely {
				c.caughtUp = append(c.caughtUp, caughtUp{id: id, since: since})
			}
		}
	}
	rows, done, err := c.sendLocks(conn, locks, sessions)
	if err != nil {
		if wait == WaitBriefly && done == 3 && c.dialect.faultOf(err) == FaultBlocked {
			err = NewFailure(FaultHeld, lockSessions.text, err)
		}
		return nil, err
	}
	locked := make([]shoal.SessionID, len(rows))
	for i, r := range rows {
		if failed := c.dialect.checkProgram(r.oldest); failed != nil {
			return nil, failed
		}
		locked[i] = r.id
		writer, state, _ := strings.Cut(r.writer, " ")
		c.locked = append(c.locked, sessionLock{id: r.id, state: state, last: writer == c.name})
		if r.changes != c.changesSeen {
			c.changesSeen, c.outdated = r.changes, true
		}
	}
	if len(sessions) == 0 {
		return nil, c.checkProgram()
	}
	return locked, nil
}

// commitMarkedInSessions implements Dialect.commitMarked, in one round trip.
func commitMarkedInSessions(c *Conn, same, other []shoal.SessionID, state string) (marked bool, err error) {
	p := c.raw.(stdConn).Conn.(*stdlib.Conn).Conn().PgConn().StartPipeline(c.ctx)
	p.SendQueryPrepared(keepPlans.name, nil, nil, nil)
	marks := 1
	mark := func(s lockStatement, sessions []shoal.SessionID, writer string) {
		if len(sessions) > 0 {
			marks++
			p.SendQueryPrepared(s.name, [][]byte{[]byte(textArray(sessions)), []byte(writer)}, nil, nil)
		}
	}
	mark(markSessions, same, c.name)
	mark(turnSessions, other, c.name+" "+state)
	p.SendQueryPrepared(commitMarks.name, nil, nil, nil)
	done, err := readPipeline(p, func(int, [][]byte) error { return nil })
	return done >= marks, err
}

// sendLocks begins a transaction, locks sessions with the given statements, and reads what has
// changed in those of c.caughtUp. done is how many statements have succeeded.
func (c *Conn) sendLocks(conn *pgx.Conn, locks []lockStatement, sessions []shoal.SessionID) (rows []lockedSession, done int, err error) {
	p := conn.PgConn().StartPipeline(c.ctx)
	p.SendQueryPrepared(beginShared.name, nil, nil, nil)
	p.SendQueryPrepared(lockShared.name, nil, nil, nil)
	for _, l := range locks {
		var args [][]byte
		if l == lockSessions || l == skipSessions {
			args = [][]byte{[]byte(textArray(sessions))}
		}
		p.SendQueryPrepared(l.name, args, nil, nil)
	}
	sendReads(p, c.caughtUp)
	first := 2 + len(locks)
	done, err = readPipeline(p, func(i int, v [][]byte) error {
		switch {
		case i == 1: // the advisory lock returns a row, too
		case i < first:
			oldest, err := strconv.ParseInt(string(v[3]), 10, 64)
			rows = append(rows, lockedSession{shoal.SessionID(v[0]), string(v[1]), string(v[2]), oldest})
			return err
		case i > first:
			return c.caughtUp[i-first-1].add(v)
		}
		return nil
	})
	return rows, done, err
}

// catchUpInSessions implements Dialect.catchUp, in one round trip.
func catchUpInSessions(c *Conn, all []caughtUp) error {
	p := c.raw.(stdConn).Conn.(*stdlib.Conn).Conn().PgConn().StartPipeline(c.ctx)
	sendReads(p, all)
	_, err := readPipeline(p, func(i int, v [][]byte) error { return all[i-1].add(v) })
	return err
}

// sendReads sends statements that read what has changed. The first one and the last have no rows.
func sendReads(p *pgconn.Pipeline, all []caughtUp) {
	if len(all) == 0 {
		return
	}
	p.SendQueryPrepared(keepPlans.name, nil, nil, nil)
	defer p.SendQueryPrepared(choosePlans.name, nil, nil, nil)
	for _, r := range all {
		p.SendQueryPrepared(readSince.name, [][]byte{[]byte(r.id), strconv.AppendInt(nil, r.since, 10)}, nil, nil)
	}
}

// add adds a row of readSince.
func (r *caughtUp) add(v [][]byte) error {
	var n [4]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(string(v[i+1]), 10, 64); err != nil {
			return err
		}
	}
	if len(v[0]) == 0 {
		r.event = n[3]
		return nil
	}
	r.found = append(r.found, Placed{Space: shoal.SpaceID(v[0]), Seq: n[0], Arrival: n[1], Place: n[2], Event: n[3]})
	return nil
}

// readPipeline sends a pipeline and calls read with each row of its statements, which are numbered
// from 0. done is how many statements have succeeded.
func readPipeline(p *pgconn.Pipeline, read func(statement int, values [][]byte) error) (done int, err error) {
	defer func() {
		if closed := p.Close(); err == nil {
			err = closed
		}
	}()
	if err := p.Sync(); err != nil {
		return 0, err
	}
	for {
		results, err := p.GetResults()
		if err != nil {
			return done, err
		}
		switch r := results.(type) {
		case nil, *pgconn.PipelineSync:
			return done, nil
		case *pgconn.ResultReader:
			for r.NextRow() {
				if err := read(done, r.Values()); err != nil {
					return done, err
				}
			}
			if _, err := r.Close(); err != nil {
				return done, err
			}
			done++
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
