// Package history assembles what a run of a hosted agent sees of the earlier runs of its
// conversation, and what it leaves to later runs.
//
// Each ended run is a block: its input, then its steps. A run sees the blocks that had
// ended when it began. A summary covers the first messages of that list; it names the
// runs that it covers, so that every later run sees them first and in the same order.
package history

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// keptRuns is how many earlier runs of its conversation a run sees at least, if there are so
// many, and half of how many it sees at most.
const keptRuns = 50

// readAfter returns the position of the conversation's clock after which the runs begin that a
// run sees. It moves in steps of 50 runs: the provider's prompt cache is lost whenever it moves.
// Each run advances the clock twice, when it begins and when it ends.
func readAfter(began int64) int64 {
	const step = 2 * keptRuns
	return max(0, (began-1)/step-1) * step
}

// History is what a run sees of the earlier runs of its conversation.
type History struct {
	Messages []agent.Message
	// Summary covers the first of Messages; nil if there is none.
	Summary *agent.Summary
	// States are what the strategies that shorten the history stored, by their names.
	States map[string]json.RawMessage

	order  []shoal.RunID   // of the runs in Messages
	counts []int           // of the messages of each run
	seen   map[string]bool // keys of the space's messages that Messages contain
}

// storedData is what StoredConversation.Data holds.
type storedData struct {
	States  map[string]json.RawMessage `json:"states,omitempty"`
	Summary *storedSummary             `json:"summary,omitempty"`
}

// storedSummary replaces the first Covers messages of the runs in Order, which had
// Counts messages when it was made. Later runs see these runs first, in that order.
type storedSummary struct {
	Text        string        `json:"text"`
	Covers      int           `json:"covers"`
	Thoughtless int           `json:"thoughtless,omitempty"`
	Order       []shoal.RunID `json:"order"`
	Counts      []int         `json:"counts"`
}

// Read returns the history of a run that began at the position began of the
// conversation's clock.
func (c *Cache) Read(tx storage.Tx, conv storage.Conversation, began int64) (History, error) {
	data, err := decodeData(conv)
	if err != nil {
		return History{}, err
	}
	h := History{States: data.States}
	stored, err := readBlocks(tx, conv, began)
	if err != nil {
		return History{}, err
	}
	blocks := map[shoal.RunID]block{}
	var order []shoal.RunID
	for _, b := range stored {
		if blocks[b.Run], err = c.decode(b); err != nil {
			return History{}, err
		}
		order = append(order, b.Run)
	}
	h.arrange(order, blocks, data.Summary)
	return h, nil
}

// readBlocks returns the runs that a run sees, in the order in which they began.
func readBlocks(tx storage.Tx, conv storage.Conversation, began int64) ([]storage.Block, error) {
	after := readAfter(began)
	filter := storage.BlockFilter{BeganAfter: max(conv.Cleared, after), EndedBefore: began, Limit: 2 * keptRuns}
	blocks, err := tx.Blocks(conv.Session, conv.ID, filter)
	if err != nil || len(blocks) >= keptRuns || after <= conv.Cleared {
		return blocks, err
	}
	// Of runs that went on at once, as many may have begun long before the last ones ended.
	filter.BeganAfter, filter.Limit = conv.Cleared, keptRuns
	return tx.Blocks(conv.Session, conv.ID, filter)
}

// ReadStates returns the history of a run that sees no earlier runs: the States alone.
func ReadStates(conv storage.Conversation) (History, error) {
	data, err := decodeData(conv)
	return History{States: data.States}, err
}

// block is what an ended run added to its conversation: its input, which is the first
// inputs messages, then its steps.
type block struct {
	messages []agent.Message
	inputs   int
}

// arrange puts the runs that a summary covers first, and the others after them in the
// order in which they began. Concurrent runs may have read the same messages of a space:
// a message that an earlier block contains is not repeated.
func (h *History) arrange(began []shoal.RunID, blocks map[shoal.RunID]block, summary *storedSummary) {
	added := map[shoal.RunID]bool{}
	h.seen = map[string]bool{}
	add := func(id shoal.RunID) (count int) {
		b, found := blocks[id]
		if !found || added[id] {
			return 0
		}
		added[id] = true
		input := h.NewInput(b.messages[:b.inputs])
		count = len(input) + len(b.messages) - b.inputs
		h.order, h.counts = append(h.order, id), append(h.counts, count)
		h.Messages = append(append(h.Messages, input...), b.messages[b.inputs:]...)
		return count
	}
	if summary != nil {
		counts := make([]int, len(summary.Order))
		for i, id := range summary.Order {
			counts[i] = add(id)
		}
		h.Summary = &agent.Summary{
			Text: summary.Text, Covers: summary.recount(summary.Covers, counts), Thoughtless: summary.recount(summary.Thoughtless, counts),
		}
	}
	for _, id := range began {
		add(id)
	}
}

// recount converts a number of messages of the runs in Order from the time when the
// summary was made to a time when the runs have counts messages.
func (s *storedSummary) recount(n int, counts []int) int {
	out := 0
	for i, count := range counts {
		before := s.Counts[i]
		switch {
		case n >= before:
			out += count
		case n > 0:
			// If the count has changed, messages at the beginning of the input were added or removed.
			out += max(0, count-(before-n))
		}
		n -= min(n, before)
	}
	return out
}

// NewInput returns the messages of an input that the history does not contain yet, and
// remembers them. It always returns the last one, which started the run.
func (h *History) NewInput(input []agent.Message) (out []agent.Message) {
	for i, m := range input {
		key := spacetool.MessageKey(m)
		if key == "" || !h.seen[key] || i == len(input)-1 {
			out = append(out, m)
		}
		if key != "" && h.seen != nil {
			h.seen[key] = true
		}
	}
	return out
}

// Update writes into conv what the end of a run leaves to later runs, and reports
// whether conv changed. count is the number of messages in the run's record, including
// those of the history.
func (h *History) Update(conv *storage.Conversation, run shoal.RunID, end agent.TurnEnd, count int) (changed bool, err error) {
	if len(end.ContextState) == 0 && end.Summary == nil {
		return false, nil
	}
	data, err := decodeData(*conv)
	if err != nil {
		return false, err
	}
	if data.States == nil && len(end.ContextState) > 0 {
		data.States = map[string]json.RawMessage{}
	}
	for name, state := range end.ContextState {
		data.States[name] = state
	}
	if s := end.Summary; s != nil {
		data.Summary = &storedSummary{
			Text: s.Text, Covers: s.Covers, Thoughtless: s.Thoughtless,
			Order: append(slices.Clone(h.order), run), Counts: append(slices.Clone(h.counts), count-len(h.Messages)),
		}
	}
	if conv.Data, err = json.Marshal(data); err != nil {
		return false, fmt.Errorf("history: encode the conversation %s: %w", conv.ID, err)
	}
	return true, nil
}

func decodeData(conv storage.Conversation) (data storedData, err error) {
	if len(conv.Data) == 0 {
		return data, nil
	}
	if err := json.Unmarshal(conv.Data, &data); err != nil {
		return data, fmt.Errorf("history: decode the conversation %s: %w", conv.ID, err)
	}
	return data, nil
}
