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
	"what a front end sent for a run comes back as it was stored last": func(c *storeCase) {
		get := func() hub.ClientInput {
			return seen(c, func(tx hub.Tx) (hub.ClientInput, error) { return tx.ClientInput(c.session, "r1") })
		}
		c.absent(func(tx hub.Tx) error { _, err := tx.ClientInput(c.session, "r1"); return err })
		in := hub.ClientInput{
			EntityID: "ann", Tools: []hub.ClientTool{{Name: "paint", Description: hostile, Schema: json.RawMessage(`{"type":"object","title":"\u2028 <ü>"}`)}, {Name: "blink"}},
			Context: []hub.ClientContext{{Description: hostile, Value: hostile}}, Refused: []string{},
		}
		c.update(func(tx hub.Tx) error { return tx.PutClientInput(c.session, "r1", in) })
		same(c, "what was stored", get(), in)
		in.Refused, in.Context = []string{"blink"}, []hub.ClientContext{}
		c.update(func(tx hub.Tx) error { return tx.PutClientInput(c.session, "r1", in) })
		same(c, "what was stored again", get(), in)
		c.absent(func(tx hub.Tx) error { _, err := tx.ClientInput("nowhere", "r1"); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.ClientInput(c.session, "r2"); return err })
	},

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
		conv.Clock, conv.Cleared, conv.Data = 2, 1, rawJSON
		put(conv)
		same(c, "with data", get(), conv)
		c.absent(func(tx hub.Tx) error { _, err := tx.Conversation("nowhere", "bot/shop"); return err })
	},

	"those of an agent are listed with what their runs do, unless they are cleared": func(c *storeCase) {
		run := func(id shoal.RunID, conversation string, began, ended int64) {
			r := c.run(id, "bot", "")
			if r.Conversation, r.Began, r.Ended, r.Status = conversation, began, ended, shoal.RunRunning; ended > 0 {
				r.Status, r.EndedAt = shoal.RunCompleted, ref(storeTime(int(ended)))
			}
			c.runs(r)
		}
		put := func(id string, agent shoal.EntityID, clock, cleared int64) {
			c.update(func(tx hub.Tx) error {
				return tx.PutConversation(hub.StoredConversation{Session: c.session, ID: id, Agent: agent, Clock: clock, Cleared: cleared})
			})
		}
		put("bot/shop", "bot", 6, 0)
		run("r1", "bot/shop", 1, 4)
		run("r2", "bot/shop", 2, 3) // it began last and ended first
		run("r3", "bot/shop", 5, 0)
		run("r4", "bot/shop", 6, 0)
		run("r5", "bot/shop", 0, 0) // it has not begun
		put("bot/plan/p", "bot", 2, 0)
		run("r6", "bot/plan/p", 1, 2)
		put("bot/attic", "bot", 5, 4)
		run("r7", "bot/attic", 1, 2) // of before
		run("r8", "bot/attic", 5, 0)
		put("bot/cleared", "bot", 4, 4)
		run("r9", "bot/cleared", 1, 2)
		put("rx/call", "bot", 0, 0) // of a sub-agent
		put("bot2/shop", "bot2", 1, 0)
		list := func(f hub.ConversationFilter) []hub.ConversationState {
			return seen(c, func(tx hub.Tx) ([]hub.ConversationState, error) { return tx.Conversations(c.session, "bot", f) })
		}
		attic := hub.ConversationState{ID: "bot/attic", ActiveRun: "r8"}
		plan := hub.ConversationState{ID: "bot/plan/p", LastEnded: ref(storeTime(2))}
		shop := hub.ConversationState{ID: "bot/shop", ActiveRun: "r3", LastEnded: ref(storeTime(3))}
		same(c, "all", list(hub.ConversationFilter{Limit: 9}), []hub.ConversationState{attic, plan, shop})
		same(c, "the first", list(hub.ConversationFilter{Limit: 1}), []hub.ConversationState{attic})
		same(c, "the next", list(hub.ConversationFilter{After: "bot/attic", Limit: 1}), []hub.ConversationState{plan})
		same(c, "after the last", list(hub.ConversationFilter{After: "bot/shop", Limit: 9}), []hub.ConversationState{})
		same(c, "none at all", list(hub.ConversationFilter{}), []hub.ConversationState{})
		same(c, "one", list(hub.ConversationFilter{ID: "bot/shop"}), []hub.ConversationState{shop})
		same(c, "one that is cleared", list(hub.ConversationFilter{ID: "bot/cleared"}), []hub.ConversationState{})
		same(c, "one of another agent", list(hub.ConversationFilter{ID: "bot2/shop"}), []hub.ConversationState{})
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
			filter hub.BlockFilter
			want   []hub.Block
		}{
			{hub.BlockFilter{EndedBefore: 99, Limit: 99}, all},
			{hub.BlockFilter{EndedBefore: 8, Limit: 99}, []hub.Block{all[0], all[1], all[3]}},
			{hub.BlockFilter{EndedBefore: 4, Limit: 99}, []hub.Block{all[1]}},
			{hub.BlockFilter{EndedBefore: 3, Limit: 99}, []hub.Block{}},
			{hub.BlockFilter{EndedBefore: 99, Limit: 3}, all[1:]},
			{hub.BlockFilter{EndedBefore: 99, Limit: 1}, all[3:]},
			{hub.BlockFilter{EndedBefore: 99}, []hub.Block{}},
			{hub.BlockFilter{Limit: 99}, all},
			{hub.BlockFilter{BeganBefore: 6, Limit: 2}, all[1:3]},
			{hub.BlockFilter{BeganAfter: 1, Limit: 99}, all[1:]},
			{hub.BlockFilter{BeganAfter: 1, BeganBefore: 6, EndedBefore: 8, Limit: 99}, all[1:2]},
			{hub.BlockFilter{BeganAfter: 6, Limit: 99}, []hub.Block{}},
		} {
			same(c, fmt.Sprintf("those of %+v", b.filter), seen(c, func(tx hub.Tx) ([]hub.Block, error) {
				return tx.Blocks(c.session, "bot/shop", b.filter)
			}), b.want)
		}
		same(c, "of a run without steps", seen(c, func(tx hub.Tx) ([]hub.Block, error) {
			return tx.Blocks(c.session, "bot/yard", hub.BlockFilter{EndedBefore: 9, Limit: 9})
		}),
			[]hub.Block{{Run: "rx", Began: 1, Ended: 2, Steps: []json.RawMessage{}}})
	},

	"many blocks come at once": func(c *storeCase) {
		for i := range 300 {
			r := c.run(shoal.RunID(fmt.Sprint("r", i)), "bot", "shop")
			r.Conversation, r.Began, r.Ended = "bot/shop", int64(2*i+1), int64(2*i+2)
			c.runs(r)
			c.put(r.ID, stepAt(i, true))
		}
		blocks := seen(c, func(tx hub.Tx) ([]hub.Block, error) {
			return tx.Blocks(c.session, "bot/shop", hub.BlockFilter{EndedBefore: 1000, Limit: 1000})
		})
		same(c, "their number", len(blocks), 300)
		for i, b := range blocks {
			same(c, fmt.Sprint("block ", i), b, hub.Block{
				Run: shoal.RunID(fmt.Sprint("r", i)), Began: int64(2*i + 1), Ended: int64(2*i + 2), Steps: []json.RawMessage{stepAt(i, true).Data},
			})
		}
	},
}
