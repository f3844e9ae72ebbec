// Package shop is a hub with one space for tests of transports: in the space shop, the person ann meets the hosted
// agent bot, whose runs the test executes itself.
//
//	s := shop.New(t, nil)
//	url := s.Serve(guard.Options{}, api.Handler())
//	… ann posts a message …
//	job := s.Claim()
//	job.Say("Hello.")
//	job.Finish(shoal.RunCompleted, nil)
package shop

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// Space is the id of the space.
const Space shoal.SpaceID = "shop"

// patience ends a test that has failed anyway.
const patience = 30 * time.Second

// Shop is a hub with the space. It stops with the test.
type Shop struct {
	Hub  *hub.Hub
	Auth *auth.Authenticator
	// Admin is a principal that may do everything, and Ann is the person.
	Admin, Ann shoal.Principal
	// Key is the key of ann.
	Key string

	t testing.TB
}

// New returns a shop. around, if it is not nil, returns the store that the hub uses in place of one on SQLite.
func New(t testing.TB, around func(storage.Store) storage.Store) *Shop {
	t.Helper()
	s := &Shop{
		t: t, Admin: shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test"},
		Ann: shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann", KeyID: "test"},
	}
	opened, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite://" + shoaltest.EmptyDatabase(t), Fatal: func(error) {}})
	s.must(err)
	store := storage.Store(opened)
	if around != nil {
		store = around(opened)
	}
	s.Hub = hub.New(hub.Options{Store: store, Bus: localbus.New()})
	s.must(s.Hub.Start(t.Context()))
	t.Cleanup(func() {
		s.Hub.Stop()
		s.must(opened.Close())
	})
	s.Auth = auth.New(s.Hub, auth.Options{})
	s.Key = s.NewKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human})
	bot := storage.Agent{Name: "Bot", OnNewMessage: "parallel", MaxSteps: 5}
	bot.ID, bot.SessionID, bot.Hash, bot.Config = "bot", shoal.DefaultSession, "1", json.RawMessage(`{}`)
	_, _, err = s.Hub.Agents.Put(t.Context(), s.Admin, bot)
	s.must(err)
	s.NewSpace(Space, "ann", "bot")
	return s
}

func (s *Shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// NewKey creates a key, in the default session unless it is an admin's.
func (s *Shop) NewKey(n shoal.NewKey) string {
	s.t.Helper()
	if n.SessionID == "" && n.Role != shoal.RoleAdmin {
		n.SessionID = shoal.DefaultSession
	}
	key, err := s.Auth.CreateKey(s.t.Context(), s.Admin, n, "")
	s.must(err)
	return *key.Secret
}

// NewSpace creates another space.
func (s *Shop) NewSpace(id shoal.SpaceID, members ...shoal.EntityID) {
	s.t.Helper()
	_, err := s.Hub.Spaces.Create(s.t.Context(), s.Admin, shoal.DefaultSession, shoal.NewSpace{ID: id, Name: string(id), Members: members}, "")
	s.must(err)
}

// Serve serves a handler with a guard, and returns its URL.
func (s *Shop) Serve(o guard.Options, handler http.Handler) string {
	s.t.Helper()
	g, err := guard.New(o)
	s.must(err)
	server := httptest.NewServer(g.Wrap(handler))
	s.t.Cleanup(func() {
		s.Hub.Stop() // ends the streams
		server.Close()
	})
	return server.URL
}

// Job is a run of bot that the test executes.
type Job struct {
	Lease runs.Lease

	shop *Shop
}

// Claim claims the next run, once there is one.
func (s *Shop) Claim() *Job {
	s.t.Helper()
	sub := s.Hub.Work.Subscribe()
	defer sub.Close()
	for deadline := time.After(patience); ; {
		claimed, err := s.Hub.Work.Claim(s.t.Context(), "test", 1, time.Minute)
		s.must(err)
		if len(claimed) == 1 {
			return &Job{runs.Lease{Session: claimed[0].SessionID, Run: claimed[0].ID, Generation: claimed[0].Generation}, s}
		}
		select {
		case <-sub.Ready():
			sub.Take()
		case <-deadline:
			s.t.Fatal("no run can be claimed")
		}
	}
}

// Write changes the run.
func (j *Job) Write(fn func(c *runs.RunChange) error) {
	j.shop.t.Helper()
	j.shop.must(j.shop.Hub.Work.Write(j.shop.t.Context(), j.Lease, fn))
}

// Say posts a text that is whole, in a message of its own.
func (j *Job) Say(text string) { j.shop.t.Helper(); j.Show(shoal.Text(text)) }

// Show posts a message with these parts, which get ids.
func (j *Job) Show(parts ...shoal.Part) {
	j.shop.t.Helper()
	j.Write(func(c *runs.RunChange) error {
		if err := c.Start(); err != nil {
			return err
		}
		m, err := c.OpenMessage(shoal.Message{SpaceID: Space}, nil)
		if err != nil {
			return err
		}
		for i := range parts {
			parts[i].ID = shoal.PartID(shoal.PrefixPart + strings.TrimPrefix(string(m.ID), shoal.PrefixMessage) + string(rune('a'+i)))
		}
		m.Parts, m.Status = parts, shoal.MessageCompleted
		return c.CloseMessage(m, nil)
	})
}

// CallClient calls a tool of ann's client, which no message shows, and suspends the run until it is answered.
func (j *Job) CallClient(id, tool, args string) {
	j.shop.t.Helper()
	j.Await(shoal.PendingAction{Kind: shoal.PendingClientTool, ToolCallID: id, ToolName: tool, Args: json.RawMessage(args)}, "ann")
}

// Ask asks the members of the space a question, and suspends the run until it is answered.
func (j *Job) Ask(question string) {
	j.shop.t.Helper()
	j.Await(shoal.PendingAction{Kind: shoal.PendingQuestion, ToolCallID: "c1", ToolName: "ask_user", Args: json.RawMessage(`{}`), Question: &question}, shoal.AnswerMembers)
}

// Await opens an action that no message shows and that by may answer, and suspends the run until that happens. It
// returns the id of the action.
func (j *Job) Await(p shoal.PendingAction, by shoal.EntityID) (id shoal.PendingID) {
	j.shop.t.Helper()
	space := Space
	p.RunID, p.AgentID, p.Status, p.SpaceID = j.Lease.Run, "bot", shoal.PendingOpen, &space
	j.Write(func(c *runs.RunChange) (err error) {
		if err := c.Start(); err != nil {
			return err
		}
		id, err = c.OpenPending(storage.Pending{
			PendingAction: p, Session: shoal.DefaultSession, Request: p.ToolCallID, Requester: "ann", Policy: storage.Policy{By: []shoal.EntityID{by}, Quorum: 1},
		})
		if err != nil {
			return err
		}
		return c.Suspend()
	})
	return id
}

// Finish ends the run.
func (j *Job) Finish(status shoal.RunStatus, failure *shoal.RunError) {
	j.shop.t.Helper()
	j.Write(func(c *runs.RunChange) error { return c.Finish(status, failure) })
}
