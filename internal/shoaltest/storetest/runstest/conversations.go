package runstest

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var conversationTests = map[string]func(*storecase.Case){
	"the newest input of a front end for a run is read as it was stored": func(c *storecase.Case) {
		get := func() storage.ClientInput {
			return storecase.Read(c, func(tx storage.Tx) (storage.ClientInput, error) { return tx.ClientInput(c.Session, "r1") })
		}
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.ClientInput(c.Session, "r1"); return err })
		in := storage.ClientInput{
			EntityID: "ann", Tools: []storage.ClientTool{{Name: "paint", Description: storecase.Hostile, Schema: json.RawMessage(`{"type":"object","title":"\u2028 <ü>"}`)}, {Name: "blink"}},
			Context: []storage.ClientContext{{Description: storecase.Hostile, Value: storecase.Hostile}}, Refused: []string{},
		}
		c.Update(func(tx storage.Tx) error { return tx.PutClientInput(c.Session, "r1", in) })
		storecase.Equal(c, "what was stored", get(), in)
		in.Refused, in.Context = []string{"blink"}, []storage.ClientContext{}
		c.Update(func(tx storage.Tx) error { return tx.PutClientInput(c.Session, "r1", in) })
		storecase.Equal(c, "what was stored again", get(), in)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.ClientInput("nowhere", "r1"); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.ClientInput(c.Session, "r2"); return err })
	},

	"all fields are read as they were stored": func(c *storecase.Case) {
		get := func() storage.Conversation {
			return storecase.Read(c, func(tx storage.Tx) (storage.Conversation, error) { return tx.Conversation(c.Session, "bot/shop") })
		}
		put := func(conv storage.Conversation) {
			c.Update(func(tx storage.Tx) error { return tx.PutConversation(conv) })
		}
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Conversation(c.Session, "bot/shop"); return err })
		conv := storage.Conversation{Session: c.Session, ID: "bot/shop", Agent: "bot", Clock: 1}
		put(conv)
		storecase.Equal(c, "without data", get(), conv)
		conv.Clock, conv.Cleared, conv.Data = 2, 1, storecase.RawJSON
		put(conv)
		storecase.Equal(c, "with data", get(), conv)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Conversation("nowhere", "bot/shop"); return err })
	},

	"conversations of an agent are listed with the state of their runs, unless they are cleared": func(c *storecase.Case) {
		run := func(id shoal.RunID, conversation string, began, ended int64) {
			r := c.NewRun(id, "bot", "")
			if r.Conversation, r.Began, r.Ended, r.Status = conversation, began, ended, shoal.RunRunning; ended > 0 {
				r.Status, r.EndedAt = shoal.RunCompleted, storecase.Ptr(storecase.Time(int(ended)))
			}
			c.AddRuns(r)
		}
		put := func(id string, agent shoal.EntityID, clock, cleared int64) {
			c.Update(func(tx storage.Tx) error {
				return tx.PutConversation(storage.Conversation{Session: c.Session, ID: id, Agent: agent, Clock: clock, Cleared: cleared})
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
		list := func(f storage.ConversationFilter) []storage.ConversationState {
			return storecase.Read(c, func(tx storage.Tx) ([]storage.ConversationState, error) { return tx.Conversations(c.Session, "bot", f) })
		}
		attic := storage.ConversationState{ID: "bot/attic", ActiveRun: "r8"}
		plan := storage.ConversationState{ID: "bot/plan/p", LastEnded: storecase.Ptr(storecase.Time(2))}
		shop := storage.ConversationState{ID: "bot/shop", ActiveRun: "r3", LastEnded: storecase.Ptr(storecase.Time(3))}
		storecase.Equal(c, "all", list(storage.ConversationFilter{Limit: 9}), []storage.ConversationState{attic, plan, shop})
		storecase.Equal(c, "the first", list(storage.ConversationFilter{Limit: 1}), []storage.ConversationState{attic})
		storecase.Equal(c, "the next", list(storage.ConversationFilter{After: "bot/attic", Limit: 1}), []storage.ConversationState{plan})
		storecase.Equal(c, "after the last", list(storage.ConversationFilter{After: "bot/shop", Limit: 9}), []storage.ConversationState{})
		storecase.Equal(c, "none at all", list(storage.ConversationFilter{}), []storage.ConversationState{})
		storecase.Equal(c, "one", list(storage.ConversationFilter{ID: "bot/shop"}), []storage.ConversationState{shop})
		storecase.Equal(c, "one that is cleared", list(storage.ConversationFilter{ID: "bot/cleared"}), []storage.ConversationState{})
		storecase.Equal(c, "one of another agent", list(storage.ConversationFilter{ID: "bot2/shop"}), []storage.ConversationState{})
	},

	"blocks are the newest runs that ended before a position, in the order of their starts": func(c *storecase.Case) {
		for i, at := range []struct{ began, ended int64 }{{1, 4}, {2, 3}, {5, 8}, {6, 7}, {9, 0}} {
			r := c.NewRun(shoal.RunID(fmt.Sprint("r", i)), "bot", "shop")
			r.Conversation, r.Began, r.Ended, r.Turn = "bot/shop", at.began, at.ended, fmt.Appendf(nil, `{ "turn":%d}`, i)
			c.AddRuns(r)
			c.AddSteps(r.ID, storecase.NewStep(1, true), storecase.NewStep(0, true), storecase.NewStep(2, false))
		}
		elsewhere := c.NewRun("rx", "bot", "yard")
		elsewhere.Conversation, elsewhere.Began, elsewhere.Ended = "bot/yard", 1, 2
		c.AddRuns(elsewhere)
		block := func(i int, began, ended int64) storage.Block {
			return storage.Block{
				Run: shoal.RunID(fmt.Sprint("r", i)), Began: began, Ended: ended, Turn: fmt.Appendf(nil, `{ "turn":%d}`, i),
				Steps: []json.RawMessage{storecase.NewStep(0, true).Data, storecase.NewStep(1, true).Data},
			}
		}
		all := []storage.Block{block(0, 1, 4), block(1, 2, 3), block(2, 5, 8), block(3, 6, 7)}
		for _, b := range []struct {
			filter storage.BlockFilter
			want   []storage.Block
		}{
			{storage.BlockFilter{EndedBefore: 99, Limit: 99}, all},
			{storage.BlockFilter{EndedBefore: 8, Limit: 99}, []storage.Block{all[0], all[1], all[3]}},
			{storage.BlockFilter{EndedBefore: 4, Limit: 99}, []storage.Block{all[1]}},
			{storage.BlockFilter{EndedBefore: 3, Limit: 99}, []storage.Block{}},
			{storage.BlockFilter{EndedBefore: 99, Limit: 3}, all[1:]},
			{storage.BlockFilter{EndedBefore: 99, Limit: 1}, all[3:]},
			{storage.BlockFilter{EndedBefore: 99}, []storage.Block{}},
			{storage.BlockFilter{Limit: 99}, all},
			{storage.BlockFilter{BeganBefore: 6, Limit: 2}, all[1:3]},
			{storage.BlockFilter{BeganAfter: 1, Limit: 99}, all[1:]},
			{storage.BlockFilter{BeganAfter: 1, BeganBefore: 6, EndedBefore: 8, Limit: 99}, all[1:2]},
			{storage.BlockFilter{BeganAfter: 6, Limit: 99}, []storage.Block{}},
		} {
			storecase.Equal(c, fmt.Sprintf("those of %+v", b.filter), storecase.Read(c, func(tx storage.Tx) ([]storage.Block, error) {
				return tx.Blocks(c.Session, "bot/shop", b.filter)
			}), b.want)
		}
		storecase.Equal(c, "of a run without steps", storecase.Read(c, func(tx storage.Tx) ([]storage.Block, error) {
			return tx.Blocks(c.Session, "bot/yard", storage.BlockFilter{EndedBefore: 9, Limit: 9})
		}),
			[]storage.Block{{Run: "rx", Began: 1, Ended: 2, Steps: []json.RawMessage{}}})
	},

	"many blocks at once": func(c *storecase.Case) {
		for i := range 300 {
			r := c.NewRun(shoal.RunID(fmt.Sprint("r", i)), "bot", "shop")
			r.Conversation, r.Began, r.Ended = "bot/shop", int64(2*i+1), int64(2*i+2)
			c.AddRuns(r)
			c.AddSteps(r.ID, storecase.NewStep(i, true))
		}
		blocks := storecase.Read(c, func(tx storage.Tx) ([]storage.Block, error) {
			return tx.Blocks(c.Session, "bot/shop", storage.BlockFilter{EndedBefore: 1000, Limit: 1000})
		})
		storecase.Equal(c, "their number", len(blocks), 300)
		for i, b := range blocks {
			storecase.Equal(c, fmt.Sprint("block ", i), b, storage.Block{
				Run: shoal.RunID(fmt.Sprint("r", i)), Began: int64(2*i + 1), Ended: int64(2*i + 2), Steps: []json.RawMessage{storecase.NewStep(i, true).Data},
			})
		}
	},
}
