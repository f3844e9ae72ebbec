package aisdk_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// The first agent's story: two cards wait for the person, an approval in another space keeps the stream open, and
// the rest follows in the same message.
func TestStory(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	follower, err := s.Hub.Events.Follow(t.Context(), admin, feed.FollowRequest{Session: shoal.DefaultSession, Space: app.Purchasing})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	c := s.chat(apptest.PersonKey(t, s.Server, shoal.Operator, shoal.DoorAISDK), string(app.Welcome), nil)
	got := c.say("I need a laptop")
	var outputs []args
	for _, p := range got.Messages[len(got.Messages)-1].Parts {
		if p.Type == "tool-showProductCard" && p.State == "input-available" {
			outputs = append(outputs, args{"tool": "showProductCard", "toolCallId": p.ToolCallID, "output": args{"chosen": len(outputs) == 0}})
		}
	}
	if len(outputs) != 2 || got.Finish != "tool-calls" {
		t.Fatalf("the first answer ends with %q and shows\n%s", got.Finish, got.seen())
	}
	c.Send(args{"outputs": outputs})
	action, yes := apptest.NextPending(t, follower), true
	if _, err := s.Hub.Pending.Answer(t.Context(), admin, shoal.DefaultSession, action.ID, shoal.PendingAnswer{Approved: &yes}); err != nil {
		t.Fatal(err)
	}
	c.Next(patience, &got)
	if last := got.find(t, "text"); !strings.HasPrefix(last.Text, "It was approved") || got.Status != "ready" || len(got.Messages) != 2 {
		t.Errorf("the client is %s (%s) and shows\n%s", got.Status, got.Error, got.seen())
	}
	stored := s.stored(app.Welcome, app.ShopAgent)
	for _, p := range got.Messages[1].Parts {
		if p.Type == "text" && !strings.Contains(strings.Join(stored, "\n\n"), p.Text) {
			t.Errorf("the client has %q, stored is %q", p.Text, stored)
		}
	}
}
