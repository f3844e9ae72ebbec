package archivesql

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/runsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// EachRecord implements [hub.RecordTx]. The timeout of the transaction starts again every few
// records.
func (t *Tx) EachRecord(session shoal.SessionID, of *storage.RecordType, fn func(values []any) error) error {
	if of.Old {
		return nil
	}
	table := recordTables[of.Name]
	progress, done := t.c.ExtendTimeout()
	defer done()
	r, err := t.c.Query(table.selectText(t.c.Dialect()), session)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // as in list
	values := make([]any, len(of.Fields))
	for n := 1; r.Next(); n++ {
		column := 0
		for i, f := range of.Fields {
			values[i] = readField(r, column, f, table.columns[i])
			column += len(columnsOf(table.columns[i]))
		}
		if failed := t.c.Failure(); failed != nil {
			return failed
		}
		if err := fn(values); err != nil {
			return err
		}
		if n%256 == 0 {
			progress()
		}
	}
	return r.Close()
}

// readField reads a field from column i on.
func readField(r *sqlconn.Rows, i int, f storage.RecordField, column string) any {
	switch {
	case column == partsColumn:
		text, err := messagerow.EncodePartsJSON(messagerow.DecodeParts(r, r.Text(i), r.Text(i+1), r.Text(i+2)))
		if err != nil {
			r.Fail(err)
		}
		return json.RawMessage(text)
	case column == triggerColumn:
		text, err := sqlconn.Encode(runsql.DecodeTrigger(r, i))
		if err != nil {
			r.Fail(err)
		}
		return json.RawMessage(text)
	case f.Kind == storage.RecordIDs:
		return sqlconn.SplitIDs(r.Text(i))
	case r.Null(i):
		return nil
	}
	switch f.Kind {
	case storage.RecordInt:
		return r.Int(i)
	case storage.RecordReal:
		return r.Float(i)
	case storage.RecordBool:
		return r.Bool(i)
	case storage.RecordTime:
		return r.Time(i)
	case storage.RecordJSON:
		return r.JSON(i)
	case storage.RecordBytes:
		return r.Bytes(i)
	default:
		return r.Text(i)
	}
}

// InsertRecord implements [hub.RecordTx].
func (t *Tx) InsertRecord(session shoal.SessionID, of *storage.RecordType, values []any) error {
	if of.Old {
		return nil
	}
	table := recordTables[of.Name]
	args := []any{session}
	for i, column := range table.columns {
		switch v := values[i].(type) {
		case []shoal.EntityID:
			args = append(args, sqlconn.JoinIDs(v))
		case json.RawMessage:
			columns, err := jsonColumns(column, v)
			if err != nil {
				return err
			}
			args = append(args, columns...)
		default:
			args = append(args, v)
		}
	}
	n, err := t.c.Exec(table.insertText(), args...)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertRecord", "The session has this %s already.", of.Name)
	}
	if of.Name == "message" {
		t.c.RequestIndexing()
	}
	return err
}

// jsonColumns returns the values of the columns of a field with JSON.
func jsonColumns(column string, raw json.RawMessage) ([]any, error) {
	switch column {
	case partsColumn:
		var parts []shoal.Part
		if err := json.Unmarshal(raw, &parts); err != nil {
			return nil, err
		}
		id, text, all, err := messagerow.EncodeParts(parts)
		return []any{id, text, all}, err
	case triggerColumn:
		var trigger shoal.Trigger
		if err := json.Unmarshal(raw, &trigger); err != nil {
			return nil, err
		}
		text, err := runsql.EncodeTrigger(trigger)
		return []any{text}, err
	}
	return []any{string(raw)}, nil
}

// HasRecord implements [hub.RecordTx].
func (t *Tx) HasRecord(session shoal.SessionID, of *storage.RecordType, key []any) (bool, error) {
	table := recordTables[of.Name]
	var b sqlconn.Builder
	b.Add("SELECT 1 FROM "+table.table+" WHERE session_id = ?", session)
	for i, name := range of.Key {
		at := slices.IndexFunc(of.Fields, func(f storage.RecordField) bool { return f.Name == name })
		b.Add(fmt.Sprintf(" AND %s = ?", table.columns[at]), key[i])
	}
	return sqlconn.Exists(t.c, b.Text(), b.Args...)
}
