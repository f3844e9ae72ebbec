package remoterun

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// Demand is what a program claims: up to Limit runs, for which it waits that long. Holds are runs
// that it executes already: a lease can end while its program is cut off from the server, or the
// server is down, and such a program must not take its own run from itself.
//
// ByCalls says that the program calls tools, and therefore reports nothing between its calls: the
// runs are leased for [Options.CallLease] after each of them, and before the first one for at most
// two minutes, so that a claim which did not arrive does not hold its run for long.
type Demand struct {
	Limit   int
	Holds   []shoal.RunID
	Wait    time.Duration
	ByCalls bool
}

// maxFirstLease is how long a program that calls tools may take for its first call.
const maxFirstLease = 2 * time.Minute

// firstLease is for how long a claim leases a run.
func (s *Server) firstLease(d Demand) time.Duration {
	if d.ByCalls {
		return min(s.o.CallLease, maxFirstLease)
	}
	return s.o.Lease
}

// Claim is an open claim of a program.
type Claim struct {
	s       *Server
	session shoal.SessionID
	agent   shoal.EntityID
	demand  Demand
	ends    time.Time
	sub     core.Subscription
	serving func()
}

// Claim leases runs of an agent to the caller, which must be the agent itself or an admin.
// Without such runs, and with a wait above zero, it returns an open claim, whose Wait continues.
func (s *Server) Claim(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, d Demand) ([]shoal.RemoteRun, *Claim, error) {
	if _, err := s.o.Hub.Runs.ProgramAgent(ctx, caller, session, agent); err != nil {
		return nil, nil, err
	}
	if d.Wait <= 0 {
		claimed, err := s.claim(ctx, session, agent, d)
		return claimed, nil, err
	}
	c := &Claim{s: s, session: session, agent: agent, demand: d, ends: time.Now().Add(d.Wait)}
	c.sub = s.o.Hub.Work.SubscribeRemote(session, agent) // before the read, so that no notification is missed
	claimed, err := s.claim(ctx, session, agent, d)
	if err != nil || len(claimed) > 0 {
		c.sub.Close()
		return claimed, nil, err
	}
	c.serving = s.o.Hub.Work.Serving(session, agent, c.ends)
	return nil, c, nil
}

// fallback is how often a claim reads without a notification: a run that waits for further
// messages, or whose program has died, becomes claimable by the clock.
const fallback = time.Second

// Wait returns the runs that the claim has leased, none when its time is over. It must be
// called once.
func (c *Claim) Wait(ctx context.Context) ([]shoal.RemoteRun, error) {
	defer c.sub.Close()
	defer c.serving()
	end := time.NewTimer(time.Until(c.ends))
	defer end.Stop()
	tick := time.NewTicker(fallback)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.s.ctx.Done():
			return nil, shoal.E("", shoal.Busy, "The server is stopping. Claim again in a moment.")
		case <-end.C:
			return nil, nil
		case <-c.sub.Ready():
			c.sub.Take()
		case <-tick.C:
		}
		claimed, err := c.s.claim(ctx, c.session, c.agent, c.demand)
		if err != nil || len(claimed) > 0 {
			return claimed, err
		}
	}
}

// claim leases runs that can start or continue now.
func (s *Server) claim(ctx context.Context, session shoal.SessionID, agentID shoal.EntityID, d Demand) ([]shoal.RemoteRun, error) {
	stored, err := s.config(ctx, session, agentID)
	if err != nil {
		return nil, err
	}
	in := runs.RemoteClaim{
		Session: session, Agent: agentID, Owner: shoal.NewID[string]("prg_"), Limit: d.Limit, Holds: d.Holds, Concurrency: stored.Remote.Concurrency, TTL: s.firstLease(d),
	}
	until := time.Now().Add(in.TTL)
	held := map[shoal.RunID]*running{}
	claimed, err := s.o.Hub.Work.ClaimRemote(ctx, in, func(c *runs.RunChange) error {
		x, err := s.begin(ctx, c, d.ByCalls)
		held[c.Run.ID] = x
		return err
	})
	if err != nil {
		return nil, err
	}
	out := []shoal.RemoteRun{}
	for _, r := range claimed {
		x := held[r.ID]
		if r.Status.Ended() || r.Cancel {
			continue
		}
		x.until, x.status = until, r.Status
		s.remember(x)
		one, err := x.describe(ctx, r)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// config returns the newest configuration of an agent.
func (s *Server) config(ctx context.Context, session shoal.SessionID, id shoal.EntityID) (c *agentconfig.Config, err error) {
	var stored storage.Agent
	err = s.o.Hub.Work.Read(ctx, func(tx storage.Tx) (err error) {
		stored, err = core.FindHostedAgent(tx, session, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if c, err = agentconfig.Load(stored.Config); err == nil && c.Remote == nil {
		err = shoal.E("", shoal.Conflict, "The server executes the runs of this agent itself.")
	}
	return c, err
}

// begin starts a claim of a run in its transaction: a new run begins, and one that another
// program has executed continues. A run whose agent has used its budget of the day fails.
func (s *Server) begin(ctx context.Context, c *runs.RunChange, byCalls bool) (x *running, err error) {
	st, err := stateOf(*c.Run)
	if err != nil {
		return nil, err
	}
	again := st.Remote.Claim != 0
	st.Remote.Claim, st.Remote.ByCalls = c.Run.Generation, byCalls
	if c.Run.Began == 0 {
		if c.Run.Began, err = c.NextPosition(); err != nil {
			return nil, err
		}
	}
	if !again {
		if st.Turn.Turn, err = firstTurn(ctx, s, c); err != nil {
			return nil, err
		}
	}
	if err := st.put(c.Run); err != nil {
		return nil, err
	}
	if x, err = s.restore(c); err != nil {
		return nil, err
	}
	over, err := x.overToday(c)
	if err != nil {
		return nil, err
	}
	in := entry{Claim: c.Run.Generation}
	switch {
	case over != "":
		in = entry{Line: &shoal.WorkLine{Type: shoal.WorkFailed, Code: "budget_exhausted", Text: over}}
	case !again:
		return x, c.Start()
	}
	return x, x.note(c, in)
}

// note applies an entry that the server makes itself, in the transaction of a claim.
func (x *running) note(c *runs.RunChange, e entry) error {
	effects, err := x.machine.apply(e, c.At)
	if err != nil {
		return err
	}
	attempt, err := x.perform(c, effects)
	if err != nil {
		return err
	}
	attempt.Apply() // x is used only if the transaction is committed
	if x.machine.end != nil {
		return x.finish(c, 0)
	}
	data, err := json.Marshal(batch{c.At, []entry{e}})
	if err != nil {
		return err
	}
	x.place++
	return c.AppendRunWork(x.run.SessionID, x.run.ID, storage.RunWork{Place: x.place, Generation: x.claim, Data: data})
}

// firstTurn returns the turn of a run that begins, with what it reads.
func firstTurn(ctx context.Context, s *Server, c *runs.RunChange) (agent.Turn, error) {
	stored, err := c.HostedAgentAt(c.Run.SessionID, c.Run.AgentID, c.Run.Version)
	if err != nil {
		return agent.Turn{}, err
	}
	config, err := agentconfig.Load(stored.Config)
	if err != nil {
		return agent.Turn{}, err
	}
	input, err := spacetool.Input(ctx, &spacetool.Run{
		Hub: s.o.Hub, Run: *c.Run, Config: config,
		Read: func(_ context.Context, fn func(storage.Tx) error) error { return fn(c.Tx) },
	})
	return agent.Turn{ID: string(c.Run.ID), Attempt: 1, Agent: string(c.Run.AgentID), Input: bounded(input), StartedAt: c.At.Time}, err
}

// maxPrompt bounds what a program gets to read at the beginning of a run.
const maxPrompt = 1 << 20

// bounded returns the newest messages of an input that fit, at least the last.
func bounded(input []agent.Message) []agent.Message {
	size := 0
	for i := len(input) - 1; i >= 0; i-- {
		if size += len(input[i].Text()); size > maxPrompt && i < len(input)-1 {
			return input[i+1:]
		}
	}
	return input
}

// maxMembers is how many members a claim names.
const maxMembers = 100

// describe returns the run as its program gets it.
func (x *running) describe(ctx context.Context, r storage.Run) (out shoal.RemoteRun, err error) {
	st, err := stateOf(r)
	if err != nil {
		return out, err
	}
	said := make([]string, len(st.Turn.Turn.Input))
	for i, m := range st.Turn.Turn.Input {
		said[i] = m.Text()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	out = shoal.RemoteRun{
		Run: r.Run, Generation: x.claim, LeaseUntil: shoal.At(x.until), LeaseMs: x.leaseFor.Milliseconds(),
		Instructions: strings.TrimSpace(x.config.Agent.System + "\n\n" + x.config.Agent.Instructions), Prompt: strings.Join(said, "\n\n"),
		Members: []shoal.Mentionable{}, Written: []shoal.WrittenText{}, Calls: []shoal.RemoteCall{},
	}
	out.Run.PendingToolCalls = []shoal.PendingToolCall{}
	for _, t := range x.machine.texts {
		out.Written = append(out.Written, shoal.WrittenText{SpaceID: t.space, Text: t.body.String(), Interrupted: t.broken})
	}
	for _, k := range x.machine.order {
		out.Calls = append(out.Calls, k.RemoteCall)
	}
	if r.Space == "" {
		return out, nil
	}
	err = x.s.o.Hub.Work.Read(ctx, func(tx storage.Tx) error {
		listed, err := tx.ListedMembers(r.SessionID, r.AgentID, []shoal.SpaceID{r.Space})
		out.Members = []shoal.Mentionable{}
		for _, m := range listed[r.Space] {
			if m.EntityID != r.AgentID && len(out.Members) < maxMembers {
				out.Members = append(out.Members, shoal.Mentionable{EntityID: m.EntityID, Name: m.Name, Kind: m.Kind})
			}
		}
		return err
	})
	return out, err
}
