// Package apptest runs a real server inside a test.
//
//	s := apptest.Start(t)
//	key := s.Agent("scout") // a member of the space welcome
//	s.Operator.Post(ctx, app.Welcome, draft)
//
// The server is the one that `shoal serve` runs, on a free port, with its data
// in a directory of the test, and ends with the test. It has no key of a model
// vendor, and its first agent, which would answer whoever speaks, is not in the
// space welcome.
package apptest

import (
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
)

// Server is a running server.
type Server struct {
	URL string
	// Admin calls as the server's admin, who acts as the operator; Operator is
	// its session default.
	Admin    *client.Client
	Operator *client.Session

	t *testing.T
}

// Start runs a server until the test ends.
func Start(t *testing.T) *Server {
	t.Helper()
	data := t.TempDir()
	running, err := app.Start(t.Context(), app.Config{Data: data, Addr: "127.0.0.1:0", Keys: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	key, err := app.ReadAdminKey(data)
	if err != nil {
		t.Fatal(err)
	}
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

// Agent makes an agent that is a member of the space welcome, and returns its
// key.
func (s *Server) Agent(id shoal.EntityID) string {
	s.t.Helper()
	key, err := s.Admin.CreateKey(s.t.Context(), shoal.NewKey{Role: shoal.RoleEntity, EntityID: id})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.Operator.AddMember(s.t.Context(), app.Welcome, id); err != nil {
		s.t.Fatal(err)
	}
	return *key.Secret
}

// Ask posts text to the space welcome, mentioning an entity, and returns what is
// said next that mentions the operator.
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
