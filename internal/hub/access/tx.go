package access

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx is what the functions of this package read in a transaction, see [core.Tx].
type Tx interface {
	core.Tx
	EntityByExternal(session shoal.SessionID, external string) (shoal.EntityID, error)
	EndedRights(held storage.HeldRights, at shoal.Time) (storage.HeldRights, error)
	Entities(session shoal.SessionID, after shoal.EntityID, limit int) ([]shoal.Entity, error)
	Invites(session shoal.SessionID, at shoal.Time, after shoal.InviteID, limit int) ([]shoal.Invite, error)
	KeyByHash(hash string) (shoal.Key, error)
	KeyHash(id shoal.KeyID) (string, error)
	Keys(session shoal.SessionID, after shoal.KeyID, limit int) ([]shoal.Key, error)
	OAuthClient(id string) (storage.OAuthClient, error)
	OAuthGrant(key shoal.KeyID) (storage.OAuthGrant, error)
	OAuthGrantByCode(hash string) (storage.OAuthGrant, error)
	OAuthGrantByFamily(hash string) (storage.OAuthGrant, error)
	LogoutToken(id shoal.KeyID) (string, error)
	RunnerKeys(session shoal.SessionID, id shoal.RunnerID) ([]shoal.KeyID, error)
	Runners(session shoal.SessionID, after shoal.RunnerID, limit int) ([]storage.RunnerRow, error)
	Sessions(after shoal.SessionID, limit int) ([]shoal.Session, error)
	SignIn(id shoal.KeyID) (shoal.Key, error)
	SignIns(of shoal.KeyID) ([]shoal.KeyID, error)
	SignInsOf(session shoal.SessionID, entity shoal.EntityID, after shoal.KeyID, limit int) ([]shoal.Key, error)
}
