package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/calendar"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// The spaces that the first start creates, both with the operator and ShopAgent.
const (
	Welcome    shoal.SpaceID = "welcome"
	Purchasing shoal.SpaceID = "purchasing"
)

// local is the principal of the owner of the data directory.
var local = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "local"}

// first ensures that the admin key exists in the data directory. On the very first start
// it also creates the operator, an agent that answers, and their spaces. It does not
// restore what was deleted.
func (s *Server) first(ctx context.Context) error {
	if err := s.adminKey(ctx); err != nil {
		return err
	}
	if err := s.firstSession(ctx); err != nil {
		return err
	}
	return s.operatorKey(ctx)
}

// firstSession creates the operator, the agent and their spaces, unless an operator
// exists or was deleted.
func (s *Server) firstSession(ctx context.Context) error {
	_, err := s.Hub.Entities.Get(ctx, local, shoal.DefaultSession, shoal.Operator)
	if err == nil {
		return s.followKeys(ctx)
	}
	if !errors.Is(err, shoal.NotFound) {
		return err
	}
	_, err = s.Hub.Entities.Create(ctx, local, shoal.DefaultSession, shoal.NewEntity{
		ID: shoal.Operator, Kind: shoal.Human, SessionRole: shoal.SessionOwner, Name: "Operator", Description: "the person who runs this server",
	}, "")
	if errors.Is(err, shoal.AlreadyExists) {
		return s.followKeys(ctx) // a deleted operator is not created again
	}
	if err != nil {
		return err
	}
	operator, agent := local, ShopAgent
	operator.EntityID = shoal.Operator
	if err := s.host(ctx, present(s.config.Keys)); err != nil {
		return err
	}
	for _, space := range []shoal.NewSpace{{ID: Welcome, Name: "Welcome"}, {ID: Purchasing, Name: "Purchasing"}} {
		space.Members, space.AdminAgentID = []shoal.EntityID{agent}, &agent
		if _, err := s.Hub.Spaces.Create(ctx, operator, shoal.DefaultSession, space, ""); err != nil {
			return err
		}
	}
	return s.postGreeting(ctx)
}

// greeting is the first message in Welcome, and prompts are the messages that it offers.
const greeting = "Hello! I'm **Shop Agent**, an example of an agent that lives in this server. " +
	"Write \"I need a laptop\": I show two, you choose one, and I ask for your approval before I order it."

var prompts = []string{"I need a laptop", "What can agents do here?", "How do I connect my own agent?"}

// postGreeting posts the first message of the agent in Welcome. It starts no run.
func (s *Server) postGreeting(ctx context.Context) error {
	agent, quiet := local, false
	agent.EntityID = ShopAgent
	offer, err := shoal.EncodeJSON(map[string]any{"prompts": prompts})
	if err != nil {
		return err
	}
	_, err = s.Hub.Messages.Post(ctx, agent, shoal.DefaultSession, Welcome, shoal.Draft{
		Parts: []shoal.Part{shoal.Text(greeting), {Type: shoal.DataPart, Name: shoal.PromptsPart, Data: offer}}, TriggerAgents: &quiet,
	}, "")
	return err
}

// CreateKey creates a key by opening the database of a data directory. It works with and
// without a running server.
func CreateKey(ctx context.Context, data, database string, n shoal.NewKey) (shoal.Key, error) {
	var made shoal.Key
	err := offline(ctx, data, database, func(h *hub.Hub) (err error) {
		made, err = auth.New(h, auth.Options{}).CreateKey(ctx, local, n, "")
		return err
	})
	return made, err
}

// offline opens the database of a data directory for fn, beside a server that may be
// running on it. What fn changed is durable when it returns nil.
func offline(ctx context.Context, data, database string, fn func(*hub.Hub) error) error {
	c, err := Config{Data: data, Database: database}.complete()
	if err != nil {
		return err
	}
	if _, err := os.Stat(data); err != nil {
		return &shoal.Error{Op: "app.offline", Kind: shoal.NotFound, Msg: fmt.Sprintf("Data directory %s not found.", data), Err: err}
	}
	store, err := sqlstore.Open(ctx, sqlstore.Options{URL: c.Database, Fatal: func(error) {}})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	h := hub.New(hub.Options{Store: store, Bus: localbus.New(), NextTime: calendar.NextTime})
	defer func() { _ = store.Close() }() // what fn changed is durable already
	defer h.Stop()
	if err := h.Start(ctx); err != nil {
		return err
	}
	return fn(h)
}
