package coresql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Descends implements [hub.EventTx].
func (t *Tx) Descends(session shoal.SessionID, name string, place int64) (bool, error) {
	next, found, err := sqlconn.One(t.c, func(r *sqlconn.Rows) int64 { return r.Int(0) },
		`SELECT COALESCE((SELECT MIN(p.first_place) FROM lineage_places AS p WHERE p.session_id = $1 AND p.number > l.number), 0)
		 FROM lineage AS l WHERE l.boot = $2`, session, name)
	if err != nil || !found || next > 0 && place >= next {
		return false, err
	}
	end, err := t.EventEnd(session)
	return place <= end, err
}
