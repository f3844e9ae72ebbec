package main

import (
	"context"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// The clerk shows a card, and books after a person has approved it.
func TestBooksAfterApproval(t *testing.T) {
	for _, approved := range []bool{true, false} {
		server := apptest.Start(t)
		if _, err := server.Operator.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(`{"version": "1.0", "agent": {}, "remote": {}}`)); err != nil {
			t.Fatal(err)
		}
		key := server.Agent("clerk")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- run(ctx, server.URL, key) }()

		draft := shoal.Draft{Parts: []shoal.Part{shoal.Text("Book me a trip to Oslo")}, Mentions: []shoal.EntityID{"clerk"}}
		asked, err := server.Operator.Post(t.Context(), app.Welcome, draft)
		if err != nil {
			t.Fatal(err)
		}
		answered := false
		for event, err := range server.Operator.Follow(t.Context(), client.FollowOptions{Run: asked.Runs[0].RunID}) {
			if err != nil {
				t.Fatal(err)
			}
			for a, err := range server.Operator.PendingActions(t.Context(), client.PendingOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				answered = true
				if _, err := server.Operator.AnswerPending(t.Context(), a.ID, shoal.PendingAnswer{Approved: &approved}); err != nil {
					t.Fatal(err)
				}
			}
			if event.Type == shoal.EventRunCompleted || event.Type == shoal.EventRunFailed {
				break
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		all, err := server.Operator.Messages(t.Context(), app.Welcome, client.MessagesOptions{After: asked.Seq})
		if err != nil || len(all) != 1 || !answered {
			t.Fatalf("%d messages, %v, asked for approval: %v", len(all), err, answered)
		}
		var parts []string
		for _, p := range all[0].Parts {
			parts = append(parts, string(p.Status)+" "+p.ToolName+p.Text+string(p.Result))
		}
		got := strings.Join(parts, "; ")
		want := `done (scripted) Here is a trip. ; done show"shown"; done TripCard; done book"booked: Oslo"; done (scripted) The tool says: booked: Oslo`
		if !approved {
			want = `done (scripted) Here is a trip. ; done show"shown"; done TripCard; denied book; done (scripted) The tool says: Permission denied`
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("approved %v: shown is\n%s\nwant\n%s", approved, got, want)
		}
	}
}
