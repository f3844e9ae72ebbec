package spacetool_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/calendar"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

var update = flag.Bool("update", false, "write the golden files anew")

var root = shoal.Principal{KeyID: "root", Role: shoal.RoleAdmin}

// world is a hub on a store of its own, with two people, a space and a hosted
// agent in it.
type world struct {
	t   *testing.T
	hub *hub.Hub
	now shoal.Time
}

// configs are the agents that a world can have.
var configs = map[shoal.EntityID]string{
	"shop-agent": `version: "1.0"
agent: {id: shop-agent, name: Shop Agent, description: sells laptops, system: "You sell laptops.\nBe brief.", instructions: Never promise a discount.}
model: {provider: script, name: x}
`,
	"stock-agent": `version: "1.0"
agent: {id: stock-agent, system: You know what is in stock.}
model: {provider: script, name: x}
`,
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: moment(t, "2026-11-20T10:00:00Z")}
	w.hub = hub.New(hub.Options{Store: shoaltest.OpenSQLite(t), Bus: localbus.New(), NextTime: calendar.NextTime})
	w.must(w.hub.Start(t.Context()))
	t.Cleanup(w.hub.Stop)
	for id, name := range map[shoal.EntityID]string{"ann": "Ann", "bob": "Bob"} {
		_, err := w.hub.Entities.Create(t.Context(), root, shoal.DefaultSession, shoal.NewEntity{ID: id, Kind: shoal.Human, Name: name}, "")
		w.must(err)
	}
	w.host("shop-agent")
	w.space("shop", "Shopping", "ann", "shop-agent")
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func config(t *testing.T, text string) *agentconfig.Config {
	t.Helper()
	c, err := agentconfig.Decode([]byte(text), agentconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) host(id shoal.EntityID) {
	w.t.Helper()
	c := config(w.t, configs[id])
	_, _, err := w.hub.Agents.Put(w.t.Context(), root, storage.Agent{
		HostedAgent: shoal.HostedAgent{ID: id, SessionID: shoal.DefaultSession, Hash: string(id), Config: json.RawMessage(`{}`)},
		Name:        c.Agent.Name, Description: c.Agent.Description, OnNewMessage: "parallel", MaxSteps: 5,
	})
	w.must(err)
}

func (w *world) space(id shoal.SpaceID, name string, members ...shoal.EntityID) {
	w.t.Helper()
	_, err := w.hub.Spaces.Create(w.t.Context(), as(members[0]), shoal.DefaultSession, shoal.NewSpace{ID: id, Name: name, Members: members[1:]}, "")
	w.must(err)
}

func as(id shoal.EntityID) shoal.Principal {
	return shoal.Principal{KeyID: shoal.KeyID("key_" + id), Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id}
}

// post says something without starting anybody.
func (w *world) post(who shoal.EntityID, space shoal.SpaceID, text string) shoal.Message {
	w.t.Helper()
	no := false
	m, err := w.hub.Messages.Post(w.t.Context(), as(who), shoal.DefaultSession, space, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, TriggerAgents: &no}, "")
	w.must(err)
	return m
}

// ask says something that starts a run, and claims that run.
func (w *world) ask(who shoal.EntityID, space shoal.SpaceID, text string, mentions ...shoal.EntityID) *spacetool.Run {
	w.t.Helper()
	_, err := w.hub.Messages.Post(w.t.Context(), as(who), shoal.DefaultSession, space, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: mentions}, "")
	w.must(err)
	return w.claim()
}

// claim claims the one run that can be claimed, and begins it.
func (w *world) claim() *spacetool.Run {
	w.t.Helper()
	claimed, err := w.hub.Work.Claim(w.t.Context(), "test", 10, time.Minute)
	w.must(err)
	if len(claimed) != 1 {
		w.t.Fatalf("%d runs can be claimed, want 1", len(claimed))
	}
	r := &spacetool.Run{
		Hub: w.hub, Run: claimed[0], Lease: runs.Lease{Session: claimed[0].SessionID, Run: claimed[0].ID, Generation: claimed[0].Generation},
		Config: config(w.t, configs[claimed[0].AgentID]), Now: func() shoal.Time { return w.now },
	}
	w.write(r, func(c *runs.RunChange) error {
		conv, err := c.Conversation(r.Run.SessionID, r.Run.Conversation)
		if shoal.KindOf(err) == shoal.NotFound {
			conv, err = storage.Conversation{Session: r.Run.SessionID, ID: r.Run.Conversation, Agent: r.Run.AgentID}, nil
		}
		if err != nil {
			return err
		}
		conv.Clock++
		c.Run.Began, c.Run.Turn = conv.Clock, json.RawMessage(`{}`)
		r.Run.Began = conv.Clock
		if err := c.PutConversation(conv); err != nil {
			return err
		}
		return c.Start()
	})
	return r
}

// end ends a run, which thereby enters its conversation.
func (w *world) end(r *spacetool.Run) {
	w.t.Helper()
	w.write(r, func(c *runs.RunChange) error {
		conv, err := c.Conversation(r.Run.SessionID, r.Run.Conversation)
		if err != nil {
			return err
		}
		conv.Clock++
		c.Run.Ended = conv.Clock
		if err := c.PutConversation(conv); err != nil {
			return err
		}
		return c.Finish(shoal.RunCompleted, nil)
	})
}

func (w *world) write(r *spacetool.Run, fn func(*runs.RunChange) error) {
	w.t.Helper()
	w.must(w.hub.Work.Write(w.t.Context(), r.Lease, fn))
}

// say has a run say something in shop, as the executor does.
func (w *world) say(r *spacetool.Run, parts ...shoal.Part) {
	w.t.Helper()
	w.write(r, func(c *runs.RunChange) error {
		m, err := c.OpenMessage(shoal.Message{ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SpaceID: "shop"}, nil)
		if err != nil {
			return err
		}
		m.Parts, m.Status = parts, shoal.MessageCompleted
		return c.CloseMessage(m, nil)
	})
}

// call calls a tool of the run and returns its text, "failed: " before it if the
// call failed.
func (w *world) call(r *spacetool.Run, name, arguments string) string {
	w.t.Helper()
	out, err := w.output(r, name, arguments)
	w.must(err)
	if out.Failed {
		return "failed: " + out.Text
	}
	return out.Text
}

// try is call for a tool whose call is an error.
func (w *world) try(r *spacetool.Run, name, arguments string) error {
	w.t.Helper()
	_, err := w.output(r, name, arguments)
	return err
}

func (w *world) output(r *spacetool.Run, name, arguments string) (agent.Output, error) {
	w.t.Helper()
	tools, err := spacetool.Tools(w.t.Context(), r)
	w.must(err)
	for _, t := range tools {
		if t.Spec().Name == name {
			return t.Call(w.t.Context(), agent.ToolCall{ID: "call-1", Name: name, Arguments: arguments})
		}
	}
	w.t.Fatalf("the run has no tool %s", name)
	return agent.Output{}, nil
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs; with -update it is written anew. It is now:\n%s", path, text)
	}
}

// named replaces ids that are made up anew in each test.
func named(text string, names ...string) string { return strings.NewReplacer(names...).Replace(text) }

func moment(t *testing.T, text string) shoal.Time {
	t.Helper()
	var at shoal.Time
	if err := at.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return at
}
