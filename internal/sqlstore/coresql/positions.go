package coresql

import (
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// position is what a member has read in a space, see the migration 0033.
type position struct {
	space                  shoal.SpaceID
	upTo, own, acked, last int64
	tail                   int64 // own messages that own does not count yet
	pausedAt               int64 // meaningful only if it is paused
	paused                 bool
	muted                  bool // as the row says; set by positions only
}

// end returns the arrival of the last message that counts for the member.
func (w position) end() int64 {
	if w.paused {
		return w.pausedAt
	}
	return w.last
}

// pausedOrNull returns the arrival of the pause, nil if the member is not paused.
func (w position) pausedOrNull() any {
	if w.paused {
		return w.pausedAt
	}
	return nil
}

// counted returns the arrival up to which own counts the member's own messages.
func (w position) counted() int64 {
	if w.paused {
		return w.pausedAt
	}
	return w.last - w.last%schema.OwnStride
}

// strideText is schema.OwnStride as SQL.
var strideText = strconv.Itoa(schema.OwnStride)

// unread returns the number of messages that the position counts as unread.
func (w position) unread() int64 { return w.end() - w.upTo - w.own - w.tail - w.acked }

// positions returns the positions of a member in those of the spaces that it is in.
func (t *Tx) positions(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) ([]position, error) {
	var b sqlconn.Builder
	b.Add(`SELECT who.space_id, who.read_upto, who.own_above, who.acked_above, COALESCE(who.paused_at, -1), who.last,
		CASE WHEN who.paused_at IS NULL AND who.last > who.read_upto THEN (SELECT COUNT(*) FROM messages AS m
		  WHERE m.session_id = who.session_id AND m.space_id = who.space_id AND m.arrival > CASE WHEN who.read_upto > who.counted THEN who.read_upto ELSE who.counted END
		  AND m.entity_id = who.entity_id) ELSE 0 END, who.muted
		FROM (SELECT ends.*, ends.last - ends.last % `+strideText+` AS counted FROM (SELECT w.*, COALESCE((SELECT MAX(m.arrival) FROM messages AS m
		  WHERE m.session_id = w.session_id AND m.space_id = w.space_id AND m.arrival IS NOT NULL), 0) AS last
		FROM members AS w WHERE w.session_id = ? AND w.entity_id = ?`, session, entity)
	sqlconn.AddIn(&b, ` AND w.space_id IN (?)) AS ends) AS who`, spaces)
	return sqlconn.List(t.c, func(r *sqlconn.Rows) position {
		return position{
			space: shoal.SpaceID(r.Text(0)), upTo: r.Int(1), own: r.Int(2), acked: r.Int(3),
			pausedAt: r.Int(4), paused: r.Int(4) >= 0, last: r.Int(5), tail: r.Int(6), muted: r.Bool(7),
		}
	}, b.Text(), b.Args...)
}
