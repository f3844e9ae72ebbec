package sqlstore

import (
	"cmp"
	"encoding/json"
	"math"
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

// ClientInput implements [hub.StepTx].
func (t tx) ClientInput(session shoal.SessionID, run shoal.RunID) (hub.ClientInput, error) {
	in, ok, err := one(t.c, func(r *rows) (in hub.ClientInput) {
		r.decode(r.text(0), &in)
		return in
	}, `SELECT data FROM run_clients WHERE session_id = $1 AND run_id = $2`, session, run)
	return present(in, ok, err, "ClientInput", "No front end sent anything for the run %q.", run)
}

// PutClientInput implements [hub.StepTx].
func (t tx) PutClientInput(session shoal.SessionID, run shoal.RunID, in hub.ClientInput) error {
	data, err := encode(in)
	if err != nil {
		return err
	}
	_, err = t.c.exec(`INSERT INTO run_clients (session_id, run_id, data) VALUES ($1, $2, $3)
		ON CONFLICT (session_id, run_id) DO UPDATE SET data = excluded.data`, session, run, data)
	return err
}

// Conversation implements [hub.StepTx].
func (t tx) Conversation(session shoal.SessionID, id string) (hub.StoredConversation, error) {
	c, ok, err := one(t.c, func(r *rows) hub.StoredConversation {
		return hub.StoredConversation{Session: session, ID: id, Agent: entityID(r), Clock: r.int(1), Data: r.rawOrNil(2), Cleared: r.int(3)}
	}, `SELECT agent_id, clock, data, cleared FROM conversations WHERE session_id = $1 AND id = $2`, session, id)
	return present(c, ok, err, "Conversation", "There is no conversation %q yet.", id)
}

// PutConversation implements [hub.StepTx].
func (t tx) PutConversation(c hub.StoredConversation) error {
	_, err := t.c.exec(
		`INSERT INTO conversations (session_id, id, agent_id, clock, data, cleared) VALUES ($1, $2, $3, $4, $5, $6)
		 ON CONFLICT (session_id, id) DO UPDATE SET agent_id = excluded.agent_id, clock = excluded.clock, data = excluded.data, cleared = excluded.cleared`,
		c.Session, c.ID, c.Agent, c.Clock, orNull(c.Data), c.Cleared)
	return err
}

// Conversations implements [hub.StepTx]. Those of runs begin with the agent's id and a
// slash; "0" follows the slash.
func (t tx) Conversations(session shoal.SessionID, agent shoal.EntityID, f hub.ConversationFilter) ([]hub.ConversationState, error) {
	if f.Limit <= 0 && f.ID == "" {
		return []hub.ConversationState{}, nil
	}
	var b clauses
	b.add(`SELECT c.id,
		(SELECT r.id FROM runs AS r WHERE r.session_id = c.session_id AND r.agent_id = c.agent_id AND r.ended_at IS NULL
		   AND r.conversation = c.id AND r.began > 0 ORDER BY r.number LIMIT 1),
		(SELECT r.ended_at FROM runs AS r WHERE r.session_id = c.session_id AND r.conversation = c.id AND r.ended > 0 AND r.began > c.cleared
		   ORDER BY r.began DESC LIMIT 1)
		FROM conversations AS c WHERE c.session_id = ? AND c.agent_id = ? AND c.clock > c.cleared`, session, agent)
	if f.ID != "" {
		b.add(` AND c.id = ?`, f.ID)
	} else {
		b.add(` AND c.id > ? AND c.id < ? ORDER BY c.id`+upTo(f.Limit), max(f.After, string(agent)+"/"), string(agent)+"0")
	}
	return list(t.c, func(r *rows) hub.ConversationState {
		s := hub.ConversationState{ID: r.text(0), LastEnded: r.timeOrNil(2)}
		if id := textOrNil[shoal.RunID](r, 1); id != nil {
			s.ActiveRun = *id
		}
		return s
	}, b.text.String(), b.args...)
}

// Blocks implements [hub.StepTx].
func (t tx) Blocks(session shoal.SessionID, conversation string, f hub.BlockFilter) ([]hub.Block, error) {
	if f.Limit <= 0 {
		return []hub.Block{}, nil
	}
	blocks, err := listFirst(t.c, f.Limit, func(r *rows) hub.Block {
		return hub.Block{
			Run: shoal.RunID(r.text(0)), Began: r.int(1), Ended: r.int(2), Turn: r.rawOrNil(3), EndedAt: r.timeOrNil(4), Steps: []json.RawMessage{},
		}
	}, `SELECT r.id, r.began, r.ended, r.turn, r.ended_at FROM runs AS r
		WHERE r.session_id = $1 AND r.conversation = $2 AND r.ended > 0 AND r.ended < $3 AND r.began > $4 AND r.began < $5 ORDER BY r.began DESC`+upTo(f.Limit),
		session, conversation, cmp.Or(f.EndedBefore, math.MaxInt64), f.BeganAfter, cmp.Or(f.BeganBefore, math.MaxInt64))
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
