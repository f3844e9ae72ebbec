package storage

import "github.com/shoal-dev/shoal"

// InviteTx stores invitations. A hash is the SHA-256 of the code in the link, in hexadecimal.
type InviteTx interface {
	InsertInvite(i shoal.Invite, hash string, with shoal.KeyID) error
	// InviteByHash returns the invitation with a hash that expires after a time. It fails with
	// NotFound if no invitation has that hash.
	InviteByHash(hash string, at shoal.Time) (shoal.Invite, error)
	// TakeInvite is InviteByHash that deletes the invitation, so that each is taken once.
	TakeInvite(hash string, at shoal.Time) (shoal.Invite, error)
	// Invites lists the invitations of a session that expire after a time, in the order of ids,
	// starting after the given one.
	Invites(session shoal.SessionID, at shoal.Time, after shoal.InviteID, limit int) ([]shoal.Invite, error)
	// Invite returns an invitation of a session, also one that has expired. It fails with NotFound
	// also for one of another session.
	Invite(session shoal.SessionID, id shoal.InviteID) (shoal.Invite, error)
	// DeleteInvite fails with NotFound also for an invitation of another session.
	DeleteInvite(session shoal.SessionID, id shoal.InviteID) error
	// DeleteInvitesOf deletes the invitations that an entity created.
	DeleteInvitesOf(session shoal.SessionID, entity shoal.EntityID) error
	// SweepInvites deletes the invitations that had expired at a time.
	SweepInvites(at shoal.Time) error
}
