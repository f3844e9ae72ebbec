package remoterun

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// sendOffers offers the program of a run the messages that wait for its end, each once. A message
// stays in the queue until the program says that its model has it.
func (s *Server) sendOffers(ctx context.Context, r storage.Run, offered map[shoal.RunID]bool, send func(*shoal.Order) error) error {
	var orders []shoal.Order
	err := s.o.Hub.Work.Read(ctx, func(tx storage.Tx) error {
		orders = nil
		waiting, err := offers(tx, r)
		if err != nil || len(waiting) == 0 {
			return err
		}
		after, err := readUpTo(tx, r)
		for _, q := range waiting {
			if err == nil && !offered[q.ID] {
				var input []agent.Message
				input, err = s.offeredInput(ctx, tx, q, after)
				orders = append(orders, shoal.Order{
					Type: shoal.OrderSteer, RunID: q.ID, MessageID: q.Trigger.MessageID, By: q.Trigger.SenderEntityID, ActingFor: q.Roots(), Text: said(input),
				})
			}
			if err != nil {
				return err
			}
			after, err = later(tx, q, after)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, o := range orders {
		if err := send(&o); err != nil {
			return err
		}
		offered[o.RunID] = true
	}
	return nil
}

// said returns an input as one text.
func said(input []agent.Message) string {
	all := make([]string, len(input))
	for i, m := range input {
		all[i] = m.Text()
	}
	return strings.Join(all, "\n\n")
}

// takenSearched is how many runs back those are searched whose messages a run has taken in.
const takenSearched = 64

// readUpTo returns the place of the last message in the space of the trigger that the model of a
// run has: its trigger's, or that of a message that it has taken in.
func readUpTo(tx storage.Tx, r storage.Run) (place int64, err error) {
	ended, err := tx.Runs(r.SessionID, storage.RunFilter{Agent: r.AgentID, Space: r.Space, Status: []shoal.RunStatus{shoal.RunCompleted}, Limit: takenSearched})
	if err == nil {
		place, err = later(tx, r, 0)
	}
	for _, q := range ended {
		if err == nil && q.PartOf != nil && *q.PartOf == r.ID {
			place, err = later(tx, q, place)
		}
	}
	return place, err
}

// later returns the place of the trigger of a run, if it is after place.
func later(tx storage.Tx, r storage.Run, place int64) (int64, error) {
	m, err := tx.Message(r.SessionID, r.Space, r.Trigger.MessageID)
	if errors.Is(err, shoal.NotFound) {
		return place, nil
	}
	return max(place, m.Seq), err
}

// offeredInput returns the message of a queued run, after what else its model has not read.
func (s *Server) offeredInput(ctx context.Context, tx storage.Tx, q storage.Run, after int64) ([]agent.Message, error) {
	stored, err := tx.HostedAgentAt(q.SessionID, q.AgentID, q.Version)
	if err != nil {
		return nil, err
	}
	config, err := agentconfig.Load(stored.Config)
	if err != nil {
		return nil, err
	}
	input, err := spacetool.Input(ctx, &spacetool.Run{
		Hub: s.o.Hub, Run: q, Config: config, After: after,
		Read: func(_ context.Context, fn func(storage.Tx) error) error { return fn(tx) },
	})
	return bounded(input), err
}

// takeIn ends the queued runs whose messages the model has, as a batch says. One that does not wait
// any more, because it was canceled meanwhile, stays as it is.
func (x *running) takeIn(ctx context.Context, c *runs.RunChange, b batch) error {
	for _, e := range b.Entries {
		if e.Line == nil || e.Line.Type != shoal.WorkSteered {
			continue
		}
		after, err := readUpTo(c.Tx, *c.Run)
		if err != nil {
			return err
		}
		err = takeInRun(c, e.Line.RunID, func(q storage.Run) (json.RawMessage, error) {
			input, err := x.s.offeredInput(ctx, c.Tx, q, after)
			if err != nil {
				return nil, err
			}
			st := state{Turn: history.Turn{Turn: agent.Turn{ID: string(q.ID), Attempt: 1, Agent: string(q.AgentID), Input: input, StartedAt: c.At.Time}}}
			st.End = &agent.TurnEnd{Outcome: agent.Completed, Reason: agent.ReasonDone, At: c.At.Time}
			err = st.put(&q)
			return q.Turn, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// announceTaken announces the receipts of the messages that the run has taken in: what it has
// written is their answer, too.
func (x *running) announceTaken(c *runs.RunChange) error {
	for _, id := range x.machine.steered {
		if err := c.ReceiptChanged(id); err != nil {
			return err
		}
	}
	return nil
}
