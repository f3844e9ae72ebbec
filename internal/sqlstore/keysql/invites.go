package keysql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// noInvite is the message for an invitation that is not stored.
const noInvite = "Invitation %q not found."

const inviteColumns = `id, session_id, name, session_role, spaces, created_by, created_at, expires_at`

func inviteOf(r *sqlconn.Rows) shoal.Invite {
	i := shoal.Invite{
		ID: shoal.InviteID(r.Text(0)), SessionID: shoal.SessionID(r.Text(1)), Name: r.Text(2), SessionRole: shoal.SessionRole(r.Text(3)),
		Spaces: []shoal.SpaceID{}, CreatedBy: sqlconn.TextOrNil[shoal.EntityID](r, 5), CreatedAt: r.Time(6), ExpiresAt: r.Time(7),
	}
	r.Decode(r.Text(4), &i.Spaces)
	return i
}

// InsertInvite implements [storage.InviteTx].
func (t *Tx) InsertInvite(i shoal.Invite, hash string, with shoal.KeyID) error {
	spaces, err := sqlconn.Encode(append([]shoal.SpaceID{}, i.Spaces...))
	if err != nil {
		return err
	}
	n, err := t.c.Exec(
		`INSERT INTO invites (hash, `+inviteColumns+`, made_with) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		hash, i.ID, i.SessionID, i.Name, i.SessionRole, spaces, i.CreatedBy, i.CreatedAt, i.ExpiresAt, with)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertInvite", "The invitation %q or its code exists already.", i.ID)
	}
	return err
}

// InviteByHash implements [storage.InviteTx].
func (t *Tx) InviteByHash(hash string, at shoal.Time) (shoal.Invite, error) {
	i, ok, err := sqlconn.One(t.c, inviteOf, `SELECT `+inviteColumns+` FROM invites WHERE hash = $1 AND expires_at > $2`, hash, at)
	return sqlconn.OrNotFound(i, ok, err, "InviteByHash", "Invitation not found.")
}

// TakeInvite implements [storage.InviteTx].
func (t *Tx) TakeInvite(hash string, at shoal.Time) (shoal.Invite, error) {
	i, err := t.InviteByHash(hash, at)
	if err != nil {
		return i, err
	}
	n, err := t.c.Exec(`DELETE FROM invites WHERE hash = $1`, hash)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("TakeInvite", "The invitation %q was taken.", i.ID)
	}
	return i, err
}

// Invites implements [storage.InviteTx].
func (t *Tx) Invites(session shoal.SessionID, at shoal.Time, after shoal.InviteID, limit int) ([]shoal.Invite, error) {
	return sqlconn.ListFirst(t.c, limit, inviteOf, `SELECT `+inviteColumns+` FROM invites WHERE session_id = $1 AND expires_at > $2 AND id > $3 ORDER BY id`+sqlconn.Limit(limit), session, at, after)
}

// Invite implements [storage.InviteTx].
func (t *Tx) Invite(session shoal.SessionID, id shoal.InviteID) (shoal.Invite, error) {
	i, ok, err := sqlconn.One(t.c, inviteOf, `SELECT `+inviteColumns+` FROM invites WHERE session_id = $1 AND id = $2`, session, id)
	return sqlconn.OrNotFound(i, ok, err, "Invite", noInvite, id)
}

// DeleteInvite implements [storage.InviteTx].
func (t *Tx) DeleteInvite(session shoal.SessionID, id shoal.InviteID) error {
	n, err := t.c.Exec(`DELETE FROM invites WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteInvite", noInvite, id)
	}
	return err
}

// DeleteInvitesOf implements [storage.InviteTx].
func (t *Tx) DeleteInvitesOf(session shoal.SessionID, entity shoal.EntityID) error {
	_, err := t.c.Exec(`DELETE FROM invites WHERE session_id = $1 AND created_by = $2`, session, entity)
	return err
}

// SweepInvites implements [storage.InviteTx].
func (t *Tx) SweepInvites(at shoal.Time) error {
	_, err := t.c.Exec(`DELETE FROM invites WHERE expires_at <= $1`, at)
	return err
}
