// Package pushsql is the SQL of the subscriptions to notifications of people's browsers.
package pushsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Tx reads and changes these subscriptions in the current transaction of a connection.
type Tx struct{ c *sqlconn.Conn }

// New returns the Tx of a connection.
func New(c *sqlconn.Conn) *Tx { return &Tx{c} }

const noPush = "Subscription %q not found."

const columns = `id, device, created_at, expires_at, last_sent_at, session_id, entity_id, key_id, endpoint, p256dh, auth, place, opened_at`

func pushOf(r *sqlconn.Rows) storage.Push {
	return storage.Push{
		PushSubscription: storage.PushSubscription{ID: storage.PushID(r.Text(0)), Device: r.Text(1), CreatedAt: r.Time(2), ExpiresAt: r.Time(3), LastSentAt: r.TimeOrNil(4)},
		Session:          shoal.SessionID(r.Text(5)), Entity: shoal.EntityID(r.Text(6)), Key: shoal.KeyID(r.Text(7)),
		Target: storage.PushTarget{Endpoint: r.Text(8), P256dh: r.Text(9), Auth: r.Text(10)}, Place: r.Int(11), OpenedAt: r.Time(12),
	}
}

// SavePush implements [storage.PushTx].
func (t *Tx) SavePush(s storage.Push) error {
	if _, err := t.c.Exec(`DELETE FROM push_subscriptions WHERE endpoint = $1`, s.Target.Endpoint); err != nil {
		return err
	}
	_, err := t.c.Exec(`INSERT INTO push_subscriptions (`+columns+`, sign_in_of) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
			(SELECT k.sign_in_of FROM keys AS k WHERE k.id = $8))`,
		string(s.ID), s.Device, s.CreatedAt, s.ExpiresAt, s.LastSentAt, s.Session, s.Entity, s.Key, s.Target.Endpoint, s.Target.P256dh, s.Target.Auth, s.Place, s.OpenedAt)
	return err
}

// PushAt implements [storage.PushTx].
func (t *Tx) PushAt(endpoint string) (storage.Push, error) {
	s, ok, err := sqlconn.One(t.c, pushOf, `SELECT `+columns+` FROM push_subscriptions WHERE endpoint = $1`, endpoint)
	return sqlconn.OrNotFound(s, ok, err, "PushAt", "Subscription not found.")
}

// Pushes implements [storage.PushTx].
func (t *Tx) Pushes(session shoal.SessionID, entity shoal.EntityID, at shoal.Time) ([]storage.Push, error) {
	return sqlconn.List(t.c, pushOf, `SELECT `+columns+` FROM push_subscriptions
		WHERE session_id = $1 AND entity_id = $2 AND expires_at > $3 ORDER BY created_at, id`, session, entity, at)
}

// DeletePush implements [storage.PushTx].
func (t *Tx) DeletePush(session shoal.SessionID, entity shoal.EntityID, id storage.PushID) error {
	n, err := t.c.Exec(`DELETE FROM push_subscriptions WHERE id = $1 AND session_id = $2 AND (entity_id = $3 OR $3 = '')`, string(id), session, entity)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeletePush", noPush, id)
	}
	return err
}

// DeletePushesOf implements [storage.PushTx].
func (t *Tx) DeletePushesOf(session shoal.SessionID, entity shoal.EntityID) error {
	return t.c.ExecAll([]string{`DELETE FROM push_subscriptions WHERE session_id = $1 AND entity_id = $2`}, session, entity)
}

// DeletePushesBy implements [storage.PushTx].
func (t *Tx) DeletePushesBy(of shoal.KeyID) error {
	return t.c.ExecAll([]string{`DELETE FROM push_subscriptions WHERE sign_in_of = $1`}, of)
}

// DeleteExpiredPushes implements [storage.PushTx].
func (t *Tx) DeleteExpiredPushes(at shoal.Time) error {
	return t.c.ExecAll([]string{`DELETE FROM push_subscriptions WHERE expires_at <= $1`}, at)
}

// PushDue implements [storage.PushTx].
func (t *Tx) PushDue(at, upTo shoal.Time, limit int) ([]storage.Push, error) {
	return sqlconn.ListFirst(t.c, limit, pushOf, `SELECT `+columns+` FROM push_subscriptions AS sub WHERE sub.expires_at > $1 AND (
			EXISTS (SELECT 1 FROM inbox_entries AS i WHERE i.session_id = sub.session_id AND i.entity_id = sub.entity_id AND i.acked_at = 0 AND i.place > sub.place)
			OR EXISTS (SELECT 1 FROM pending_actions AS p WHERE p.session_id = sub.session_id AND p.status = 'open' AND p.kind NOT IN ($3, $4)
				AND p.created_at > sub.opened_at AND p.created_at <= $2))
		ORDER BY sub.id`+sqlconn.Limit(limit), at, upTo, string(storage.PendingReply), string(storage.PendingTimer))
}

// MovePush implements [storage.PushTx].
func (t *Tx) MovePush(id storage.PushID, place int64, openedAt shoal.Time, sent *shoal.Time) error {
	_, err := t.c.Exec(`UPDATE push_subscriptions SET place = $2, opened_at = $3, last_sent_at = COALESCE($4, last_sent_at) WHERE id = $1`, string(id), place, openedAt, sent)
	return err
}

// PushKey implements [storage.PushTx].
func (t *Tx) PushKey(candidate string) (string, error) {
	if candidate != "" {
		if _, err := t.c.Exec(`UPDATE push_sender SET key = $1 WHERE key = ''`, candidate); err != nil {
			return "", err
		}
	}
	key, _, err := sqlconn.One(t.c, func(r *sqlconn.Rows) string { return r.Text(0) }, `SELECT key FROM push_sender`)
	return key, err
}

// HoldPush implements [storage.PushTx].
func (t *Tx) HoldPush(holder string, now, until shoal.Time) (bool, error) {
	n, err := t.c.Exec(`UPDATE push_sender SET holder = $1, until = $3 WHERE holder = $1 OR until <= $2`, holder, now, until)
	return n > 0, err
}
