package erasesql

import (
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// traceTables are the tables with texts of people or models, without messages: key are the columns
// that identify a row in its session, columns those with JSON or text, run the column of the run, or
// ” for none, and acts the condition of the rows in [storage.ActTraces], FALSE for none.
var traceTables = []traceTable{
	{"events", "run_id", []string{"place"}, []string{"data"}, "TRUE"},
	{"runs", "id", []string{"number"}, []string{"trigger_data", "turn", "error"}, "TRUE"},
	{"run_steps", "run_id", []string{"run_id", "place"}, []string{"step", "data"}, "TRUE"},
	{"run_work", "run_id", []string{"run_id", "place"}, []string{"data"}, "TRUE"},
	{"run_clients", "run_id", []string{"run_id"}, []string{"data"}, "TRUE"},
	{"conversations", "''", []string{"id"}, []string{"data"}, "TRUE"},
	{"pending_actions", "run_id", []string{"number"}, []string{"args", "question", "options", "reply"}, "run_id <> ''"}, // not the answers, which AnsweredBy returns
	{"remembered_decisions", "''", []string{"id"}, []string{"args"}, "FALSE"},
	{"plans", "''", []string{"id"}, []string{"name", "description", "instruction"}, "FALSE"},
	{"goals", "''", []string{"agent_id", "id"}, []string{"description"}, "FALSE"},
	{"memories", "''", []string{"agent_id", "id"}, []string{"topic", "content", "metadata"}, "FALSE"},
	{"model_texts", "''", []string{"hash"}, []string{"body"}, "FALSE"},
	{"messages", "COALESCE(run_id, '')", []string{"doc"}, []string{"state"}, "TRUE"},
	{"answers", "''", []string{"scope", "route", "key"}, []string{"body"}, "TRUE"},
}

type traceTable struct {
	table, run   string
	key, columns []string
	acts         string
}

// session returns the expression of the session in a query in the order of the key. Where no index
// has the session before the key, it keeps the database from sorting the rows of the session.
func (t traceTable) session() string {
	if t.table == "messages" || t.table == "pending_actions" {
		return "session_id || ''"
	}
	return "session_id"
}

// isNumber reports whether a column of a key has numbers.
func isNumber(column string) bool { return column == "place" || column == "number" || column == "doc" }

// Traces implements [storage.PersonTx].
func (t *Tx) Traces(session shoal.SessionID, of storage.TraceScope, after storage.TracePosition, limit int) ([]storage.Trace, error) {
	for ; after.Table < len(traceTables); after = (storage.TracePosition{Table: after.Table + 1}) {
		in := traceTables[after.Table]
		if of == storage.ActTraces && in.acts == "FALSE" {
			continue
		}
		var b sqlconn.Builder
		b.Add(`SELECT `+in.run+`, `+strings.Join(in.key, ", ")+`, `+strings.Join(in.columns, ", ")+` FROM `+in.table+` WHERE `+in.session()+` = ?`, session)
		if of == storage.ActTraces {
			b.Add(` AND ` + in.acts)
		}
		if in.table == "messages" { // their parts are not traces; the state of a run that writes one is
			b.Add(` AND state IS NOT NULL`)
		}
		if len(after.Key) == 0 && isNumber(in.key[0]) {
			after.Key = []any{int64(0)} // without a bound the database would read the whole table
		}
		if len(after.Key) > 0 {
			b.Add(` AND (`+strings.Join(in.key, ", ")+`) > (`+strings.Repeat("?, ", len(in.key)-1)+`?)`, after.Key...)
		}
		b.Add(` ORDER BY ` + strings.Join(in.key, ", ") + sqlconn.Limit(limit))
		found, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) storage.Trace {
			out := storage.Trace{At: storage.TracePosition{Table: after.Table}, Run: shoal.RunID(r.Text(0))}
			for i, name := range in.key {
				if isNumber(name) {
					out.At.Key = append(out.At.Key, r.Int(1+i))
				} else {
					out.At.Key = append(out.At.Key, r.Text(1+i))
				}
			}
			for i := range in.columns {
				at, text := 1+len(in.key)+i, ""
				switch {
				case r.Null(at):
				case in.table == "answers":
					text = string(r.Bytes(at))
				default:
					text = r.Text(at)
				}
				out.Texts = append(out.Texts, text)
			}
			return out
		}, b.Text(), b.Args...)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

// SetTrace implements [storage.PersonTx].
func (t *Tx) SetTrace(session shoal.SessionID, to storage.Trace) error {
	if err := t.c.Overwrite(true); err != nil {
		return err
	}
	in := traceTables[to.At.Table]
	for i, column := range in.columns {
		if to.Texts[i] == "" { // most texts are never empty, and an empty one has nothing to erase
			continue
		}
		var text any = to.Texts[i]
		if in.table == "answers" {
			text = []byte(to.Texts[i])
		}
		var b sqlconn.Builder
		b.Add(`UPDATE `+in.table+` SET `+column+` = ? WHERE session_id = ?`, text, session)
		for i, name := range in.key {
			b.Add(` AND `+name+` = ?`, to.At.Key[i])
		}
		if _, err := t.c.Exec(b.Text(), b.Args...); err != nil {
			return err
		}
	}
	return nil
}
