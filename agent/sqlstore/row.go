package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// row is the row of a conversation. What changes with each step is in columns; head is the
// JSON of the record without its messages and steps.
type row struct {
	revision        int64
	messages, steps int
	lastDone        int // 1: the last step is complete
	lastActivity    int64
	turn            string // "" while none is open
	attempt         int
	waiting         int
	head            string
}

func (r *row) columns() []any {
	return []any{&r.revision, &r.messages, &r.steps, &r.lastDone, &r.lastActivity, &r.turn, &r.attempt, &r.waiting}
}

// lock runs one of the statements that lock the conversation, and reads its row; the
// revision is that of the write. A conversation that does not exist has the revision 0.
func (w *write) lock(statement string, args ...any) (row, error) {
	var r row
	err := w.conn.QueryRowContext(w.ctx, statement, args...).Scan(append(r.columns(), &r.head)...)
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, nil
	}
	if err != nil {
		return row{}, failed("the conversation cannot be read", err)
	}
	w.revision = r.revision
	return r, nil
}

// decode returns the record without messages and with steps of which only Index and Done
// are set: as much as decides about a write.
func (r *row) decode(conversation string) (agent.Record, error) {
	out := agent.Record{ID: conversation}
	if r.head != "" {
		if err := json.Unmarshal([]byte(r.head), &out); err != nil {
			return out, failed("conversation "+conversation+" is damaged", err)
		}
	}
	out.ID, out.Revision, out.LastActivity = conversation, r.revision, timeOf(r.lastActivity)
	if r.turn == "" {
		out.Open = nil
		return out, nil
	}
	if out.Open == nil { // without the head
		out.Open = &agent.OpenTurn{}
	}
	out.Open.ID, out.Open.Attempt, out.Open.Waiting = r.turn, r.attempt, r.waiting == 1
	out.Open.Steps = make([]agent.Step, r.steps)
	for i := range out.Open.Steps {
		out.Open.Steps[i] = agent.Step{Index: i, Done: i < r.steps-1 || r.lastDone == 1}
	}
	return out, nil
}

// save stores the columns for a record that has so many messages.
func (w *write) save(record *agent.Record, messages int) error {
	r := row{messages: messages, lastActivity: record.LastActivity.UnixMicro()}
	if o := record.Open; o != nil {
		r.turn, r.attempt, r.steps = o.ID, o.Attempt, len(o.Steps)
		if o.Waiting {
			r.waiting = 1
		}
		if r.steps > 0 && o.Steps[r.steps-1].Done {
			r.lastDone = 1
		}
	}
	return w.exec(w.sq.save, r.messages, r.steps, r.lastDone, r.lastActivity, r.turn, r.attempt, r.waiting, w.conversation)
}

// saveHead stores what save does not, except messages and steps.
func (w *write) saveHead(record agent.Record) error {
	record.Messages = nil
	if record.Open != nil {
		open := *record.Open
		open.Steps = nil
		record.Open = &open
	}
	head, err := encode(record)
	if err != nil {
		return err
	}
	return w.exec(w.sq.saveHead, head, plain(record.DisplayName), plain(record.Parent), record.CreatedAt.UnixMicro(), w.conversation)
}

// plain returns a text that every database can store.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// put stores values at their positions, beginning with the given one.
func put[T any](w *write, statement string, first int, values []T) error {
	for i := range values {
		body, err := encode(values[i])
		if err != nil {
			return err
		}
		if err := w.exec(statement, w.conversation, first+i, body); err != nil {
			return err
		}
	}
	return nil
}

// replace stores values in place of those that query returns, and writes only those that
// differ.
func replace[T any](w *write, query, statement, drop string, values []T) error {
	stored, err := w.bodies(query)
	if err != nil {
		return err
	}
	for i := range values {
		body, err := encode(values[i])
		if err != nil {
			return err
		}
		if old, ok := stored[i]; ok && old == body {
			continue
		}
		if err := w.exec(statement, w.conversation, i, body); err != nil {
			return err
		}
	}
	if len(stored) <= len(values) {
		return nil
	}
	return w.exec(drop, w.conversation, len(values))
}

// bodies returns what is stored of the conversation, by position.
func (w *write) bodies(query string) (map[int]string, error) {
	rows, err := w.conn.QueryContext(w.ctx, query, w.conversation)
	if err != nil {
		return nil, failed("the conversation cannot be read", err)
	}
	defer rows.Close() // Err says what was wrong
	out := map[int]string{}
	for rows.Next() {
		var position int
		var body string
		if err := rows.Scan(&position, &body); err != nil {
			return nil, failed("the conversation cannot be read", err)
		}
		out[position] = body
	}
	if err := rows.Err(); err != nil {
		return nil, failed("the conversation cannot be read", err)
	}
	return out, nil
}

func (w *write) exec(statement string, args ...any) error {
	if _, err := w.conn.ExecContext(w.ctx, statement, args...); err != nil {
		return failed("the conversation cannot be written", err)
	}
	return nil
}

func encode(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("sqlstore: %w", err)
	}
	return string(text), nil
}

func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// decision is what a write decides on: the row that it has locked, the record before it
// as far as decode returns it, and the record after it, with the messages to append.
type decision struct {
	row
	before, after agent.Record
}

// found locks the conversation with a statement of lock; the decision has no after yet.
func (w *write) found(statement string, args ...any) (*decision, error) {
	r, err := w.lock(statement, args...)
	if err != nil {
		return nil, err
	}
	if r.revision == 1 {
		r.revision = 0 // it was created just now
	}
	d := &decision{row: r}
	d.before, err = r.decode(w.conversation)
	return d, err
}

// decide locks the conversation with a statement of lock, and decides about f.
func (w *write) decide(f func(context.Context, agent.Store) error, statement string, args ...any) (*decision, error) {
	d, err := w.found(statement, args...)
	if err == nil {
		err = d.decide(f)
	}
	return d, err
}

// decide makes the write f as every store does: in the store in memory.
func (d *decision) decide(f func(context.Context, agent.Store) error) error {
	ctx, memory := context.Background(), agent.NewMemory()
	if d.before.Revision > 0 {
		record := d.before
		record.Revision, record.Messages = 0, nil
		if err := memory.Replace(ctx, record); err != nil {
			return err
		}
	}
	if err := f(ctx, memory); err != nil {
		return err
	}
	var err error
	d.after, err = memory.Load(ctx, d.before.ID)
	return err
}
