package run

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// maxBlocks is how many earlier runs of its conversation a run sees at most: the
// newest.
const maxBlocks = 500

// past is what a run knows from earlier runs of its conversation.
type past struct {
	order    []shoal.RunID
	counts   []int // of messages of each
	messages []agent.Message
	summary  *agent.Summary
	states   map[string]json.RawMessage
	held     map[string]bool // messages of spaces among messages, by key
}

// keptPast is what StoredConversation.Data holds.
type keptPast struct {
	States  map[string]json.RawMessage `json:"states,omitempty"`
	Summary *keptSummary               `json:"summary,omitempty"`
}

// keptSummary stands for the first messages of a list: those of the runs in Order,
// of which there are Counts. Later runs see these runs in that order first, so that
// what it covers never shifts.
type keptSummary struct {
	Text        string        `json:"text"`
	Covers      int           `json:"covers"`
	Thoughtless int           `json:"thoughtless,omitempty"`
	Order       []shoal.RunID `json:"order"`
	Counts      []int         `json:"counts"`
}

// readPast returns what the run sees: runs that had ended when it began.
func readPast(x *execution, tx hub.Tx) (past, error) {
	conv, err := x.conversation(tx)
	if err != nil {
		return past{}, err
	}
	kept, err := decodePast(conv)
	if err != nil {
		return past{}, err
	}
	out := past{states: kept.States}
	if !x.config.Context.Conversation {
		return out, nil
	}
	blocks, err := tx.Blocks(x.run.SessionID, x.run.Conversation, hub.BlockFilter{BeganAfter: conv.Cleared, EndedBefore: x.run.Began, Limit: maxBlocks})
	if err != nil {
		return past{}, err
	}
	said := map[shoal.RunID]block{}
	var began []shoal.RunID
	for _, b := range blocks {
		if said[b.Run], err = x.e.blocks.decode(b); err != nil {
			return past{}, err
		}
		began = append(began, b.Run)
	}
	out.arrange(began, said, kept.Summary)
	return out, nil
}

// block is what an ended run added to its conversation: first so many messages of
// its input, then its steps.
type block struct {
	messages []agent.Message
	inputs   int
}

// arrange puts the runs that a summary covers before the others, which are in the
// order of their beginning. Runs that ran at once may have read the same messages of
// the space: a message that an earlier block contains is not repeated.
func (p *past) arrange(began []shoal.RunID, said map[shoal.RunID]block, summary *keptSummary) {
	placed := map[shoal.RunID]bool{}
	p.held = map[string]bool{}
	place := func(id shoal.RunID) (count int) {
		b, there := said[id]
		if !there || placed[id] {
			return 0
		}
		placed[id] = true
		input := p.newInput(b.messages[:b.inputs])
		count = len(input) + len(b.messages) - b.inputs
		p.order, p.counts = append(p.order, id), append(p.counts, count)
		p.messages = append(append(p.messages, input...), b.messages[b.inputs:]...)
		return count
	}
	if summary != nil {
		counts := make([]int, len(summary.Order))
		for i, id := range summary.Order {
			counts[i] = place(id)
		}
		p.summary = &agent.Summary{
			Text: summary.Text, Covers: summary.now(summary.Covers, counts), Thoughtless: summary.now(summary.Thoughtless, counts),
		}
	}
	for _, id := range began {
		place(id)
	}
}

// now returns how many messages the first n are today, when the runs in Order have
// so many messages as counts says.
func (s *keptSummary) now(n int, counts []int) int {
	out := 0
	for i, count := range counts {
		counted := s.Counts[i]
		switch {
		case n >= counted:
			out += count
		case n > 0:
			// If the count has changed since, messages at the front of the input came or went.
			out += max(0, count-(counted-n))
		}
		n -= min(n, counted)
	}
	return out
}

// newInput returns the messages of an input that no earlier block contains, and
// remembers them. The last one is what started the run, and is always returned.
func (p *past) newInput(input []agent.Message) (out []agent.Message) {
	for i, m := range input {
		key := spacetool.MessageKey(m)
		if key == "" || !p.held[key] || i == len(input)-1 {
			out = append(out, m)
		}
		if key != "" && p.held != nil {
			p.held[key] = true
		}
	}
	return out
}

// decodeBlock returns what an ended run added to its conversation.
func decodeBlock(b hub.Block) (out block, err error) {
	if len(b.Turn) == 0 { // it ended before it began
		return out, nil
	}
	var k keptTurn
	if err := json.Unmarshal(b.Turn, &k); err != nil {
		return out, fmt.Errorf("run: the turn of run %s: %w", b.Run, err)
	}
	out.messages, out.inputs = k.Turn.Input, len(k.Turn.Input)
	for i, data := range b.Steps {
		var step agent.Step
		if err := json.Unmarshal(data, &step); err != nil {
			return out, fmt.Errorf("run: step %d of run %s: %w", i, b.Run, err)
		}
		out.messages = append(out.messages, step.Messages()...)
	}
	return out, nil
}

func decodePast(conv hub.StoredConversation) (k keptPast, err error) {
	if len(conv.Data) == 0 {
		return k, nil
	}
	if err := json.Unmarshal(conv.Data, &k); err != nil {
		return k, fmt.Errorf("run: the conversation %s: %w", conv.ID, err)
	}
	return k, nil
}

// keepPast stores what the end of a turn leaves to later runs.
func keepPast(x *execution, c *hub.RunChange, end agent.TurnEnd, r agent.Record) error {
	if len(end.ContextState) == 0 && end.Summary == nil {
		return nil
	}
	conv, err := x.conversation(c.Tx)
	if err != nil {
		return err
	}
	kept, err := decodePast(conv)
	if err != nil {
		return err
	}
	kept.States = merged(kept.States, end.ContextState)
	if end.Summary != nil {
		seen := x.store.past
		kept.Summary = &keptSummary{
			Text: end.Summary.Text, Covers: end.Summary.Covers, Thoughtless: end.Summary.Thoughtless,
			Order: append(slices.Clone(seen.order), x.run.ID), Counts: append(slices.Clone(seen.counts), len(r.Messages)-len(seen.messages)),
		}
	}
	if conv.Data, err = json.Marshal(kept); err != nil {
		return fmt.Errorf("run: a conversation: %w", err)
	}
	return c.PutConversation(conv)
}

// merged adds the entries of more to a map.
func merged[V any](to, more map[string]V) map[string]V {
	if to == nil && len(more) > 0 {
		to = map[string]V{}
	}
	for name, v := range more {
		to[name] = v
	}
	return to
}
