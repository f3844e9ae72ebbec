package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal/agent"
)

// Load implements [agent.Store].
func (s *Store) Load(ctx context.Context, conversation string) (agent.Record, error) {
	if err := s.usable(ctx, conversation); err != nil {
		return agent.Record{}, err
	}
	out, err := s.read(ctx, conversation)
	return out, s.ended(ctx, err)
}

// The kinds of rows that the statement for Load returns.
const (
	kindConversation = iota
	kindMessage
	kindStep
)

func (s *Store) read(ctx context.Context, conversation string) (agent.Record, error) {
	var out agent.Record
	rows, err := s.db.QueryContext(ctx, s.sq.load, conversation)
	if err != nil {
		return out, failed("the conversation cannot be read", err)
	}
	defer rows.Close() // Err says what was wrong
	for rows.Next() {
		var kind, position int
		var r row
		if err := rows.Scan(append([]any{&kind, &position, &r.head}, r.columns()...)...); err != nil {
			return out, failed("the conversation cannot be read", err)
		}
		if kind == kindConversation {
			if out, err = r.decode(conversation); err == nil && r.messages > 0 {
				out.Messages = make([]agent.Message, r.messages)
			}
		} else {
			err = insert(&out, kind, position, r.head)
		}
		if err != nil {
			return out, err
		}
	}
	if err := rows.Err(); err != nil {
		return out, failed("the conversation cannot be read", err)
	}
	if out.Revision == 0 {
		return out, agent.NewError("sqlstore.Load", agent.ErrNotFound, fmt.Sprintf("The store has no conversation %s.", conversation))
	}
	return out, nil
}

// insert decodes a message or a step into its place.
func insert(record *agent.Record, kind, position int, body string) error {
	var to any
	switch {
	case kind == kindMessage && position < len(record.Messages):
		to = &record.Messages[position]
	case kind == kindStep && record.Open != nil && position < len(record.Open.Steps):
		record.Open.Steps[position] = agent.Step{}
		to = &record.Open.Steps[position]
	default:
		return fmt.Errorf("sqlstore: conversation %s is damaged: it has a row at %d that its length excludes", record.ID, position)
	}
	if err := json.Unmarshal([]byte(body), to); err != nil {
		return failed("conversation "+record.ID+" is damaged", err)
	}
	return nil
}

// Begin implements [agent.Store].
func (s *Store) Begin(ctx context.Context, conversation string, turn agent.Turn) error {
	return s.write(ctx, conversation, func(w *write) error {
		d, err := w.decide(func(ctx context.Context, m agent.Store) error {
			return m.Begin(ctx, conversation, turn)
		}, s.sq.create, conversation, w.token)
		if err != nil {
			return err
		}
		after := d.after
		if d.before.Open == nil {
			after.Open.Base = d.messages
			if err := w.saveHead(after); err != nil {
				return err
			}
		}
		return w.append(&after, d.messages)
	})
}

// Commit implements [agent.Store].
func (s *Store) Commit(ctx context.Context, conversation string, ref agent.TurnRef, step agent.Step) error {
	return s.write(ctx, conversation, func(w *write) error {
		d, err := w.decide(func(ctx context.Context, m agent.Store) error {
			return m.Commit(ctx, conversation, ref, step)
		}, s.sq.touch, w.token, conversation)
		if err != nil {
			return err
		}
		if err := put(w, s.sq.putStep, step.Index, []agent.Step{step}); err != nil {
			return err
		}
		return w.append(&d.after, d.messages)
	})
}

// End implements [agent.Store].
func (s *Store) End(ctx context.Context, conversation string, ref agent.TurnRef, end agent.TurnEnd) error {
	return s.write(ctx, conversation, func(w *write) error {
		d, err := w.found(s.sq.touchHead, w.token, conversation)
		if err != nil {
			return err
		}
		if before := &d.before; before.Open != nil && len(before.Open.Interjected) > 0 { // what was read is in the steps
			steps, err := w.bodies(s.sq.steps)
			if err != nil {
				return err
			}
			for position, body := range steps {
				if err := insert(before, kindStep, position, body); err != nil {
					return err
				}
			}
		}
		if err := d.decide(func(ctx context.Context, m agent.Store) error { return m.End(ctx, conversation, ref, end) }); err != nil {
			return err
		}
		if d.after.Open == nil && d.steps > 0 {
			if err := w.exec(s.sq.dropSteps, conversation, 0); err != nil {
				return err
			}
		}
		if err := w.saveHead(d.after); err != nil {
			return err
		}
		return w.append(&d.after, d.messages)
	})
}

// append stores the messages of a write after those that are stored, and the columns.
func (w *write) append(after *agent.Record, stored int) error {
	if err := put(w, w.sq.addMessage, stored, after.Messages); err != nil {
		return err
	}
	return w.save(after, stored+len(after.Messages))
}

// Replace implements [agent.Store].
func (s *Store) Replace(ctx context.Context, record agent.Record) error {
	if record.Open != nil && record.Open.ID == "" {
		return agent.Invalid("open.id", "is missing")
	}
	return s.write(ctx, record.ID, func(w *write) error {
		r, err := w.lock(s.sq.create, record.ID, w.token)
		if err != nil {
			return err
		}
		if stored := r.revision - 1; record.Revision != stored {
			return agent.NewError("sqlstore.Replace", agent.ErrConflict, fmt.Sprintf(
				"Conversation %s is at revision %d, not %d: it has changed meanwhile; load it and repeat the change.", record.ID, stored, record.Revision))
		}
		if err := replace(w, s.sq.messages, s.sq.addMessage, s.sq.dropMessages, record.Messages); err != nil {
			return err
		}
		var steps []agent.Step
		if record.Open != nil {
			steps = record.Open.Steps
		}
		if err := replace(w, s.sq.steps, s.sq.putStep, s.sq.dropSteps, steps); err != nil {
			return err
		}
		if err := w.saveHead(record); err != nil {
			return err
		}
		return w.save(&record, len(record.Messages))
	})
}
