package runsql

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Conversation implements [hub.StepTx].
func (t *Tx) Conversation(session shoal.SessionID, id string) (storage.Conversation, error) {
	c, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) storage.Conversation {
		return storage.Conversation{Session: session, ID: id, Agent: shoal.EntityID(r.Text(0)), Clock: r.Int(1), Data: r.RawOrNil(2), Cleared: r.Int(3)}
	}, `SELECT agent_id, clock, data, cleared FROM conversations WHERE session_id = $1 AND id = $2`, session, id)
	return sqlconn.OrNotFound(c, ok, err, "Conversation", "Conversation %q not found.", id)
}

// PutConversation implements [hub.StepTx].
func (t *Tx) PutConversation(c storage.Conversation) error {
	_, err := t.c.Exec(
		`INSERT INTO conversations (session_id, id, agent_id, clock, data, cleared) VALUES ($1, $2, $3, $4, $5, $6)
		 ON CONFLICT (session_id, id) DO UPDATE SET agent_id = excluded.agent_id, clock = excluded.clock, data = excluded.data, cleared = excluded.cleared`,
		c.Session, c.ID, c.Agent, c.Clock, sqlconn.RawOrNull(c.Data), c.Cleared)
	return err
}

// Conversations implements [hub.StepTx]. The ids of the conversations of runs begin with the
// agent's id and a slash; "0" is the character after the slash.
func (t *Tx) Conversations(session shoal.SessionID, agent shoal.EntityID, f storage.ConversationFilter) ([]storage.ConversationState, error) {
	if f.Limit <= 0 && f.ID == "" {
		return []storage.ConversationState{}, nil
	}
	var b sqlconn.Builder
	b.Add(`SELECT c.id,
		(SELECT r.id FROM runs AS r WHERE r.session_id = c.session_id AND r.agent_id = c.agent_id AND r.ended_at IS NULL
		   AND r.conversation = c.id AND r.began > 0 ORDER BY r.number LIMIT 1),
		(SELECT r.ended_at FROM runs AS r WHERE r.session_id = c.session_id AND r.conversation = c.id AND r.ended > 0 AND r.began > c.cleared
		   ORDER BY r.began DESC LIMIT 1)
		FROM conversations AS c WHERE c.session_id = ? AND c.agent_id = ? AND c.clock > c.cleared`, session, agent)
	if f.ID != "" {
		b.Add(` AND c.id = ?`, f.ID)
	} else {
		b.Add(` AND c.id > ? AND c.id < ? ORDER BY c.id`+sqlconn.Limit(f.Limit), max(f.After, string(agent)+"/"), string(agent)+"0")
	}
	return sqlconn.List(t.c, func(r *sqlconn.Rows) storage.ConversationState {
		s := storage.ConversationState{ID: r.Text(0), LastEnded: r.TimeOrNil(2)}
		if id := sqlconn.TextOrNil[shoal.RunID](r, 1); id != nil {
			s.ActiveRun = *id
		}
		return s
	}, b.Text(), b.Args...)
}

// Blocks implements [hub.StepTx].
func (t *Tx) Blocks(session shoal.SessionID, conversation string, f storage.BlockFilter) ([]storage.Block, error) {
	if f.Limit <= 0 {
		return []storage.Block{}, nil
	}
	blocks, err := sqlconn.ListFirst(t.c, f.Limit, func(r *sqlconn.Rows) storage.Block {
		return storage.Block{
			Run: shoal.RunID(r.Text(0)), Began: r.Int(1), Ended: r.Int(2), Turn: r.RawOrNil(3), EndedAt: r.TimeOrNil(4), Steps: []json.RawMessage{},
		}
	}, `SELECT r.id, r.began, r.ended, r.turn, r.ended_at FROM runs AS r
		WHERE r.session_id = $1 AND r.conversation = $2 AND r.ended > 0 AND r.ended < $3 AND r.began > $4 AND r.began < $5 ORDER BY r.began DESC`+sqlconn.Limit(f.Limit),
		session, conversation, cmp.Or(f.EndedBefore, math.MaxInt64), f.BeganAfter, cmp.Or(f.BeganBefore, math.MaxInt64))
	if err != nil {
		return nil, err
	}
	slices.Reverse(blocks)
	places := make(map[shoal.RunID]int, len(blocks))
	for i, block := range blocks {
		places[block.Run] = i
	}
	for some := range slices.Chunk(blocks, sqlconn.MaxList) {
		ids := make([]shoal.RunID, len(some))
		for i, block := range some {
			ids[i] = block.Run
		}
		var b sqlconn.Builder
		b.Add(`SELECT run_id, data FROM run_steps WHERE session_id = ?`, session)
		sqlconn.AddIn(&b, ` AND run_id IN (?) AND done ORDER BY run_id, place`, ids)
		_, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} {
			block := &blocks[places[shoal.RunID(r.Text(0))]]
			block.Steps = append(block.Steps, r.RawOrNil(1))
			return struct{}{}
		}, b.Text(), b.Args...)
		if err != nil {
			return nil, err
		}
	}
	return blocks, nil
}
