package sqlstore

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	noSpace      = "There is no space %q here."
	spaceColumns = `s.session_id, s.id, s.name, s.status, s.summary, s.admin_agent_id, s.show_reasoning, s.metadata, ` + lastSeqOfSpace + `, s.created_at, s.closed_at, s.created_by`

	// lastSeqOfSpace is asked of the messages, so that a post need not write to its
	// space; what spaces holds in last_seq counts no more.
	lastSeqOfSpace = `(SELECT COALESCE(MAX(m.seq), 0) FROM messages AS m WHERE m.session_id = s.session_id AND m.space_id = s.id)`
)

func spaceOf(r *rows) shoal.Space {
	return shoal.Space{
		SessionID: shoal.SessionID(r.text(0)), ID: shoal.SpaceID(r.text(1)), Name: r.text(2), Status: shoal.SpaceStatus(r.text(3)),
		Summary: textOrNil[string](r, 4), AdminAgentID: textOrNil[shoal.EntityID](r, 5), ShowAgentReasoning: r.bool(6),
		Metadata: r.json(7), Members: []shoal.Member{}, LastSeq: r.int(8), CreatedAt: r.time(9), ClosedAt: r.timeOrNil(10),
		OwnerID: textOrNil[shoal.EntityID](r, 11),
	}
}

// spaceRefOf reads the id, the name and the status of a space from column i on.
func spaceRefOf(r *rows, i int) shoal.SpaceRef {
	return shoal.SpaceRef{ID: shoal.SpaceID(r.text(i)), Name: r.text(i + 1), Status: shoal.SpaceStatus(r.text(i + 2))}
}

// Space implements [hub.SpaceTx].
func (t tx) Space(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error) {
	if known := t.c.known.space(session, id); known != nil {
		return known.space, nil
	}
	s, ok, err := one(t.c, spaceOf,
		`SELECT `+spaceColumns+` FROM spaces AS s WHERE s.session_id = $1 AND s.id = $2`, session, id)
	if err == nil && ok {
		t.c.known.noteSpace(s)
	}
	return present(s, ok, err, "Space", noSpace, id)
}

// LockSpace implements [hub.SpaceTx]. It has nothing to lock: an Update excludes
// every other one, of other processes too, from its beginning.
func (t tx) LockSpace(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error) {
	return t.Space(session, id)
}

// Spaces implements [hub.SpaceTx].
func (t tx) Spaces(session shoal.SessionID, filter hub.SpaceFilter) ([]shoal.Space, error) {
	var b clauses
	b.add(`SELECT ` + spaceColumns + ` FROM spaces AS s`)
	if filter.Member != "" {
		b.add(` JOIN members AS m ON m.session_id = s.session_id AND m.space_id = s.id AND m.entity_id = ?`, filter.Member)
	}
	b.add(` WHERE s.session_id = ? AND s.id > ?`, session, filter.After)
	if filter.OpenOnly {
		b.add(` AND s.status = ?`, shoal.SpaceOpen)
	}
	limit := orAll(filter.Limit)
	b.add(` ORDER BY s.id` + upTo(limit))
	return listFirst(t.c, limit, spaceOf, b.text.String(), b.args...)
}

// InsertSpace implements [hub.SpaceTx].
func (t tx) InsertSpace(s shoal.Space) error {
	t.c.known.forgetSpace(s.SessionID, s.ID)
	if was, err := t.DeletedSpace(s.SessionID, s.ID); err != nil || was {
		if was {
			err = taken("InsertSpace", "The space id %q was used before; choose another.", s.ID)
		}
		return err
	}
	n, err := t.c.execNoted(
		`INSERT INTO spaces (session_id, id, name, status, summary, admin_agent_id, show_reasoning, metadata, last_seq, created_at, closed_at, created_by)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11) ON CONFLICT DO NOTHING`,
		s.SessionID, s.ID, s.Name, s.Status, s.Summary, s.AdminAgentID, s.ShowAgentReasoning, s.Metadata, s.CreatedAt, s.ClosedAt, s.OwnerID)
	if err == nil && n == 0 {
		err = taken("InsertSpace", "The space id %q is taken; choose another.", s.ID)
	}
	return err
}

// CountCreated implements [hub.SpaceTx].
func (t tx) CountCreated(session shoal.SessionID, by shoal.EntityID, upTo int) (int, error) {
	n, err := number(t.c, `SELECT COUNT(*) FROM (SELECT 1 FROM spaces WHERE session_id = $1 AND created_by = $2 LIMIT $3) AS first`, session, by, upTo)
	return int(n), err
}

// UpdateSpace implements [hub.SpaceTx].
func (t tx) UpdateSpace(s shoal.Space) error {
	t.c.known.forgetSpace(s.SessionID, s.ID)
	n, err := t.c.execNoted(
		`UPDATE spaces SET name = $3, status = $4, summary = $5, admin_agent_id = $6, show_reasoning = $7, metadata = $8, closed_at = $9
		 WHERE session_id = $1 AND id = $2`,
		s.SessionID, s.ID, s.Name, s.Status, s.Summary, s.AdminAgentID, s.ShowAgentReasoning, s.Metadata, s.ClosedAt)
	if err == nil && n == 0 {
		err = missing("UpdateSpace", noSpace, s.ID)
	}
	return err
}
