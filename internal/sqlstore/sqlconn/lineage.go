package sqlconn

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
)

// A database can go back: somebody restores an older file, directory or dump, and what was
// written since is lost. The same positions are then assigned again, to other events.
// Therefore a position is accepted only together with the boot in which it was assigned: the
// boot must be in the table lineage, and no later boot of that table may have begun to write
// in the session at or below the position. A later boot that has written nothing in the
// session has no row: then the end of the session shows what is lost.
//
// Servers that share a database write in the same boot, in turn: one that starts while
// another is connected joins its boot, because a database does not go back while a server is
// connected to it. Each holds a lock of its database session, which no copy of the database
// contains, so a server knows whether there are others. One that has lost all of its
// connections joins the newest boot when it connects again.

const (
	// keptBoots is how many boots are stored. Cursors of older boots are not accepted.
	keptBoots = 1000
	// maxRecorded limits the memory for sessions whose first event is recorded.
	maxRecorded = 50_000
)

// boot is one opening of this database by a server, and all that join it.
type boot struct {
	number int64
	name   string
}

// Boot returns the name of the boot to which the positions belong that
// [Conn.RecordPosition] records now. It may be called concurrently.
func (c *Conn) Boot() string {
	if b := c.origin.boot.Load(); b != nil {
		return b.name
	}
	return ""
}

// BeginBoot records that the database was opened, or joins the boot of the servers of the
// same cluster that are connected.
func (c *Conn) BeginBoot() error {
	if err := c.Begin(); err != nil {
		return err
	}
	defer c.Rollback()
	last, err := c.lastBoot()
	if err != nil {
		return err
	}
	others, err := c.othersConnected()
	if err != nil {
		return err
	}
	if others && last.number > 0 {
		c.origin.boot.Store(&last)
		return nil
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	b := boot{number: last.number + 1, name: hex.EncodeToString(random[:])}
	if _, err := c.Exec(`INSERT INTO lineage (number, boot) VALUES ($1, $2)`, b.number, b.name); err != nil {
		return err
	}
	if err := c.ExecAll([]string{
		`DELETE FROM lineage WHERE number <= $1`,
		`DELETE FROM lineage_places WHERE number <= $1`,
	}, b.number-keptBoots); err != nil {
		return err
	}
	if err := c.Commit(); err != nil {
		return err
	}
	c.origin.boot.Store(&b)
	return nil
}

// lastBoot returns the newest boot, whose number is 0 if there is none.
func (c *Conn) lastBoot() (boot, error) {
	b, _, err := One(c, func(r *Rows) boot { return boot{r.Int(0), r.Text(1)} }, `SELECT number, boot FROM lineage ORDER BY number DESC LIMIT 1`)
	return b, err
}

// othersConnected reports whether another process of the cluster is connected, for a
// connection that is the only one of this process that writes. A connection whose end the
// database has not noticed yet counts.
func (c *Conn) othersConnected() (bool, error) {
	if !c.alone || !c.dialect.Cluster {
		return false, nil
	}
	n, err := Number(c, `SELECT COUNT(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
		WHERE l.locktype = 'advisory' AND l.classid = 7463 AND l.objid = CAST($1 AS BIGINT) AND d.datname = current_database() AND l.pid <> pg_backend_pid()`, int64(clusterLock))
	return n > 0, err
}

// rejoin joins the newest boot on a new connection that has the lock of its cluster. A server
// that starts at the same moment holds the lock 7462 while it looks for others: either it
// notices this connection, or its boot is read here.
func (c *Conn) rejoin() error {
	if !c.alone || !c.dialect.Cluster || c.origin.boot.Load() == nil {
		return nil
	}
	if _, err := Number(c, `SELECT COUNT(*) FROM (SELECT pg_advisory_lock_shared(7462)) AS starting`); err != nil {
		return err
	}
	b, err := c.lastBoot()
	if err != nil {
		return err
	}
	c.origin.boot.Store(&b)
	_, err = Number(c, `SELECT COUNT(*) FROM (SELECT pg_advisory_unlock_shared(7462)) AS starting`)
	return err
}

// RecordPosition records that an event of the session was assigned this position, if it is
// the first event of the session in this boot: one statement for each session and boot. It
// fails for a session that [Conn.Restrict] has not allowed.
func (c *Conn) RecordPosition(session shoal.SessionID, place int64) error {
	if c.changes != nil && !slices.Contains(c.changes, session) {
		return fmt.Errorf("an Update that names the sessions %q changes the session %q", c.changes, session)
	}
	b := c.origin.boot.Load()
	if b == nil || c.recorded[session] {
		return nil
	}
	_, err := c.Exec(`INSERT INTO lineage_places (session_id, number, first_place) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		session, b.number, place)
	if err == nil {
		if c.recorded == nil || len(c.recorded) >= maxRecorded {
			c.recorded = map[shoal.SessionID]bool{}
		}
		c.recorded[session] = true
	}
	return err
}
