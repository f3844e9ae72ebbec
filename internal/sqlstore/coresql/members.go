package coresql

import (
	"slices"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// placedMember is a member with its space.
type placedMember struct {
	space  shoal.SpaceID
	member shoal.Member
}

func memberOf(r *sqlconn.Rows) placedMember {
	return placedMember{shoal.SpaceID(r.Text(0)), shoal.Member{
		EntityID: shoal.EntityID(r.Text(1)), Kind: shoal.EntityKind(r.Text(2)), Name: r.Text(3), JoinedAt: r.Time(4),
		AddedBy: sqlconn.TextOrNil[shoal.EntityID](r, 5), Muted: r.Bool(6),
	}}
}

// Members implements [hub.MemberTx].
func (t *Tx) Members(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Member, error) {
	all, err := t.MembersOf(session, []shoal.SpaceID{space})
	if err != nil {
		return nil, err
	}
	return all[space], nil
}

// MembersOf implements [hub.MemberTx].
func (t *Tx) MembersOf(session shoal.SessionID, spaces []shoal.SpaceID) (map[shoal.SpaceID][]shoal.Member, error) {
	all := make(map[shoal.SpaceID][]shoal.Member, len(spaces))
	for _, space := range spaces {
		all[space] = []shoal.Member{}
	}
	for some := range slices.Chunk(spaces, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT m.space_id, m.entity_id, e.kind, e.name, m.joined_at, m.added_by, m.muted
			FROM members AS m JOIN entities AS e ON e.session_id = m.session_id AND e.id = m.entity_id
			WHERE m.session_id = ?`, session)
		sqlconn.AddIn(&b, ` AND m.space_id IN (?) ORDER BY m.space_id, m.place`, some)
		placed, err := sqlconn.List(t.c, memberOf, b.Text(), b.Args...)
		if err != nil {
			return nil, err
		}
		for _, p := range placed {
			all[p.space] = append(all[p.space], p.member)
		}
	}
	return all, nil
}

// cachedMembers returns the members of a space from the cache of the writer, and reads them
// if they are not cached. ok is false on a connection for reading, for a space that does
// not exist, and for one with more than maxCachedMembers members.
func (t *Tx) cachedMembers(session shoal.SessionID, space shoal.SpaceID) (members []cachedMember, ok bool, err error) {
	if t.cache == nil {
		return nil, false, nil
	}
	if _, err := t.Space(session, space); err != nil {
		if shoal.KindOf(err) == shoal.NotFound {
			err = nil
		}
		return nil, false, err
	}
	s := t.cache.space(session, space)
	if s.members == nil && !s.large {
		members, err := t.readMembers(session, space, ` LIMIT `+strconv.Itoa(maxCachedMembers+1))
		if s.large = len(members) > maxCachedMembers; err != nil || s.large {
			return nil, false, err
		}
		s.members = members
		t.cache.members += len(members)
	}
	return s.members, !s.large, nil
}

const memberColumns = `m.entity_id, m.hosted, e.kind, m.muted FROM members AS m JOIN entities AS e ON e.session_id = m.session_id AND e.id = m.entity_id`

func cachedMemberOf(r *sqlconn.Rows) cachedMember {
	return cachedMember{entityID(r), r.Bool(1), shoal.EntityKind(r.Text(2)), r.Bool(3)}
}

// readMembers reads the members of a space, up to a limit.
func (t *Tx) readMembers(session shoal.SessionID, space shoal.SpaceID, limit string) ([]cachedMember, error) {
	return sqlconn.List(t.c, cachedMemberOf,
		`SELECT `+memberColumns+` WHERE m.session_id = $1 AND m.space_id = $2 ORDER BY m.place`+limit, session, space)
}

// maxQueriedMembers is the number of entities up to which membersIn queries each of them.
const maxQueriedMembers = 4 * sqlconn.MaxList

// membersIn returns the members of a space that are in a set, in any order.
func (t *Tx) membersIn(session shoal.SessionID, space shoal.SpaceID, set storage.EntitySet) (among []cachedMember, err error) {
	members, ok, err := t.cachedMembers(session, space)
	if err == nil && !ok && set.Len() > maxQueriedMembers {
		members, err = t.readMembers(session, space, "")
		ok = true
	}
	if err != nil || ok {
		for _, m := range members {
			if set.Has(m.id) {
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
		return slices.ContainsFunc(members, func(m cachedMember) bool { return m.id == entity }), err
	}
	return sqlconn.Exists(t.c, `SELECT 1 FROM members WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`, session, space, entity)
}

// MembersAmong implements [hub.MemberTx].
func (t *Tx) MembersAmong(session shoal.SessionID, space shoal.SpaceID, ids []shoal.EntityID) ([]storage.MemberKind, error) {
	members, err := t.membersIn(session, space, idList(ids))
	among := make([]storage.MemberKind, len(members))
	for i, m := range members {
		among[i] = storage.MemberKind{ID: m.id, Kind: m.kind, Hosted: m.hosted}
	}
	return among, err
}

// entityID reads the id of an entity from column 0.
func entityID(r *sqlconn.Rows) shoal.EntityID { return shoal.EntityID(r.Text(0)) }

// CountMembers implements [hub.MemberTx].
func (t *Tx) CountMembers(session shoal.SessionID, space shoal.SpaceID) (int, error) {
	n, err := sqlconn.Number(t.c, `SELECT COUNT(*) FROM members WHERE session_id = $1 AND space_id = $2`, session, space)
	return int(n), err
}

// InsertMember implements [hub.MemberTx].
func (t *Tx) InsertMember(session shoal.SessionID, space shoal.SpaceID, m shoal.Member) error {
	t.cache.dropSpace(session, space)
	n, err := t.c.ExecCached(
		`INSERT INTO members (session_id, space_id, entity_id, place, joined_at, hosted, added_by, muted, read_upto, paused_at)
		 SELECT e.session_id, $2, e.id,
		   (SELECT COALESCE(MAX(m.place), 0) + 1 FROM members AS m WHERE m.session_id = $1 AND m.space_id = $2), CAST($4 AS BIGINT), e.hosted_version IS NOT NULL,
		   CAST($5 AS TEXT), CAST($6 AS BOOLEAN), ends.last, CASE WHEN e.hosted_version IS NOT NULL OR CAST($6 AS BOOLEAN) THEN ends.last END
		 FROM entities AS e CROSS JOIN (SELECT COALESCE(MAX(m.arrival), 0) AS last FROM messages AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.arrival IS NOT NULL) AS ends WHERE e.session_id = $1 AND e.id = $3 AND e.deleted_at IS NULL
		 ON CONFLICT DO NOTHING`, session, space, m.EntityID, m.JoinedAt, m.AddedBy, m.Muted)
	if err != nil || n > 0 {
		return err
	}
	if _, err := t.Entity(session, m.EntityID); err != nil {
		return err
	}
	return sqlconn.AlreadyExists("InsertMember", "%q is a member of the space %q already.", m.EntityID, space)
}

// MuteMember implements [hub.MemberTx].
func (t *Tx) MuteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, muted bool) error {
	t.cache.dropSpace(session, space)
	n, err := t.c.ExecCached(`UPDATE members SET muted = $4 WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`, session, space, entity, muted)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("MuteMember", "%q is not a member of the space %q.", entity, space)
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
	t.cache.dropSpace(session, space)
	n, err := t.c.ExecCached(`DELETE FROM members WHERE session_id = $1 AND space_id = $2 AND entity_id = $3`, session, space, entity)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteMember", "%q is not a member of the space %q.", entity, space)
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
			if m.hosted {
				hosted = append(hosted, m.id)
			}
		}
		return hosted, err
	}
	return sqlconn.List(t.c, entityID,
		`SELECT m.entity_id FROM members AS m WHERE m.session_id = $1 AND m.space_id = $2 AND m.hosted ORDER BY m.place`, session, space)
}
