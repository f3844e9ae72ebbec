package sqlstore

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// UnknownTexts implements [hub.RequestTx].
func (t tx) UnknownTexts(session shoal.SessionID, hashes []string) ([]string, error) {
	kept := map[string]bool{}
	for some := range slices.Chunk(hashes, mostIn) {
		var b clauses
		b.add(`SELECT hash FROM model_texts WHERE session_id = ?`, session)
		addIn(&b, ` AND hash IN (?)`, some)
		if _, err := list(t.c, func(r *rows) struct{} { kept[r.text(0)] = true; return struct{}{} }, b.text.String(), b.args...); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(hashes), func(hash string) bool { return kept[hash] }), nil
}

// PutTexts implements [hub.RequestTx]. The last text fills a statement up, so it is
// the shortest.
func (t tx) PutTexts(session shoal.SessionID, texts []hub.ModelText) error {
	texts = slices.SortedFunc(slices.Values(texts), func(a, b hub.ModelText) int { return len(b.Body) - len(a.Body) })
	for some := range slices.Chunk(texts, mostIn) {
		var b clauses
		b.add(`INSERT INTO model_texts (session_id, hash, body) `)
		addValues(&b, some, func(text hub.ModelText) { b.add(`(?, ?, ?)`, session, text.Hash, text.Body) })
		b.add(` ON CONFLICT DO NOTHING`)
		if _, err := t.c.exec(b.text.String(), b.args...); err != nil {
			return err
		}
	}
	return nil
}

// ModelTexts implements [hub.RequestTx].
func (t tx) ModelTexts(session shoal.SessionID, hashes []string) (map[string]string, error) {
	texts := map[string]string{}
	for some := range slices.Chunk(hashes, mostIn) {
		var b clauses
		b.add(`SELECT hash, body FROM model_texts WHERE session_id = ?`, session)
		addIn(&b, ` AND hash IN (?)`, some)
		if _, err := list(t.c, func(r *rows) struct{} { texts[r.text(0)] = r.text(1); return struct{}{} }, b.text.String(), b.args...); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// PutRequest implements [hub.RequestTx].
func (t tx) PutRequest(session shoal.SessionID, run shoal.RunID, r hub.StoredRequest) error {
	messages, err := encode(r.Messages)
	if err != nil {
		return err
	}
	_, err = t.c.exec(
		`INSERT INTO run_requests (session_id, run_id, place, model, system, tools, messages) VALUES ($1, $2, $3, $4, $5, $6, $7)
		 ON CONFLICT (session_id, run_id, place) DO UPDATE SET model = excluded.model, system = excluded.system, tools = excluded.tools,
		   messages = excluded.messages`,
		session, run, r.Step, r.Model, r.System, r.Tools, messages)
	return err
}

// ModelRequest implements [hub.RequestTx].
func (t tx) ModelRequest(session shoal.SessionID, run shoal.RunID, step int) (hub.StoredRequest, error) {
	found, ok, err := one(t.c, func(r *rows) hub.StoredRequest {
		out := hub.StoredRequest{Step: step, Model: r.text(0), System: r.text(1), Tools: r.text(2)}
		r.decode(r.text(3), &out.Messages)
		return out
	}, `SELECT model, system, tools, messages FROM run_requests WHERE session_id = $1 AND run_id = $2 AND place = $3`, session, run, step)
	return present(found, ok, err, "ModelRequest", "The run %q has no request of step %d.", run, step)
}
