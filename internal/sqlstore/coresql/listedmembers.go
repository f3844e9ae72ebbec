package coresql

import (
	"fmt"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// listedColumns are the columns of a member m and its entity e.
const listedColumns = `m.entity_id, e.kind, e.name, m.joined_at, m.added_by, m.muted`

func memberOf(r *sqlconn.Rows) shoal.Member {
	return shoal.Member{
		EntityID: shoal.EntityID(r.Text(0)), Kind: shoal.EntityKind(r.Text(1)), Name: r.Text(2), JoinedAt: r.Time(3),
		AddedBy: sqlconn.TextOrNil[shoal.EntityID](r, 4), Muted: r.Bool(5),
	}
}

// listedMember is a member with its space.
type listedMember struct {
	member shoal.Member
	space  shoal.SpaceID
	large  bool // the space has more members than are listed
	admin  shoal.EntityID
}

func listedMemberOf(r *sqlconn.Rows) listedMember {
	return listedMember{memberOf(r), shoal.SpaceID(r.Text(6)), r.Int(7) > shoal.MaxListedMembers, shoal.EntityID(r.Text(8))}
}

const listedSpaceColumns = `, s.id, s.member_count, COALESCE(s.admin_agent_id, '')`

// ListedMembers implements [hub.MemberTx].
func (t *Tx) ListedMembers(session shoal.SessionID, reader shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID][]shoal.Member, error) {
	all := make(map[shoal.SpaceID][]shoal.Member, len(spaces))
	if len(spaces) == 1 {
		if listed, ok, err := t.cachedList(session, spaces[0]); err != nil || ok {
			all[spaces[0]] = listed
			return all, err
		}
	}
	for _, space := range spaces {
		all[space] = []shoal.Member{}
	}
	for some := range slices.Chunk(spaces, sqlconn.MaxList) {
		found, err := t.firstMembers(session, some)
		if err != nil {
			return nil, err
		}
		admins := map[shoal.SpaceID]shoal.EntityID{} // of large spaces
		for _, f := range found {
			all[f.space] = append(all[f.space], f.member)
			if f.large {
				admins[f.space] = f.admin
			}
		}
		if err := t.listImportant(session, reader, admins, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// cachedList returns the members that a space lists for every reader, from the cache of the writer.
// ok is false on a connection for reading, and for a space of which it lists only some.
func (t *Tx) cachedList(session shoal.SessionID, space shoal.SpaceID) (listed []shoal.Member, ok bool, err error) {
	members, ok, err := t.cachedMembers(session, space)
	if err != nil || !ok || len(members) > shoal.MaxListedMembers {
		return nil, false, err
	}
	return t.cache.Space(session, space).Listed(), true, nil
}

// firstMembers returns the members of each space that joined first, as many as are listed.
func (t *Tx) firstMembers(session shoal.SessionID, spaces []shoal.SpaceID) ([]listedMember, error) {
	var b sqlconn.Builder
	b.Add(fmt.Sprintf(`SELECT `+listedColumns+listedSpaceColumns+`
		FROM spaces AS s CROSS JOIN members AS m CROSS JOIN entities AS e
		WHERE m.session_id = s.session_id AND m.space_id = s.id
		AND m.place <= CASE WHEN s.member_count > %d THEN (SELECT p.place FROM members AS p
		  WHERE p.session_id = s.session_id AND p.space_id = s.id ORDER BY p.place LIMIT 1 OFFSET %d) ELSE 9223372036854775807 END
		AND e.session_id = m.session_id AND e.id = m.entity_id AND s.session_id = ?`, shoal.MaxListedMembers, shoal.MaxListedMembers-1), session)
	sqlconn.AddIn(&b, ` AND s.id IN (?) ORDER BY s.id, m.place`, spaces)
	return sqlconn.List(t.c, listedMemberOf, b.Text(), b.Args...)
}

// maxListedAgents is how many hosted agents of a large space are listed before others.
const maxListedAgents = 20

// listImportant puts the reader, the admin agent, hosted agents and the latest senders before
// the other members of the spaces that have a key in admins, which are the large ones.
func (t *Tx) listImportant(session shoal.SessionID, reader shoal.EntityID, admins map[shoal.SpaceID]shoal.EntityID, all map[shoal.SpaceID][]shoal.Member) error {
	if len(admins) == 0 {
		return nil
	}
	important := make(map[shoal.SpaceID][]shoal.EntityID, len(admins))
	for space, admin := range admins {
		important[space] = []shoal.EntityID{reader, admin}
	}
	for _, read := range []func(shoal.SessionID, []shoal.SpaceID) ([]entityIn, error){t.firstHosted, t.latestSenders} {
		found, err := read(session, slices.Sorted(maps.Keys(admins)))
		if err != nil {
			return err
		}
		for _, f := range found {
			if !slices.Contains(important[f.space], f.entity) {
				important[f.space] = append(important[f.space], f.entity)
			}
		}
	}
	members, err := t.membersNamed(session, important)
	if err != nil {
		return err
	}
	for space, ids := range important {
		listed := make([]shoal.Member, 0, shoal.MaxListedMembers)
		add := func(m shoal.Member) {
			if len(listed) < shoal.MaxListedMembers && !slices.ContainsFunc(listed, func(l shoal.Member) bool { return l.EntityID == m.EntityID }) {
				listed = append(listed, m)
			}
		}
		for _, id := range ids {
			if m, ok := members[space][id]; ok {
				add(m)
			}
		}
		for _, m := range all[space] {
			add(m)
		}
		all[space] = listed
	}
	return nil
}

// entityIn is an entity in a space.
type entityIn struct {
	space  shoal.SpaceID
	entity shoal.EntityID
}

func entityInOf(r *sqlconn.Rows) entityIn {
	return entityIn{shoal.SpaceID(r.Text(0)), shoal.EntityID(r.Text(1))}
}

// firstHosted returns the hosted agents of each space that joined first.
func (t *Tx) firstHosted(session shoal.SessionID, spaces []shoal.SpaceID) ([]entityIn, error) {
	var b sqlconn.Builder
	b.Add(fmt.Sprintf(`SELECT s.id, m.entity_id FROM spaces AS s CROSS JOIN members AS m
		WHERE m.session_id = s.session_id AND m.space_id = s.id AND m.hosted
		AND m.place <= COALESCE((SELECT p.place FROM members AS p WHERE p.session_id = s.session_id AND p.space_id = s.id AND p.hosted
		  ORDER BY p.place LIMIT 1 OFFSET %d), 9223372036854775807) AND s.session_id = ?`, maxListedAgents-1), session)
	sqlconn.AddIn(&b, ` AND s.id IN (?) ORDER BY s.id, m.place`, spaces)
	return sqlconn.List(t.c, entityInOf, b.Text(), b.Args...)
}

// latestSenders returns the senders of the last messages of each space, the latest first.
func (t *Tx) latestSenders(session shoal.SessionID, spaces []shoal.SpaceID) ([]entityIn, error) {
	var b sqlconn.Builder
	b.Add(fmt.Sprintf(`SELECT s.id, x.entity_id FROM spaces AS s CROSS JOIN messages AS x
		WHERE x.session_id = s.session_id AND x.space_id = s.id AND x.seq > `+schema.LastSeq+` - %d AND s.session_id = ?`, shoal.MaxListedMembers), session)
	sqlconn.AddIn(&b, ` AND s.id IN (?) ORDER BY s.id, x.seq DESC`, spaces)
	return sqlconn.List(t.c, entityInOf, b.Text(), b.Args...)
}

// membersNamed returns those entities that are members of a space.
func (t *Tx) membersNamed(session shoal.SessionID, named map[shoal.SpaceID][]shoal.EntityID) (map[shoal.SpaceID]map[shoal.EntityID]shoal.Member, error) {
	var pairs []entityIn
	members := make(map[shoal.SpaceID]map[shoal.EntityID]shoal.Member, len(named))
	for space, ids := range named {
		members[space] = map[shoal.EntityID]shoal.Member{}
		for _, id := range ids {
			pairs = append(pairs, entityIn{space, id})
		}
	}
	for some := range slices.Chunk(pairs, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT ` + listedColumns + `, m.space_id FROM (`)
		sqlconn.AddValues(&b, some, func(p entityIn) { b.Add(`(?, ?)`, p.space, p.entity) })
		b.Add(`) AS v CROSS JOIN members AS m CROSS JOIN entities AS e
			WHERE m.session_id = ? AND m.space_id = v.column1 AND m.entity_id = v.column2 AND e.session_id = m.session_id AND e.id = m.entity_id`, session)
		found, err := sqlconn.List(t.c, func(r *sqlconn.Rows) listedMember {
			return listedMember{member: memberOf(r), space: shoal.SpaceID(r.Text(6))}
		}, b.Text(), b.Args...)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			members[f.space][f.member.EntityID] = f.member
		}
	}
	return members, nil
}
