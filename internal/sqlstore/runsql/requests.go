package runsql

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// UnknownTexts implements [hub.RequestTx].
func (t *Tx) UnknownTexts(session shoal.SessionID, hashes []string) ([]string, error) {
	kept := map[string]bool{}
	for some := range slices.Chunk(hashes, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT hash FROM model_texts WHERE session_id = ?`, session)
		sqlconn.AddIn(&b, ` AND hash IN (?)`, some)
		if _, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} { kept[r.Text(0)] = true; return struct{}{} }, b.Text(), b.Args...); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(hashes), func(hash string) bool { return kept[hash] }), nil
}

// PutTexts implements [hub.RequestTx]. The last text is repeated to
// fill the statement, so the texts are sorted by descending length.
func (t *Tx) PutTexts(session shoal.SessionID, texts []storage.ModelText) error {
	texts = slices.SortedFunc(slices.Values(texts), func(a, b storage.ModelText) int { return len(b.Body) - len(a.Body) })
	for some := range slices.Chunk(texts, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`INSERT INTO model_texts (session_id, hash, body) `)
		sqlconn.AddValues(&b, some, func(text storage.ModelText) { b.Add(`(?, ?, ?)`, session, text.Hash, text.Body) })
		b.Add(` ON CONFLICT DO NOTHING`)
		if _, err := t.c.Exec(b.Text(), b.Args...); err != nil {
			return err
		}
	}
	return nil
}

// ModelTexts implements [hub.RequestTx].
func (t *Tx) ModelTexts(session shoal.SessionID, hashes []string) (map[string]string, error) {
	texts := map[string]string{}
	for some := range slices.Chunk(hashes, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT hash, body FROM model_texts WHERE session_id = ?`, session)
		sqlconn.AddIn(&b, ` AND hash IN (?)`, some)
		if _, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} { texts[r.Text(0)] = r.Text(1); return struct{}{} }, b.Text(), b.Args...); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// PutRequest implements [hub.RequestTx].
func (t *Tx) PutRequest(session shoal.SessionID, run shoal.RunID, r storage.Request) error {
	messages, err := sqlconn.Encode(r.Messages)
	if err != nil {
		return err
	}
	_, err = t.c.Exec(
		`INSERT INTO run_requests (session_id, run_id, place, model, system, tools, messages) VALUES ($1, $2, $3, $4, $5, $6, $7)
		 ON CONFLICT (session_id, run_id, place) DO UPDATE SET model = excluded.model, system = excluded.system, tools = excluded.tools,
		   messages = excluded.messages`,
		session, run, r.Step, r.Model, r.System, r.Tools, messages)
	return err
}

// ModelRequest implements [hub.RequestTx].
func (t *Tx) ModelRequest(session shoal.SessionID, run shoal.RunID, step int) (storage.Request, error) {
	found, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) storage.Request {
		out := storage.Request{Step: step, Model: r.Text(0), System: r.Text(1), Tools: r.Text(2)}
		r.Decode(r.Text(3), &out.Messages)
		return out
	}, `SELECT model, system, tools, messages FROM run_requests WHERE session_id = $1 AND run_id = $2 AND place = $3`, session, run, step)
	return sqlconn.OrNotFound(found, ok, err, "ModelRequest", "The run %q has no request of step %d.", run, step)
}

// Requests implements [hub.RequestTx].
func (t *Tx) Requests(session shoal.SessionID, after storage.RequestPosition, limit int) ([]storage.Request, storage.RequestPosition, error) {
	step := after.Step
	if after.Run == "" {
		step = -1
	}
	last := after
	found, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) storage.Request {
		last = storage.RequestPosition{Run: shoal.RunID(r.Text(0)), Step: int(r.Int(1))}
		out := storage.Request{Step: last.Step, Model: r.Text(2), System: r.Text(3), Tools: r.Text(4)}
		r.Decode(r.Text(5), &out.Messages)
		return out
	}, `SELECT run_id, place, model, system, tools, messages FROM run_requests
		WHERE session_id = $1 AND (run_id, place) > ($2, $3) ORDER BY run_id, place`+sqlconn.Limit(limit), session, after.Run, step)
	return found, last, err
}

// DropRequests implements [hub.RequestTx]. It finds runs through
// their requests, so that runs without requests are not read again.
func (t *Tx) DropRequests(session shoal.SessionID, before shoal.Time, limit int) (int, error) {
	type request struct {
		run   string
		place int64
	}
	old, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) request { return request{r.Text(0), r.Int(1)} },
		`SELECT q.run_id, q.place FROM run_requests AS q JOIN runs AS r ON r.session_id = q.session_id AND r.id = q.run_id
		 WHERE q.session_id = $1 AND r.ended_at < $2`+sqlconn.Limit(limit), session, before)
	for _, q := range old {
		if err == nil {
			_, err = t.c.Exec(`DELETE FROM run_requests WHERE session_id = $1 AND run_id = $2 AND place = $3`, session, q.run, q.place)
		}
	}
	return len(old), err
}

// TextHashes implements [hub.RequestTx].
func (t *Tx) TextHashes(session shoal.SessionID, after string, limit int) ([]string, error) {
	return sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) string { return r.Text(0) },
		`SELECT hash FROM model_texts WHERE session_id = $1 AND hash > $2 ORDER BY hash`+sqlconn.Limit(limit), session, after)
}

// DropTexts implements [hub.RequestTx].
func (t *Tx) DropTexts(session shoal.SessionID, hashes []string) error {
	if err := t.c.Overwrite(true); err != nil {
		return err
	}
	for some := range slices.Chunk(hashes, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`DELETE FROM model_texts WHERE session_id = ?`, session)
		sqlconn.AddIn(&b, ` AND hash IN (?)`, some)
		if _, err := t.c.Exec(b.Text(), b.Args...); err != nil {
			return err
		}
	}
	return t.c.Overwrite(false)
}

// Claims implements [hub.RequestTx].
func (t *Tx) Claims(session shoal.SessionID) (n int64, held bool, err error) {
	if n, err = sqlconn.Number(t.c, `SELECT CAST(SUM(generation) AS BIGINT) FROM runs WHERE session_id = $1`, session); err != nil {
		return 0, false, err
	}
	held, err = sqlconn.Exists(t.c, `SELECT 1 FROM runs WHERE session_id = $1 AND lease_until IS NOT NULL`, session)
	return n, held, err
}
