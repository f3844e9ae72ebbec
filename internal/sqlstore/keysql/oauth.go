package keysql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

func clientOf(r *sqlconn.Rows) storage.OAuthClient {
	c := storage.OAuthClient{ID: r.Text(0), Name: r.Text(1), CreatedAt: r.Time(3), FreshUntil: r.TimeOrNil(4)}
	r.Decode(r.Text(2), &c.RedirectURIs)
	return c
}

// PutOAuthClient implements [storage.OAuthTx].
func (t *Tx) PutOAuthClient(c storage.OAuthClient) error {
	uris, err := sqlconn.Encode(c.RedirectURIs)
	if err != nil {
		return err
	}
	_, err = t.c.Exec(`INSERT INTO oauth_clients (id, name, redirect_uris, created_at, fresh_until) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, redirect_uris = EXCLUDED.redirect_uris, fresh_until = EXCLUDED.fresh_until`,
		c.ID, c.Name, uris, c.CreatedAt, c.FreshUntil)
	return err
}

// OAuthClient implements [storage.OAuthTx].
func (t *Tx) OAuthClient(id string) (storage.OAuthClient, error) {
	c, ok, err := sqlconn.One(t.c, clientOf, `SELECT id, name, redirect_uris, created_at, fresh_until FROM oauth_clients WHERE id = $1`, id)
	return sqlconn.OrNotFound(c, ok, err, "OAuthClient", "Client %q not found.", id)
}

// TrimOAuthClients implements [storage.OAuthTx].
func (t *Tx) TrimOAuthClients(most int) error {
	_, err := t.c.Exec(`DELETE FROM oauth_clients WHERE id IN (SELECT c.id FROM oauth_clients AS c
		WHERE NOT EXISTS (SELECT 1 FROM oauth_grants AS g WHERE g.client_id = c.id) ORDER BY c.created_at DESC, c.id DESC LIMIT 1000000 OFFSET $1)`, most)
	return err
}

const selectGrant = `SELECT g.key_id, g.session_id, g.client_id, g.redirect_uri, g.challenge, g.resource, g.code_hash, g.family_hash, g.refresh_hash, g.ends_at, g.latest_end
	FROM oauth_grants AS g JOIN keys AS k ON k.id = g.key_id WHERE `

func grantOf(r *sqlconn.Rows) storage.OAuthGrant {
	return storage.OAuthGrant{
		Key: shoal.KeyID(r.Text(0)), Session: shoal.SessionID(r.Text(1)), ClientID: r.Text(2), RedirectURI: r.Text(3), Challenge: r.Text(4), Resource: r.Text(5),
		CodeHash: r.Text(6), FamilyHash: sqlconn.TextOrNil[string](r, 7), RefreshHash: sqlconn.TextOrNil[string](r, 8), EndsAt: r.Time(9), LatestEnd: r.TimeOrNil(10),
	}
}

// InsertOAuthGrant implements [storage.OAuthTx].
func (t *Tx) InsertOAuthGrant(g storage.OAuthGrant) error {
	n, err := t.c.Exec(`INSERT INTO oauth_grants (key_id, session_id, client_id, redirect_uri, challenge, resource, code_hash, family_hash, refresh_hash, ends_at, latest_end)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		g.Key, g.Session, g.ClientID, g.RedirectURI, g.Challenge, g.Resource, g.CodeHash, g.FamilyHash, g.RefreshHash, g.EndsAt, g.LatestEnd)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertOAuthGrant", "The key %q has a grant already.", g.Key)
	}
	return err
}

// OAuthGrant implements [storage.OAuthTx].
func (t *Tx) OAuthGrant(key shoal.KeyID) (storage.OAuthGrant, error) {
	return t.grant("OAuthGrant", `g.key_id = $1`, string(key))
}

// OAuthGrantByCode implements [storage.OAuthTx].
func (t *Tx) OAuthGrantByCode(hash string) (storage.OAuthGrant, error) {
	return t.grant("OAuthGrantByCode", `g.code_hash = $1`, hash)
}

// OAuthGrantByFamily implements [storage.OAuthTx].
func (t *Tx) OAuthGrantByFamily(hash string) (storage.OAuthGrant, error) {
	return t.grant("OAuthGrantByFamily", `g.family_hash = $1`, hash)
}

func (t *Tx) grant(op, where, value string) (storage.OAuthGrant, error) {
	g, ok, err := sqlconn.One(t.c, grantOf, selectGrant+where, value)
	return sqlconn.OrNotFound(g, ok, err, op, "Grant not found.")
}

// RenewOAuthGrant implements [storage.OAuthTx].
func (t *Tx) RenewOAuthGrant(g storage.OAuthGrant, keyHash string, keyEnds shoal.Time) error {
	if _, err := t.c.Exec(`UPDATE oauth_grants SET family_hash = $2, refresh_hash = $3, ends_at = $4 WHERE key_id = $1`, g.Key, g.FamilyHash, g.RefreshHash, g.EndsAt); err != nil {
		return err
	}
	n, err := t.c.Exec(`UPDATE keys SET hash = $2, expires_at = $3 WHERE id = $1`, g.Key, keyHash, keyEnds)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("RenewOAuthGrant", noKey, g.Key)
	}
	return err
}

// SweepOAuthGrants implements [storage.OAuthTx].
func (t *Tx) SweepOAuthGrants(at shoal.Time) error {
	if _, err := t.c.Exec(`DELETE FROM keys WHERE id IN (SELECT key_id FROM oauth_grants WHERE ends_at <= $1)`, at); err != nil {
		return err
	}
	_, err := t.c.Exec(`DELETE FROM oauth_grants WHERE NOT EXISTS (SELECT 1 FROM keys AS k WHERE k.id = oauth_grants.key_id)`)
	return err
}
