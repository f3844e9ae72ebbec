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

const (
	// keptBoots is how many boots are stored. Cursors of older boots are not accepted.
	keptBoots = 1000
	// maxRecorded limits the memory for sessions whose first event is recorded.
	maxRecorded = 50_000
)

// boot is one opening of this database by a server.
type boot struct {
	number int64
	name   string
}

// BeginBoot records that the database was opened. It returns the name of the boot, to which
// the positions that [Conn.RecordPosition] records from then on belong.
func (c *Conn) BeginBoot() (name string, err error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	b := boot{name: hex.EncodeToString(random[:])}
	if err := c.Begin(); err != nil {
		return "", err
	}
	defer c.Rollback()
	last, err := Number(c, `SELECT MAX(number) FROM lineage`)
	if err != nil {
		return "", err
	}
	b.number = last + 1
	if _, err := c.Exec(`INSERT INTO lineage (number, boot) VALUES ($1, $2)`, b.number, b.name); err != nil {
		return "", err
	}
	if err := c.ExecAll([]string{
		`DELETE FROM lineage WHERE number <= $1`,
		`DELETE FROM lineage_places WHERE number <= $1`,
	}, b.number-keptBoots); err != nil {
		return "", err
	}
	if err := c.Commit(); err != nil {
		return "", err
	}
	c.origin.boot = b
	return b.name, nil
}

// RecordPosition records that an event of the session was assigned this position, if it is
// the first event of the session in this boot: one statement for each session and boot. It
// fails for a session that [Conn.Restrict] has not allowed.
func (c *Conn) RecordPosition(session shoal.SessionID, place int64) error {
	if c.changes != nil && !slices.Contains(c.changes, session) {
		return fmt.Errorf("an Update that names the sessions %q changes the session %q", c.changes, session)
	}
	if c.recorded[session] || c.origin.boot.number == 0 {
		return nil
	}
	_, err := c.Exec(`INSERT INTO lineage_places (session_id, number, first_place) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		session, c.origin.boot.number, place)
	if err == nil {
		if c.recorded == nil || len(c.recorded) >= maxRecorded {
			c.recorded = map[shoal.SessionID]bool{}
		}
		c.recorded[session] = true
	}
	return err
}
