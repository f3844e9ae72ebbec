package run

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub"
)

// OpenStore returns the agent's store of a run that was claimed by somebody else
// than an executor.
func OpenStore(ctx context.Context, h *hub.Hub, r hub.StoredRun) (agent.Store, error) {
	e, err := New(Options{Hub: h})
	if err != nil {
		return nil, err
	}
	x := newExecution(ctx, e, r)
	if err := x.load(); err != nil {
		return nil, err
	}
	if err := x.begin(); err != nil {
		return nil, err
	}
	return x.store, x.read(ctx, x.store.begin)
}

// Split is split.
var Split = split

// Ending is ending.
var Ending = ending

// Options of an agent that is configured so.
var AgentOptions = options

// Arrange is past.arrange; it returns the messages, what a summary covers, and the
// order of the runs. Of each run's messages the first one is its input.
func Arrange(began []shoal.RunID, said map[shoal.RunID][]agent.Message, text string, covers int, order []shoal.RunID, counts []int) ([]agent.Message, int, []shoal.RunID) {
	var p past
	var s *keptSummary
	if text != "" {
		s = &keptSummary{Text: text, Covers: covers, Order: order, Counts: counts}
	}
	blocks := map[shoal.RunID]block{}
	for id, messages := range said {
		blocks[id] = block{messages: messages, inputs: 1}
	}
	p.arrange(began, blocks, s)
	if p.summary == nil {
		return p.messages, 0, p.order
	}
	return p.messages, p.summary.Covers, p.order
}

// ArrangeBlocks is past.arrange of runs with so many messages of input each; it
// returns the messages and the summary of the runs in order.
func ArrangeBlocks(began []shoal.RunID, said map[shoal.RunID][]agent.Message, inputs map[shoal.RunID]int, covers, thoughtless int, order []shoal.RunID, counts []int) ([]agent.Message, agent.Summary) {
	var p past
	blocks := map[shoal.RunID]block{}
	for _, id := range began {
		blocks[id] = block{messages: said[id], inputs: inputs[id]}
	}
	p.arrange(began, blocks, &keptSummary{Text: "so far", Covers: covers, Thoughtless: thoughtless, Order: order, Counts: counts})
	return p.messages, *p.summary
}

// PublicRequest is publicRequest.
var PublicRequest = publicRequest
