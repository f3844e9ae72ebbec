package storecase

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// NewStep returns a step with its index as its data.
func NewStep(index int, done bool) storage.Step {
	s := storage.Step{Done: done, Data: fmt.Appendf(nil, `{"step": %d}`, index)}
	s.Index, s.StartedAt, s.ToolCalls = index, Time(index), []shoal.StepCall{}
	return s
}

// AddSteps stores steps of a run.
func (c *Case) AddSteps(run shoal.RunID, all ...storage.Step) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		for _, s := range all {
			if err := tx.PutStep(c.Session, run, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// AddTexts stores texts in one transaction.
func (c *Case) AddTexts(all ...storage.ModelText) {
	c.Helper()
	c.Update(func(tx storage.Tx) error { return tx.PutTexts(c.Session, all) })
}

// AddHostedAgent stores the next version of an entity's configuration as a hosted agent.
func (c *Case) AddHostedAgent(id shoal.EntityID, version int) storage.Agent {
	c.Helper()
	a := storage.Agent{
		HostedAgent: shoal.HostedAgent{ID: id, SessionID: c.Session, Version: version, Hash: Hostile, Config: RawJSON, CreatedAt: Time(version)},
		Name:        strings.ToUpper(string(id)), OnNewMessage: "enqueue", SettleMs: 1500, MaxSteps: 5,
	}
	c.Update(func(tx storage.Tx) error { return tx.PutHostedAgent(a) })
	return a
}

// HostedMembers returns the hosted agents in a space.
func HostedMembers(c *Case, space shoal.SpaceID) []shoal.EntityID {
	c.Helper()
	return Read(c, func(tx storage.Tx) ([]shoal.EntityID, error) { return tx.HostedMembers(c.Session, space) })
}

// NewRun returns a queued run with the required fields only.
func (c *Case) NewRun(id shoal.RunID, agent shoal.EntityID, space shoal.SpaceID) storage.Run {
	r := storage.Run{Version: 1, Space: space, NotBefore: Time(0)}
	r.ID, r.SessionID, r.AgentID, r.Status, r.CreatedAt = id, c.Session, agent, shoal.RunQueued, Time(1)
	r.Trigger = shoal.Trigger{Type: shoal.SpaceMessageTrigger, SpaceID: space}
	r.PendingToolCalls, r.ActingFor = []shoal.PendingToolCall{}, []shoal.EntityID{}
	return r
}

// AddRuns stores runs in one transaction.
func (c *Case) AddRuns(all ...storage.Run) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		for _, r := range all {
			if err := tx.InsertRun(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// OwnRuns returns the ids of the runs that belong to the session of the case.
func OwnRuns(c *Case, all []storage.Run) []shoal.RunID {
	ids := []shoal.RunID{}
	for _, r := range all {
		if r.SessionID == c.Session {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// AddComposite stores a composite message of a run.
func (c *Case) AddComposite(space shoal.SpaceID, run shoal.RunID) shoal.Message {
	c.Helper()
	m := c.NewMessage(space, "bot", "")
	m.RunID, m.Status, m.Parts = &run, shoal.MessageStreaming, []shoal.Part{}
	return Do(c, func(tx storage.Tx) (shoal.Message, error) {
		s, err := tx.LockSpace(c.Session, space)
		if err != nil {
			return m, err
		}
		m.Seq = s.LastSeq + 1
		return m, tx.InsertMessage(m, storage.PostKey{})
	})
}

// FullRun returns a run in which every field is set.
func (c *Case) FullRun() storage.Run {
	return storage.Run{
		Run: shoal.Run{
			ID: "run_full", SessionID: c.Session, AgentID: "bot", Status: shoal.RunFailed,
			Trigger: shoal.Trigger{
				Type: shoal.ServiceTrigger, SpaceID: "shop", SpaceName: Hostile, MessageID: "msg_1", MessageContent: Hostile, SenderEntityID: "ann",
				SenderName: Hostile, SenderType: shoal.Human, MentionReason: Hostile, PlanID: "pln_1", PlanName: Hostile, ScheduledAt: Time(5),
				Instruction: Hostile, ServiceName: Hostile, Payload: []byte(`{"a":"<b>&","n":1.50}`),
			},
			CauseRoot: Hostile, Depth: 3, ActingFor: []shoal.EntityID{"ann", Hostile}, Steps: 4, MaxSteps: 5,
			LimitReached: "max_steps", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
			Usage: shoal.Usage{
				InputTokens: 1 << 50, CachedInputTokens: 2, OutputTokens: 3, ReasoningTokens: 4, Cost: 0.1 + 0.2, Currency: shoal.Currency,
			},
			PendingToolCalls: []shoal.PendingToolCall{},
			Error:            &shoal.RunError{Code: "timeout", Message: Hostile, Retryable: true},
			CreatedAt:        Time(1), StartedAt: Ptr(Time(2)), EndedAt: Ptr(Time(3)),
			Activity: &shoal.RunActivity{At: Time(2000), Kind: shoal.ActivityTool}, StalledSince: Ptr(Time(2)),
		},
		Version: 7, Space: "shop", Requester: Hostile, Linked: true, Awake: false, NotBefore: Time(4), Cancel: true,
		Owner: "one", LeaseUntil: Ptr(Time(6)), Generation: 8, Conversation: "bot/shop", Began: 9, Ended: 10, Remote: true, Turn: RawJSON, Revision: 11,
		TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
}

// NewPlan returns a plan of bot with the required fields only.
func NewPlan(id shoal.PlanID) shoal.Plan {
	return shoal.Plan{ID: id, AgentID: "bot", TimeZone: "UTC", Status: shoal.PlanPending, CreatedAt: Time(1), ActingFor: []shoal.EntityID{}}
}

// AddPlans stores plans in one transaction.
func (c *Case) AddPlans(all ...shoal.Plan) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		for _, p := range all {
			if err := tx.InsertPlan(c.Session, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// AddRenderer stores the next version of a renderer and returns it.
func (c *Case) AddRenderer(name shoal.RendererName, page []byte) shoal.Renderer {
	c.Helper()
	r := shoal.Renderer{Name: name, Version: 99, Hash: Hostile, Size: int64(len(page)), CreatedAt: Time(len(page))}
	r.Version = Do(c, func(tx storage.Tx) (int, error) { return tx.PutRenderer(c.Session, r, page) })
	return r
}
