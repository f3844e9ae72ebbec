package shoaltest

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// stepAt returns a step with its index as its data.
func stepAt(index int, done bool) hub.StoredStep {
	s := hub.StoredStep{Done: done, Data: fmt.Appendf(nil, `{"step": %d}`, index)}
	s.Index, s.StartedAt, s.ToolCalls = index, storeTime(index), []shoal.StepCall{}
	return s
}

func stepsOf(c *storeCase, run shoal.RunID) []hub.StoredStep {
	c.Helper()
	return seen(c, func(tx hub.Tx) ([]hub.StoredStep, error) { return tx.RunSteps(c.session, run) })
}

// put stores steps of a run.
func (c *storeCase) put(run shoal.RunID, all ...hub.StoredStep) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		for _, s := range all {
			if err := tx.PutStep(c.session, run, s); err != nil {
				return err
			}
		}
		return nil
	})
}

var stepTests = map[string]func(*storeCase){
	"every field comes back as it was stored": func(c *storeCase) {
		full := hub.StoredStep{
			Step: shoal.Step{
				Index: 2, Model: hostile, FinishReason: "tool-calls", Usage: shoal.Usage{InputTokens: 5, Cost: 0.1}, Text: hostile, Reasoning: hostile,
				ToolCalls: []shoal.StepCall{
					{ToolCallID: hostile, ToolName: "a", Args: []byte(`{"a":"<b> & c","n":1.50e+3}`), Result: ref(hostile), Status: "done"},
					{ToolCallID: "2", ToolName: "b", Args: []byte(`{}`), Status: "pending"},
				},
				StartedAt: storeTime(1), EndedAt: ref(storeTime(2)),
			},
			Data: rawJSON, Done: true,
		}
		bare := hub.StoredStep{}
		bare.StartedAt = storeTime(3)
		c.put("r1", full, bare)
		same(c, "the steps in order", stepsOf(c, "r1"), []hub.StoredStep{bare, full})
	},

	"one with the same index is replaced, those from an index on are dropped": func(c *storeCase) {
		c.put("r1", stepAt(0, true), stepAt(1, false), stepAt(2, false))
		c.put("r2", stepAt(1, false))
		whole := stepAt(1, true)
		whole.Data, whole.EndedAt = rawJSON, ref(storeTime(9))
		c.put("r1", whole)
		same(c, "the steps", stepsOf(c, "r1"), []hub.StoredStep{stepAt(0, true), whole, stepAt(2, false)})
		c.update(func(tx hub.Tx) error { return tx.DropSteps(c.session, "r1", 1) })
		same(c, "what is left", stepsOf(c, "r1"), []hub.StoredStep{stepAt(0, true)})
		same(c, "another run's", stepsOf(c, "r2"), []hub.StoredStep{stepAt(1, false)})
		same(c, "no run's", stepsOf(c, "r3"), []hub.StoredStep{})
		other := newStoreCase(c.T, c.store)
		same(c, "another session's", stepsOf(other, "r1"), []hub.StoredStep{})
	},
}

var conversationTests = map[string]func(*storeCase){
	"it comes back as it was stored, whole": func(c *storeCase) {
		get := func() hub.StoredConversation {
			return seen(c, func(tx hub.Tx) (hub.StoredConversation, error) { return tx.Conversation(c.session, "bot/shop") })
		}
		put := func(conv hub.StoredConversation) {
			c.update(func(tx hub.Tx) error { return tx.PutConversation(conv) })
		}
		c.absent(func(tx hub.Tx) error { _, err := tx.Conversation(c.session, "bot/shop"); return err })
		conv := hub.StoredConversation{Session: c.session, ID: "bot/shop", Agent: "bot", Clock: 1}
		put(conv)
		same(c, "without data", get(), conv)
		conv.Clock, conv.Data = 2, rawJSON
		put(conv)
		same(c, "with data", get(), conv)
		c.absent(func(tx hub.Tx) error { _, err := tx.Conversation("nowhere", "bot/shop"); return err })
	},

	"its blocks are the newest that ended before a place, in the order of their beginning": func(c *storeCase) {
		for i, at := range []struct{ began, ended int64 }{{1, 4}, {2, 3}, {5, 8}, {6, 7}, {9, 0}} {
			r := c.run(shoal.RunID(fmt.Sprint("r", i)), "bot", "shop")
			r.Conversation, r.Began, r.Ended, r.Turn = "bot/shop", at.began, at.ended, fmt.Appendf(nil, `{ "turn":%d}`, i)
			c.runs(r)
			c.put(r.ID, stepAt(1, true), stepAt(0, true), stepAt(2, false))
		}
		elsewhere := c.run("rx", "bot", "yard")
		elsewhere.Conversation, elsewhere.Began, elsewhere.Ended = "bot/yard", 1, 2
		c.runs(elsewhere)
		block := func(i int, began, ended int64) hub.Block {
			return hub.Block{
				Run: shoal.RunID(fmt.Sprint("r", i)), Began: began, Ended: ended, Turn: fmt.Appendf(nil, `{ "turn":%d}`, i),
				Steps: []json.RawMessage{stepAt(0, true).Data, stepAt(1, true).Data},
			}
		}
		all := []hub.Block{block(0, 1, 4), block(1, 2, 3), block(2, 5, 8), block(3, 6, 7)}
		for _, b := range []struct {
			before int64
			limit  int
			want   []hub.Block
		}{
			{99, 99, all},
			{8, 99, []hub.Block{all[0], all[1], all[3]}},
			{4, 99, []hub.Block{all[1]}},
			{3, 99, []hub.Block{}},
			{99, 3, all[1:]},
			{99, 1, all[3:]},
			{99, 0, []hub.Block{}},
		} {
			same(c, fmt.Sprintf("%d that ended before %d", b.limit, b.before), seen(c, func(tx hub.Tx) ([]hub.Block, error) {
				return tx.Blocks(c.session, "bot/shop", b.before, b.limit)
			}), b.want)
		}
		same(c, "of a run without steps", seen(c, func(tx hub.Tx) ([]hub.Block, error) { return tx.Blocks(c.session, "bot/yard", 9, 9) }),
			[]hub.Block{{Run: "rx", Began: 1, Ended: 2, Steps: []json.RawMessage{}}})
	},

	"many blocks come at once": func(c *storeCase) {
		for i := range 300 {
			r := c.run(shoal.RunID(fmt.Sprint("r", i)), "bot", "shop")
			r.Conversation, r.Began, r.Ended = "bot/shop", int64(2*i+1), int64(2*i+2)
			c.runs(r)
			c.put(r.ID, stepAt(i, true))
		}
		blocks := seen(c, func(tx hub.Tx) ([]hub.Block, error) { return tx.Blocks(c.session, "bot/shop", 1000, 1000) })
		same(c, "their number", len(blocks), 300)
		for i, b := range blocks {
			same(c, fmt.Sprint("block ", i), b, hub.Block{
				Run: shoal.RunID(fmt.Sprint("r", i)), Began: int64(2*i + 1), Ended: int64(2*i + 2), Steps: []json.RawMessage{stepAt(i, true).Data},
			})
		}
	},
}
