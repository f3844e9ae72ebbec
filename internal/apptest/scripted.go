package apptest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// patience ends a test that has failed anyway.
const patience = 40 * time.Second

// admin may do everything.
var admin = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test", EntityID: shoal.Operator}

// PersonKey returns a key of a person for a front end. The person is created if it is new.
func PersonKey(t testing.TB, s *app.Server, id shoal.EntityID, door shoal.Door) string {
	t.Helper()
	n := shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id, Door: door}
	secret := auth.NewSecret()
	if _, _, err := s.Hub.Keys.Create(t.Context(), admin, n, auth.Hash(secret), ""); err != nil {
		t.Fatal(err)
	}
	return secret
}

// Script adds a hosted agent that plays a script of package agent/provider/script. tools are those of its
// configuration, as JSON.
func Script(t testing.TB, s *app.Server, id shoal.EntityID, tools, script string) {
	t.Helper()
	options, err := json.Marshal(map[string]string{"script": script})
	if err != nil {
		t.Fatal(err)
	}
	Host(t, s, id, fmt.Sprintf(`{"version":"1.0","agent":{"id":%q,"name":"Bot","system":"s"},"model":{"provider":"script","name":"m","providerOptions":%s},"tools":%s}`, id, options, tools))
}

// Host adds a hosted agent with a configuration.
func Host(t testing.TB, s *app.Server, id shoal.EntityID, config string) {
	t.Helper()
	decoded, err := agentconfig.Decode([]byte(config), agentconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stored := storage.Agent{Name: "Bot", OnNewMessage: "parallel", MaxSteps: 5}
	stored.ID, stored.SessionID, stored.Hash, stored.Config = id, shoal.DefaultSession, decoded.Hash(), decoded.Canonical()
	if _, _, err := s.Hub.Agents.Put(t.Context(), admin, stored); err != nil {
		t.Fatal(err)
	}
}

// Texts returns the texts of the messages that an entity has in a space.
func Texts(t testing.TB, s *app.Server, space shoal.SpaceID, by shoal.EntityID) (texts []string) {
	t.Helper()
	all, err := s.Hub.Messages.Read(t.Context(), admin, shoal.DefaultSession, space, storage.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.EntityID == by {
			texts = append(texts, m.Text())
		}
	}
	return texts
}

// NextPending returns the next action that waits for somebody. follower must have begun before it does.
func NextPending(t testing.TB, follower *feed.Follower) shoal.PendingAction {
	t.Helper()
	for {
		events, err := follower.Next(t.Context(), time.Now().Add(patience))
		if err != nil || len(events) == 0 {
			t.Fatalf("nothing waits: %v", err)
		}
		for _, e := range events {
			var d shoal.PendingData
			if e.Type == shoal.EventPendingOpened && json.Unmarshal(e.Data, &d) == nil {
				return d.PendingAction
			}
		}
	}
}
