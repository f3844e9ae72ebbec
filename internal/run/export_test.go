package run

import (
	"context"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// OpenStore returns the agent's store of a run that was claimed by somebody else
// than an executor.
func OpenStore(ctx context.Context, h *hub.Hub, r storage.Run) (agent.Store, error) {
	e, err := New(Options{Hub: h})
	if err != nil {
		return nil, err
	}
	x := newExecution(ctx, e, r)
	if err := x.load(); err != nil {
		return nil, err
	}
	if err := x.startRun(); err != nil {
		return nil, err
	}
	return x.store, x.read(ctx, x.store.openConversation)
}

// Options of an agent that is configured so.
var AgentOptions = agentOptions
