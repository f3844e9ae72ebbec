package coresql

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/rowcache"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const noMember = "%q is not a member of the space %q."

// Members implements [hub.MemberTx].
func (t *Tx) Members(session shoal.SessionID, space shoal.SpaceID, after shoal.EntityID, limit int) ([]shoal.Member, error) {
	return sqlconn.ListFirst(t.c, limit, memberOf,
		`SELECT `+listedColumns+` FROM members AS m CROSS JOIN entities AS e WHERE m.session_id = $1 AND m.space_id = $2 AND m.entity_id > $3
		 AND e.session_id = m.session_id AND e.id = m.entity_id ORDER BY m.entity_id`+sqlconn.Limit(limit), session, space, after)
}

// MemberEntities implements [hub.MemberTx].
func (t *Tx) MemberEntities(session shoal.SessionID, space shoal.SpaceID, after shoal.EntityID, limit int) ([]shoal.Entity, error) {
	return sqlconn.ListFirst(t.c, limit, entityOf,
		`SELECT `+entityColumns+` FROM entities WHERE session_id = $1 AND id IN (
		   SELECT m.entity_id FROM members AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.entity_id > $3 ORDER BY m.entity_id`+sqlconn.Limit(limit)+`)
		 ORDER BY id`, session, space, after)
}

// Member implements [hub.MemberTx].
func (t *Tx) Member(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (shoal.Member, error) {
	m, ok, err := sqlconn.One(t.c, memberOf,
		`SELECT `+listedColumns+` FROM members AS m CROSS JOIN entities AS e WHERE m.session_id = $1 AND m.space_id = $2 AND m.entity_id = $3
		 AND e.session_id = m.session_id AND e.id = m.entity_id`, session, space, entity)
	return sqlconn.OrNotFound(m, ok, err, "Member", noMember, entity, space)
}

// cachedMembers returns the members of a space from the cache of the writer, and reads them
// if they are not cached. ok is false on a connection for reading, for a space that does
// not exist, and for one with more than rowcache.MaxMembers members.
func (t *Tx) cachedMembers(session shoal.SessionID, space shoal.SpaceID) (members []rowcache.Member, ok bool, err error) {
	if t.cache == nil {
		return nil, false, nil
	}
	if _, err := t.Space(session, space); err != nil {
		if shoal.KindOf(err) == shoal.NotFound {
			err = nil
		}
		return nil, false, err
	}
	s := t.cache.Space(session, space)
	if s.Row.MemberCount > rowcache.MaxMembers {
		return nil, false, nil
	}
	if s.Members == nil {
		members, err := t.readMembers(session, space)
		if err != nil {
			return nil, false, err
		}
		t.cache.PutMembers(s, members)
	}
	return s.Members, true, nil
}

const memberColumns = listedColumns + `, m.hosted FROM members AS m JOIN entities AS e ON e.session_id = m.session_id AND e.id = m.entity_id`

func cachedMemberOf(r *sqlconn.Rows) rowcache.Member {
	return rowcache.Member{Member: memberOf(r), Hosted: r.Bool(6)}
}

// readMembers reads the members of a space.
func (t *Tx) readMembers(session shoal.SessionID, space shoal.SpaceID) ([]rowcache.Member, error) {
	return sqlconn.List(t.c, cachedMemberOf,
		`SELECT `+memberColumns+` WHERE m.session_id = $1 AND m.space_id = $2 ORDER BY m.place`, session, space)
}

// maxQueriedMembers is the number of entities up to which membersIn queries each of them.
const maxQueriedMembers = 4 * sqlconn.MaxList

// membersIn returns the members of a space that are in a set, in any order.
func (t *Tx) membersIn(session shoal.SessionID, space shoal.SpaceID, set storage.EntitySet) (among []rowcache.Member, err error) {
	members, ok, err := t.cachedMembers(session, space)
	if err == nil && !ok && set.Len() > maxQueriedMembers {
		members, err = t.readMembers(session, space)
		ok = true
	}
	if err != nil || ok {
		for _, m := range members {
			if set.Has(m.EntityID) {
				among = append(among, m)
			}
		}
		return among, err
	}
	for some := range slices.Chunk(set.All(), sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT `+memberColumns+` WHERE m.session_id = ? AND m.space_id = ?`, session, space)
		sqlconn.AddIn(&b, ` AND m.entity_id IN (?)`, some)
		found, err := sqlconn.List(t.c, cachedMemberOf, b.Text(), b.Args...)
		if err != nil {
			return nil, err
		}
		among = append(among, found...)
	}
	return among, nil
}

// IsMember implements [hub.MemberTx].
func (t *Tx) IsMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (bool, error) {
	members, ok, err := t.cachedMembers(session, space)
	if err != nil || ok {
		return slices.ContainsFunc(members, func(m rowcache.Member) bool { return m.EntityID == entity }), err
	}
	return sqlconn.Exists(t.c, `SELECT 1 FROM members WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`, session, space, entity)
}

// MembersAmong implements [hub.MemberTx].
func (t *Tx) MembersAmong(session shoal.SessionID, space shoal.SpaceID, ids []shoal.EntityID) ([]storage.MemberKind, error) {
	members, err := t.membersIn(session, space, idList(ids))
	among := make([]storage.MemberKind, len(members))
	for i, m := range members {
		among[i] = storage.MemberKind{ID: m.EntityID, Kind: m.Kind, Hosted: m.Hosted}
	}
	return among, err
}

// entityID reads the id of an entity from column 0.
func entityID(r *sqlconn.Rows) shoal.EntityID { return shoal.EntityID(r.Text(0)) }

// InsertMember implements [hub.MemberTx].
func (t *Tx) InsertMember(session shoal.SessionID, space shoal.SpaceID, m shoal.Member) error {
	t.cache.DropSpace(session, space)
	n, err := t.c.ExecCached(
		`INSERT INTO members (session_id, space_id, entity_id, place, joined_at, hosted, added_by, muted, read_upto, paused_at)
		 SELECT e.session_id, $2, e.id,
		   (SELECT COALESCE(MAX(m.place), 0) + 1 FROM members AS m WHERE m.session_id = $1 AND m.space_id = $2), CAST($4 AS BIGINT), e.hosted_version IS NOT NULL,
		   CAST($5 AS TEXT), CAST($6 AS BOOLEAN), ends.last, CASE WHEN e.hosted_version IS NOT NULL OR CAST($6 AS BOOLEAN) THEN ends.last END
		 FROM entities AS e CROSS JOIN (SELECT COALESCE(MAX(m.arrival), 0) AS last FROM messages AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.arrival IS NOT NULL) AS ends WHERE e.session_id = $1 AND e.id = $3 AND e.deleted_at IS NULL
		 ON CONFLICT DO NOTHING`, session, space, m.EntityID, m.JoinedAt, m.AddedBy, m.Muted)
	if err == nil && n > 0 {
		err = t.countMembers(session, space, n)
	}
	if err != nil || n > 0 {
		return err
	}
	if _, err := t.Entity(session, m.EntityID); err != nil {
		return err
	}
	return sqlconn.AlreadyExists("InsertMember", "%q is a member of the space %q already.", m.EntityID, space)
}

// countMembers adds n to the number of members of a space.
func (t *Tx) countMembers(session shoal.SessionID, space shoal.SpaceID, n int64) error {
	_, err := t.c.ExecCached(`UPDATE spaces SET member_count = member_count + $3 WHERE session_id = $1 AND id = $2`, session, space, n)
	return err
}

// MuteMember implements [hub.MemberTx].
func (t *Tx) MuteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, muted bool) error {
	t.cache.DropSpace(session, space)
	n, err := t.c.ExecCached(`UPDATE members SET muted = $4 WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`, session, space, entity, muted)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("MuteMember", noMember, entity, space)
	}
	if err != nil {
		return err
	}
	if muted {
		return t.PauseMember(session, space, entity)
	}
	hosted, err := sqlconn.Exists(t.c, `SELECT 1 FROM members WHERE session_id = $1 AND space_id = $2 AND entity_id = $3 AND hosted`, session, space, entity)
	if err != nil || hosted {
		return err
	}
	return t.ResumeMember(session, space, entity)
}

// DeleteMember implements [hub.MemberTx].
func (t *Tx) DeleteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) error {
	t.cache.DropSpace(session, space)
	n, err := t.c.ExecCached(`DELETE FROM members WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`, session, space, entity)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteMember", noMember, entity, space)
	}
	if err == nil {
		err = t.countMembers(session, space, -n)
	}
	if err != nil {
		return err
	}
	return t.c.ExecAll([]string{
		`DELETE FROM inbox_entries WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`,
		`DELETE FROM read_ranges WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`,
	}, session, space, entity)
}

// HostedMembers implements [hub.AgentTx]. Every post runs it: an index contains only the
// hosted members.
func (t *Tx) HostedMembers(session shoal.SessionID, space shoal.SpaceID) ([]shoal.EntityID, error) {
	members, ok, err := t.cachedMembers(session, space)
	if err != nil || ok {
		hosted := []shoal.EntityID{}
		for _, m := range members {
			if m.Hosted {
				hosted = append(hosted, m.EntityID)
			}
		}
		return hosted, err
	}
	return sqlconn.List(t.c, entityID,
		`SELECT m.entity_id FROM members AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.hosted ORDER BY m.place`, session, space)
}
