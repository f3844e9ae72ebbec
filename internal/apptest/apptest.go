// Package apptest runs a real server inside a test.
//
//	s := apptest.Start(t)
//	key := s.Agent("scout") // a member of the space welcome
//	s.Operator.Post(ctx, app.Welcome, draft)
//
// The server is the one that `shoal serve` runs, on a free port, with its data in a
// directory of the test, and ends with the test. It has no API key of a model vendor. Its
// default agent, which would answer every message, is not a member of the space welcome.
package apptest

import (
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
)

// Server is a running server.
type Server struct {
	URL string
	// Admin is a client with the server's admin key, acting as the operator; Operator
	// is its session default.
	Admin    *client.Client
	Operator *client.Session

	t *testing.T
}

// Start runs a server until the test ends.
func Start(t *testing.T) *Server {
	t.Helper()
	running, key := Run(t, app.Config{})
	admin, err := client.New(client.Options{URL: running.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: running.URL(), Admin: admin, Operator: admin.Session(shoal.DefaultSession), t: t}
	if _, err := s.Operator.RemoveMember(t.Context(), app.Welcome, app.ShopAgent); err != nil {
		t.Fatal(err)
	}
	return s
}

// Run runs a server with config until the test ends, and returns it with its admin key.
// Fields that config does not set are as in Start: a free port, a directory of the test, no
// API key of a model vendor. Waits are detached from their HTTP handlers immediately.
func Run(t *testing.T, config app.Config) (running *app.Server, key string) {
	t.Helper()
	if config.Addr == "" {
		config.Addr = "127.0.0.1:0"
	}
	if config.Data == "" {
		config.Data = t.TempDir()
	}
	if config.DetachAfter == 0 {
		config.DetachAfter = time.Millisecond // so that short waits are detached, too
	}
	if config.Keys == nil {
		config.Keys = func(string) string { return "" }
	}
	running, err := app.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	if key, err = app.ReadAdminKey(config.Data); err != nil {
		t.Fatal(err)
	}
	return running, key
}

// Agent creates an agent that is a member of the space welcome, and returns its key.
func (s *Server) Agent(id shoal.EntityID) string {
	s.t.Helper()
	key := Key(s.t, s.Admin, id)
	if _, err := s.Operator.AddMember(s.t.Context(), app.Welcome, id); err != nil {
		s.t.Fatal(err)
	}
	return key
}

// Key creates a key for an entity, and the entity if it does not exist, and returns the key.
func Key(t *testing.T, admin *client.Client, id shoal.EntityID) string {
	t.Helper()
	key, err := admin.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleEntity, EntityID: id})
	if err != nil {
		t.Fatal(err)
	}
	return *key.Secret
}

// Ask posts text to the space welcome, mentioning an entity, and returns the text of the
// next message that mentions the operator.
func (s *Server) Ask(id shoal.EntityID, text string) string {
	s.t.Helper()
	ctx := s.t.Context()
	_, err := s.Operator.Post(ctx, app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{id}})
	if err != nil {
		s.t.Fatal(err)
	}
	batch, err := s.Operator.Inbox(shoal.Operator, client.InboxOptions{Kind: shoal.WaitMentions}).Next(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return batch.Items[0].Messages[0].Text()
}
