package keysql

import (
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/scopes"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// noKey is the message for a key that is not stored.
const noKey = "Key %q not found."

const keyColumns = `id, role, session_id, entity_id, name, created_at, expires_at, last_used_at, last_address, device, scopes, renew_ms, replaced_by`

func keyOf(r *sqlconn.Rows) shoal.Key {
	return shoal.Key{
		ID: shoal.KeyID(r.Text(0)), Role: shoal.Role(r.Text(1)), SessionID: sqlconn.TextOrNil[shoal.SessionID](r, 2),
		EntityID: sqlconn.TextOrNil[shoal.EntityID](r, 3), Name: r.Text(4), CreatedAt: r.Time(5), ExpiresAt: r.TimeOrNil(6), LastUsedAt: r.TimeOrNil(7),
		Address: sqlconn.TextOrNil[string](r, 8), Device: sqlconn.TextOrNil[string](r, 9), Scopes: scopes.List(r.Text(10)),
		RenewForMs: r.IntOrNil(11), ReplacedBy: sqlconn.TextOrNil[shoal.KeyID](r, 12),
	}
}

// InsertKey implements [hub.KeyTx].
func (t *Tx) InsertKey(k shoal.Key, hash string) error {
	n, err := t.c.Exec(
		`INSERT INTO keys (id, hash, role, session_id, entity_id, name, created_at, expires_at, last_used_at, last_address, device, scopes, renew_ms)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`,
		k.ID, hash, k.Role, k.SessionID, k.EntityID, k.Name, k.CreatedAt, k.ExpiresAt, k.LastUsedAt, k.Address, k.Device, scopes.Text(k.Scopes), k.RenewForMs)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertKey", "The key id %q or its secret is taken; create another key.", k.ID)
	}
	return err
}

// InsertSignIn implements [hub.KeyTx].
func (t *Tx) InsertSignIn(k shoal.Key, hash string, of shoal.KeyID) error {
	if err := t.InsertKey(k, hash); err != nil {
		return err
	}
	_, err := t.c.Exec(`UPDATE keys SET sign_in_of = $2 WHERE id = $1`, k.ID, of)
	return err
}

// SignIns implements [hub.KeyTx].
func (t *Tx) SignIns(of shoal.KeyID) ([]shoal.KeyID, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) shoal.KeyID { return shoal.KeyID(r.Text(0)) }, `SELECT id FROM keys WHERE sign_in_of = $1`, of)
}

// SignInsOf implements [hub.KeyTx].
func (t *Tx) SignInsOf(session shoal.SessionID, entity shoal.EntityID, after shoal.KeyID, limit int) ([]shoal.Key, error) {
	return sqlconn.ListFirst(t.c, limit, keyOf, `SELECT `+keyColumns+` FROM keys WHERE device IS NOT NULL
		AND (session_id = $1 OR $1 = '') AND (entity_id = $2 OR $2 = '') AND id > $3 ORDER BY id`+sqlconn.Limit(limit), session, entity, after)
}

// SignIn implements [hub.KeyTx].
func (t *Tx) SignIn(id shoal.KeyID) (shoal.Key, error) {
	k, ok, err := sqlconn.One(t.c, keyOf, `SELECT `+keyColumns+` FROM keys WHERE id = $1 AND (sign_in_of IS NOT NULL OR device IS NOT NULL)`, id)
	return sqlconn.OrNotFound(k, ok, err, "SignIn", "Sign-in not found.")
}

// SweepSignIns implements [hub.KeyTx].
func (t *Tx) SweepSignIns(ended, unused shoal.Time) error {
	_, err := t.c.Exec(`DELETE FROM keys WHERE sign_in_of IS NOT NULL AND (expires_at <= $1 OR COALESCE(last_used_at, created_at) <= $2)`, ended, unused)
	return err
}

// KeyHash implements [hub.KeyTx].
func (t *Tx) KeyHash(id shoal.KeyID) (string, error) {
	hash, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) string { return r.Text(0) }, `SELECT hash FROM keys WHERE id = $1`, id)
	return sqlconn.OrNotFound(hash, ok, err, "KeyHash", "Key not found.")
}

// KeyByHash implements [hub.KeyTx].
func (t *Tx) KeyByHash(hash string) (shoal.Key, error) {
	k, ok, err := sqlconn.One(t.c, keyOf, `SELECT `+keyColumns+` FROM keys WHERE hash = $1`, hash)
	return sqlconn.OrNotFound(k, ok, err, "KeyByHash", "Key not found.")
}

// Key implements [hub.KeyTx].
func (t *Tx) Key(id shoal.KeyID) (shoal.Key, error) {
	k, ok, err := sqlconn.One(t.c, keyOf, `SELECT `+keyColumns+` FROM keys WHERE id = $1`, id)
	return sqlconn.OrNotFound(k, ok, err, "Key", noKey, id)
}

// ReplaceKey implements [hub.KeyTx].
func (t *Tx) ReplaceKey(id, by shoal.KeyID, ends shoal.Time) error {
	n, err := t.c.Exec(`UPDATE keys SET replaced_by = $2, renew_ms = NULL, expires_at = CASE WHEN expires_at < $3 THEN expires_at ELSE $3 END WHERE id = $1`, id, by, ends)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("ReplaceKey", noKey, id)
	}
	if err != nil {
		return err
	}
	_, err = t.c.Exec(`UPDATE invites SET made_with = $2 WHERE made_with = $1`, id, by)
	return err
}

// RevokedKey implements [hub.KeyTx].
func (t *Tx) RevokedKey(hash string) (bool, error) {
	return sqlconn.Exists(t.c, `SELECT 1 FROM revoked_keys WHERE hash = $1`, hash)
}

// RevokeHash implements [hub.KeyTx].
func (t *Tx) RevokeHash(session shoal.SessionID, hash string) error {
	_, err := t.c.Exec(`INSERT INTO revoked_keys (hash, session_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, hash, session)
	return err
}

// Keys implements [hub.KeyTx].
func (t *Tx) Keys(session shoal.SessionID, after shoal.KeyID, limit int) ([]shoal.Key, error) {
	if session == "" {
		return sqlconn.ListFirst(t.c, limit, keyOf, `SELECT `+keyColumns+` FROM keys WHERE id > $1 ORDER BY id`+sqlconn.Limit(limit), after)
	}
	return sqlconn.ListFirst(t.c, limit, keyOf, `SELECT `+keyColumns+` FROM keys WHERE session_id = $2 AND id > $1 ORDER BY id`+sqlconn.Limit(limit), after, session)
}

// DeleteKey implements [hub.KeyTx].
func (t *Tx) DeleteKey(session shoal.SessionID, id shoal.KeyID) error {
	if err := t.c.ExecAll([]string{
		`INSERT INTO revoked_keys (hash, session_id) SELECT hash, session_id FROM keys WHERE id = $1 AND (session_id = $2 OR $2 = '') ON CONFLICT DO NOTHING`,
	}, id, session); err != nil {
		return err
	}
	n, err := t.c.Exec(`DELETE FROM keys WHERE id = $1 AND (session_id = $2 OR $2 = '')`, id, session)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteKey", noKey, id)
	}
	if err != nil {
		return err
	}
	return t.c.ExecAll([]string{`DELETE FROM explicit_keys WHERE key_id = $1`, `DELETE FROM invites WHERE made_with = $1`, `DELETE FROM oauth_grants WHERE key_id = $1`, `DELETE FROM push_subscriptions WHERE key_id = $1 OR sign_in_of = $1`}, id)
}

// DeleteEntityKeys implements [hub.KeyTx].
func (t *Tx) DeleteEntityKeys(session shoal.SessionID, entity shoal.EntityID) error {
	return t.c.ExecAll([]string{
		`DELETE FROM invites WHERE made_with IN (SELECT id FROM keys WHERE session_id = $1 AND entity_id = $2)`,
		`DELETE FROM explicit_keys WHERE key_id IN (SELECT id FROM keys WHERE session_id = $1 AND entity_id = $2)`,
		`DELETE FROM oauth_grants WHERE key_id IN (SELECT id FROM keys WHERE session_id = $1 AND entity_id = $2)`,
		`INSERT INTO revoked_keys (hash, session_id) SELECT hash, session_id FROM keys WHERE session_id = $1 AND entity_id = $2 ON CONFLICT DO NOTHING`,
		`DELETE FROM keys WHERE session_id = $1 AND entity_id = $2`,
		`DELETE FROM push_subscriptions WHERE session_id = $1 AND entity_id = $2`,
	}, session, entity)
}

// UsedKeys implements [hub.KeyTx].
func (t *Tx) UsedKeys(used map[shoal.KeyID]storage.KeyUse) error {
	for some := range slices.Chunk(slices.Collect(maps.Keys(used)), sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`UPDATE keys SET last_used_at = v.column2, last_address = COALESCE(v.column3, last_address),
			expires_at = CASE WHEN expires_at > v.column2 AND expires_at < v.column2 + renew_ms * 1000 THEN v.column2 + renew_ms * 1000 ELSE expires_at END FROM (`)
		sqlconn.AddValues(&b, some, func(id shoal.KeyID) {
			var address *string
			if use := used[id]; use.Address != "" {
				address = &use.Address
			}
			b.Add(`(?, CAST(? AS BIGINT), CAST(? AS TEXT))`, id, used[id].At, address)
		})
		b.Add(`) AS v WHERE id = v.column1`)
		if _, err := t.c.Exec(b.Text(), b.Args...); err != nil {
			return err
		}
	}
	return nil
}
