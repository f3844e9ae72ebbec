// Package readranges stores which messages of a space a member has read above its position: as ranges
// of arrivals that neither overlap nor touch each other.
package readranges

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Span is a range of arrivals.
type Span struct{ First, Last int64 }

// Add records that messages above the position are read. Their arrivals must be in ascending order.
func Add(c *sqlconn.Conn, session shoal.SessionID, entity shoal.EntityID, space shoal.SpaceID, arrivals []int64) error {
	for i := 0; i < len(arrivals); {
		next := Span{arrivals[i], arrivals[i]}
		for i++; i < len(arrivals) && arrivals[i] == next.Last+1; i++ {
			next.Last++
		}
		if err := AddSpan(c, session, entity, space, next); err != nil {
			return err
		}
	}
	return nil
}

// AddSpan records that all messages of a range are read. It merges the range with those that it touches.
func AddSpan(c *sqlconn.Conn, session shoal.SessionID, entity shoal.EntityID, space shoal.SpaceID, next Span) error {
	near, err := sqlconn.List(c, func(r *sqlconn.Rows) Span { return Span{r.Int(0), r.Int(1)} },
		`SELECT first, last FROM read_ranges WHERE session_id = $1 AND space_id = $2 AND entity_id = $3 AND first <= $4 ORDER BY first DESC LIMIT 2`,
		session, space, entity, next.Last+1)
	if err != nil {
		return err
	}
	for _, o := range near {
		if o.Last < next.First-1 {
			continue
		}
		next = Span{min(next.First, o.First), max(next.Last, o.Last)}
		if _, err := c.Exec(`DELETE FROM read_ranges WHERE session_id = $1 AND space_id = $2 AND entity_id = $3 AND first = $4`, session, space, entity, o.First); err != nil {
			return err
		}
	}
	_, err = c.Exec(`INSERT INTO read_ranges (session_id, space_id, entity_id, first, last) VALUES ($1, $2, $3, $4, $5)`, session, space, entity, next.First, next.Last)
	return err
}

// Remove removes the ranges up to an arrival, which the position covers now.
func Remove(c *sqlconn.Conn, session shoal.SessionID, entity shoal.EntityID, space shoal.SpaceID, upTo int64) error {
	_, err := c.Exec(`DELETE FROM read_ranges WHERE session_id = $1 AND space_id = $2 AND entity_id = $3 AND last <= $4`, session, space, entity, upTo)
	return err
}
