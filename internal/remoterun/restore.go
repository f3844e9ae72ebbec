package remoterun

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/perform"
)

// restore reads a run in the transaction that makes this server its writer.
func (s *Server) restore(c *runs.RunChange) (*running, error) {
	r := c.Run
	stored, err := c.HostedAgentAt(r.SessionID, r.AgentID, r.Version)
	if err != nil {
		return nil, err
	}
	x := &running{s: s, run: *r, owner: r.Owner, status: r.Status, used: time.Now(), active: shoal.RunActivity{At: c.At, Kind: shoal.ActivityStarted}}
	x.lease = runs.Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}
	if x.config, err = agentconfig.Load(stored.Config); err != nil {
		return nil, err
	}
	tools, err := cards(x.config)
	if err != nil {
		return nil, err
	}
	x.machine = newMachine(r.ID, r.Space, tools)
	x.output = &perform.Run{
		Agent: r.AgentID, Access: behalf.Access{Read: behalf.Scope(x.config.Access.Read), Write: behalf.Scope(x.config.Access.Write)},
		OpenPending: x.openPending, Messages: map[shoal.MessageID]shoal.Message{}, Unopened: map[shoal.MessageID]bool{},
	}
	st, err := stateOf(*r)
	if err != nil {
		return nil, err
	}
	x.claim, x.leaseFor = st.Remote.Claim, s.o.Lease
	if st.Remote.ByCalls {
		x.leaseFor = s.o.CallLease
	}
	if err := x.replay(c); err != nil {
		return nil, err
	}
	if x.show, err = perform.ShowsReasoning(c.Tx, *r); err != nil {
		return nil, err
	}
	return x, x.adopt(c)
}

// replay brings the machine to what is stored.
func (x *running) replay(c *runs.RunChange) error {
	work, err := c.RunWork(x.run.SessionID, x.run.ID, 0)
	if err != nil {
		return err
	}
	for _, w := range work {
		var b batch
		if err := json.Unmarshal(w.Data, &b); err != nil {
			return fmt.Errorf("remoterun: the work on run %s: %w", x.run.ID, err)
		}
		for _, e := range b.Entries {
			if _, err := x.machine.apply(e, b.At); err != nil {
				return fmt.Errorf("remoterun: the work on run %s: %w", x.run.ID, err)
			}
		}
		x.place = w.Place
		if w.Generation == x.claim {
			x.n = w.N
		}
	}
	return nil
}

// adopt stores the drafts of the messages in progress, and closes those that the machine does
// not know.
func (x *running) adopt(c *runs.RunChange) error {
	composed, err := c.Composed(x.run.SessionID, x.run.ID)
	if err != nil {
		return err
	}
	drafts := x.machine.composer.OpenMessages()
	known := map[shoal.MessageID]bool{}
	for _, m := range drafts {
		known[m.ID] = true
	}
	for _, m := range composed {
		x.output.Messages[m.ID] = m.Message
		if m.Status == shoal.MessageStreaming && !known[m.ID] {
			m.Status = shoal.MessageCanceled
			if err := c.CloseMessage(m.Message, m.State); err != nil {
				return err
			}
		}
	}
	_, err = x.perform(c, saves(drafts))
	return err
}
