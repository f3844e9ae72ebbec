package coresql

import (
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Answer implements [hub.AnswerTx].
func (t *Tx) Answer(key storage.AnswerKey) (storage.Answer, error) {
	a, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) storage.Answer {
		return storage.Answer{Hash: r.Text(0), Body: r.Bytes(1), At: r.Time(2)}
	},
		`SELECT hash, body, at FROM answers WHERE session_id = $1 AND scope = $2 AND route = $3 AND key = $4`,
		key.Session, key.Scope, key.Route, key.Key)
	return sqlconn.OrNotFound(a, ok, err, "Answer", "Nothing was answered under this key.")
}

// InsertAnswer implements [hub.AnswerTx].
func (t *Tx) InsertAnswer(key storage.AnswerKey, a storage.Answer) error {
	body := a.Body
	if body == nil {
		body = []byte{} // the column is NOT NULL
	}
	_, err := t.c.Exec(
		`INSERT INTO answers (session_id, scope, route, key, hash, body, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		 ON CONFLICT (session_id, scope, route, key) DO UPDATE SET hash = excluded.hash, body = excluded.body, at = excluded.at`,
		key.Session, key.Scope, key.Route, key.Key, a.Hash, body, a.At)
	return err
}

// DropAnswers implements [hub.AnswerTx].
func (t *Tx) DropAnswers(before time.Time) error {
	_, done := t.c.ExtendTimeout()
	defer done()
	_, err := t.c.Exec(`DELETE FROM answers WHERE at < $1`, before.UnixMicro())
	return err
}
