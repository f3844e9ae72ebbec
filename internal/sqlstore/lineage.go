package sqlstore

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/shoal-dev/shoal"
)

// A database can go back: a file, a directory or a dump from before is put in its
// place, and what was written after it is lost. Places are given again then, to other
// events. So a place is only believed together with the boot in which it was given:
// the boot is in the table lineage, and no later boot of that table began to write in
// the session at or below the place. A later boot that has written nothing there adds
// nothing: then the end of the session shows what is lost.

// keptBoots is how many boots are remembered. A cursor from before them is not
// believed.
const keptBoots = 1000

// boot is one start of a server on this database.
type boot struct {
	number int64
	name   string
}

// beginBoot writes down that this store was opened.
func (c *conn) beginBoot() (boot, error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	b := boot{name: hex.EncodeToString(random[:])}
	if err := c.begin(c.dialect.begin); err != nil {
		return b, err
	}
	defer c.end()
	last, err := number(c, `SELECT MAX(number) FROM lineage`)
	if err != nil {
		return b, err
	}
	b.number = last + 1
	if _, err := c.exec(`INSERT INTO lineage (number, boot) VALUES ($1, $2)`, b.number, b.name); err != nil {
		return b, err
	}
	if err := c.execAll([]string{
		`DELETE FROM lineage WHERE number <= $1`,
		`DELETE FROM lineage_places WHERE number <= $1`,
	}, b.number-keptBoots); err != nil {
		return b, err
	}
	return b, c.commit()
}

// noteBoot writes down that an event of the session was given this place, if it is the
// first one of this boot. It is one statement in the life of a session and a boot.
func (t tx) noteBoot(session shoal.SessionID, place int64) error {
	if t.c.marked[session] || t.c.boot.number == 0 {
		return nil
	}
	_, err := t.c.exec(`INSERT INTO lineage_places (session_id, number, first_place) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		session, t.c.boot.number, place)
	if err == nil {
		if t.c.marked == nil || len(t.c.marked) >= knownMost {
			t.c.marked = map[shoal.SessionID]bool{}
		}
		t.c.marked[session] = true
	}
	return err
}

// Descends implements [hub.EventTx].
func (t tx) Descends(session shoal.SessionID, name string, place int64) (bool, error) {
	next, found, err := one(t.c, func(r *rows) int64 { return r.int(0) },
		`SELECT COALESCE((SELECT MIN(p.first_place) FROM lineage_places AS p WHERE p.session_id = $1 AND p.number > l.number), 0)
		 FROM lineage AS l WHERE l.boot = $2`, session, name)
	if err != nil || !found || next > 0 && place >= next {
		return false, err
	}
	end, err := t.EventEnd(session)
	return place <= end, err
}
