package sqlstore

import (
	"encoding/json"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// PutStep implements [hub.StepTx].
func (t tx) PutStep(session shoal.SessionID, run shoal.RunID, s hub.StoredStep) error {
	step, err := encode(s.Step)
	if err != nil {
		return err
	}
	_, err = t.c.exec(
		`INSERT INTO run_steps (session_id, run_id, place, done, started_at, ended_at, step, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		 ON CONFLICT (session_id, run_id, place) DO UPDATE SET done = excluded.done, started_at = excluded.started_at, ended_at = excluded.ended_at,
		   step = excluded.step, data = excluded.data`,
		session, run, s.Index, s.Done, s.StartedAt, s.EndedAt, step, orNull(s.Data))
	return err
}

// RunSteps implements [hub.StepTx].
func (t tx) RunSteps(session shoal.SessionID, run shoal.RunID) ([]hub.StoredStep, error) {
	return list(t.c, func(r *rows) hub.StoredStep {
		s := hub.StoredStep{Done: r.bool(0), Data: r.rawOrNil(4)}
		r.decode(r.text(3), &s.Step)
		// The columns are finer than the milliseconds of JSON.
		s.StartedAt, s.EndedAt = r.time(1), r.timeOrNil(2)
		return s
	}, `SELECT done, started_at, ended_at, step, data FROM run_steps WHERE session_id = $1 AND run_id = $2 ORDER BY place`, session, run)
}

// DropSteps implements [hub.StepTx].
func (t tx) DropSteps(session shoal.SessionID, run shoal.RunID, from int) error {
	_, err := t.c.exec(`DELETE FROM run_steps WHERE session_id = $1 AND run_id = $2 AND place >= $3`, session, run, from)
	return err
}

// Conversation implements [hub.StepTx].
func (t tx) Conversation(session shoal.SessionID, id string) (hub.StoredConversation, error) {
	c, ok, err := one(t.c, func(r *rows) hub.StoredConversation {
		return hub.StoredConversation{Session: session, ID: id, Agent: entityID(r), Clock: r.int(1), Data: r.rawOrNil(2)}
	}, `SELECT agent_id, clock, data FROM conversations WHERE session_id = $1 AND id = $2`, session, id)
	return present(c, ok, err, "Conversation", "There is no conversation %q yet.", id)
}

// PutConversation implements [hub.StepTx].
func (t tx) PutConversation(c hub.StoredConversation) error {
	_, err := t.c.exec(
		`INSERT INTO conversations (session_id, id, agent_id, clock, data) VALUES ($1, $2, $3, $4, $5)
		 ON CONFLICT (session_id, id) DO UPDATE SET agent_id = excluded.agent_id, clock = excluded.clock, data = excluded.data`,
		c.Session, c.ID, c.Agent, c.Clock, orNull(c.Data))
	return err
}

// Blocks implements [hub.StepTx].
func (t tx) Blocks(session shoal.SessionID, conversation string, endedBefore int64, limit int) ([]hub.Block, error) {
	if limit <= 0 {
		return []hub.Block{}, nil
	}
	blocks, err := listFirst(t.c, limit, func(r *rows) hub.Block {
		return hub.Block{Run: shoal.RunID(r.text(0)), Began: r.int(1), Ended: r.int(2), Turn: r.rawOrNil(3), Steps: []json.RawMessage{}}
	}, `SELECT r.id, r.began, r.ended, r.turn FROM runs AS r
		WHERE r.session_id = $1 AND r.conversation = $2 AND r.ended > 0 AND r.ended < $3 ORDER BY r.began DESC`+upTo(limit),
		session, conversation, endedBefore)
	if err != nil {
		return nil, err
	}
	slices.Reverse(blocks)
	places := make(map[shoal.RunID]int, len(blocks))
	for i, block := range blocks {
		places[block.Run] = i
	}
	for some := range slices.Chunk(blocks, mostIn) {
		ids := make([]shoal.RunID, len(some))
		for i, block := range some {
			ids[i] = block.Run
		}
		var b clauses
		b.add(`SELECT run_id, data FROM run_steps WHERE session_id = ?`, session)
		addIn(&b, ` AND run_id IN (?) AND done ORDER BY run_id, place`, ids)
		_, err := list(t.c, func(r *rows) struct{} {
			block := &blocks[places[shoal.RunID(r.text(0))]]
			block.Steps = append(block.Steps, r.rawOrNil(1))
			return struct{}{}
		}, b.text.String(), b.args...)
		if err != nil {
			return nil, err
		}
	}
	return blocks, nil
}
