package keysql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

func firstText(r *sqlconn.Rows) string { return r.Text(0) }

// EntityByExternal implements [hub.KeyTx].
func (t *Tx) EntityByExternal(session shoal.SessionID, external string) (shoal.EntityID, error) {
	id, ok, err := sqlconn.One(t.c, firstText, `SELECT id FROM entities WHERE session_id = $1 AND external_id = $2`, session, external)
	return sqlconn.OrNotFound(shoal.EntityID(id), ok, err, "EntityByExternal", "Participant not found.")
}

// SaveLogoutToken implements [hub.KeyTx].
func (t *Tx) SaveLogoutToken(id shoal.KeyID, logoutToken string) error {
	_, err := t.c.Exec(`UPDATE keys SET logout_token = $2 WHERE id = $1`, id, logoutToken)
	return err
}

// LogoutToken implements [hub.KeyTx].
func (t *Tx) LogoutToken(id shoal.KeyID) (string, error) {
	logoutToken, _, err := sqlconn.One(t.c, firstText, `SELECT logout_token FROM keys WHERE id = $1 AND logout_token IS NOT NULL`, id)
	return logoutToken, err
}
