package sqlstore

import (
	"time"

	"github.com/shoal-dev/shoal/internal/hub"
)

// Answer implements [hub.AnswerTx].
func (t tx) Answer(key hub.AnswerKey) (hub.Answer, error) {
	a, ok, err := one(t.c, func(r *rows) hub.Answer { return hub.Answer{Hash: r.text(0), Body: r.bytes(1), At: r.time(2)} },
		`SELECT hash, body, at FROM answers WHERE session_id = $1 AND scope = $2 AND route = $3 AND key = $4`,
		key.Session, key.Scope, key.Route, key.Key)
	return present(a, ok, err, "Answer", "Nothing was answered under this key.")
}

// InsertAnswer implements [hub.AnswerTx].
func (t tx) InsertAnswer(key hub.AnswerKey, a hub.Answer) error {
	body := a.Body
	if body == nil {
		body = []byte{} // NULL would be no answer
	}
	_, err := t.c.exec(
		`INSERT INTO answers (session_id, scope, route, key, hash, body, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		 ON CONFLICT (session_id, scope, route, key) DO UPDATE SET hash = excluded.hash, body = excluded.body, at = excluded.at`,
		key.Session, key.Scope, key.Route, key.Key, a.Hash, body, a.At)
	return err
}

// DropAnswers implements [hub.AnswerTx].
func (t tx) DropAnswers(before time.Time) error {
	_, err := t.c.exec(`DELETE FROM answers WHERE at < $1`, before.UnixMicro())
	return err
}
