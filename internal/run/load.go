package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/perform"
)

// load reads everything that is stored about the run, also to end one that is canceled.
func (x *execution) load() error {
	var composed []storage.ComposedMessage
	err := x.read(context.WithoutCancel(x.ctx), func(tx storage.Tx) error {
		r, s := x.run, x.run.SessionID
		_, err := tx.HostedAgent(s, r.AgentID)
		if err != nil && !errors.Is(err, shoal.NotFound) {
			return err
		}
		x.hosted = err == nil
		stored, err := tx.HostedAgentAt(s, r.AgentID, r.Version)
		if err != nil {
			return err
		}
		if x.config, err = agentconfig.Load(stored.Config); err != nil {
			return err
		}
		if x.rows, err = tx.PendingOf(s, r.ID); err != nil {
			return err
		}
		if composed, err = tx.Composed(s, r.ID); err != nil {
			return err
		}
		in, err := tx.ClientInput(s, r.ID)
		if err == nil {
			x.client.in = &in
		} else if !errors.Is(err, shoal.NotFound) {
			return err
		}
		if x.show, err = perform.ShowsReasoning(tx, r); err != nil {
			return err
		}
		x.store, err = openStore(x, tx)
		return err
	})
	if err != nil {
		return err
	}
	x.steps = len(x.store.steps)
	return x.restore(composed)
}

// restore makes the composer from the stored messages and steps.
func (x *execution) restore(composed []storage.ComposedMessage) error {
	x.shown = map[string]shoal.MessageID{}
	x.output = &perform.Run{
		Agent: x.run.AgentID, Access: behalf.Access{Read: behalf.Scope(x.config.Access.Read), Write: behalf.Scope(x.config.Access.Write)},
		OpenPending: x.openPending, Messages: map[shoal.MessageID]shoal.Message{}, Unopened: map[shoal.MessageID]bool{},
	}
	stored := make([]compose.Message, len(composed))
	for i, m := range composed {
		if err := json.Unmarshal(m.State, &stored[i]); err != nil {
			return &unreadableError{"the state of message " + string(m.ID), err}
		}
		x.output.Messages[m.ID] = m.Message
		for _, p := range stored[i].Parts {
			if !p.RequestOnly {
				x.shown[p.Call] = m.ID
			}
		}
	}
	tools, err := x.composeTools()
	if err != nil {
		return err
	}
	x.composer, x.restored = compose.Restore(compose.Options{
		Run: x.run.ID, Trigger: x.run.Space, Tools: tools, Stream: x.config.Reply == agentconfig.ReplyStream,
		NewMessageID: func() shoal.MessageID { return shoal.NewID[shoal.MessageID](shoal.PrefixMessage) },
		NewPartID:    func() shoal.PartID { return shoal.NewID[shoal.PartID](shoal.PrefixPart) },
	}, stored, x.withRequests(x.store.steps))
	return nil
}

// requestKinds are those of requests that may have a part of their own.
var requestKinds = map[shoal.PendingKind]agent.PendingKind{
	shoal.PendingPermission: agent.Permission, shoal.PendingClientTool: agent.ClientCall, shoal.PendingQuestion: agent.Clarification,
}

// withRequests returns the steps as the composer needs them. Requests of sub-agents have
// the answers that the hub has, because a sub-agent that has continued does not emit them
// again. Requests that are no longer in a step are added, because their parts remain.
func (x *execution) withRequests(steps []agent.Step) []agent.Step {
	if len(steps) == 0 {
		return steps
	}
	steps = slices.Clone(steps)
	held := map[string]bool{}
	for i := range steps {
		steps[i].Pending = slices.Clone(steps[i].Pending)
		for j := range steps[i].Pending {
			p := &steps[i].Pending[j]
			held[p.ID] = true
			if p.Via != "" && p.Answer == nil {
				p.Answer = x.answerOf(*p)
			}
		}
	}
	for _, row := range x.rows {
		kind, shown := requestKinds[row.Kind]
		if !shown || row.PartID == nil || held[row.Request] {
			continue
		}
		p := agent.Pending{ID: row.Request, Kind: kind, Call: agent.ToolCall{ID: row.ToolCallID, Name: row.ToolName}}
		p.Answer = x.answerOf(p)
		steps[0].Pending = append(steps[0].Pending, p)
	}
	return steps
}
