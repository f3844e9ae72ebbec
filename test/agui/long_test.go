package agui_test

import (
	"fmt"
	"strings"
	"testing"
)

// A thread goes on when its history, which the client sends each time, is larger than a body may be: the server takes
// what is new, and shows nothing twice. What is new has the size of a body at most.
func TestHostedLongThread(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("studio", "[]", fmt.Sprintf("call sendSpaceMessage {\"spaceId\":\"%[1]s\",\"text\":\"Let me see.\"}\n---"+painter, "studio"))
	c := s.client("studio", "operator")
	app := painting("white", nil)
	var old []message
	for i := range 30 {
		old = append(old, message{ID: fmt.Sprint("old", i), Role: "assistant", Content: strings.Repeat("größer 🐟 ", 4000)})
	}
	got := c.run(order{Add: append(old, message{ID: "u1", Role: "user", Content: "Paint it."}), Run: app})
	begin := "user Paint it.\nassistant Let me see.\nassistant paint{\"color\":\"red\"}\n"
	tail := func() *report {
		t.Helper()
		if len(got.Messages) < len(old) || got.Messages[0].Content != old[0].Content {
			t.Fatalf("of its history the client has %d messages", len(got.Messages))
		}
		return &report{Messages: got.Messages[len(old):], Outcome: got.Outcome, Error: got.Error, Events: got.Events}
	}
	tail().hosted(t, "success", begin)

	// More history than the server takes follows what it knows of the run.
	middle := make([]message, len(old))
	for i := range middle {
		middle[i] = message{ID: fmt.Sprint("middle", i), Role: "assistant", Content: old[i].Content}
	}
	next := got.answers(t, "done")
	next.Add, next.Run = append(middle, next.Add...), app
	got = c.run(next)
	seen := tail()
	seen.Messages = append(seen.Messages[:3:3], seen.Messages[3+len(middle):]...)
	seen.hosted(t, "success", begin+"tool done\nassistant Painted.\n")
	if posted := s.said("studio"); posted != "Paint it.\n" {
		t.Errorf("posted is\n%s", posted)
	}

	got = s.client("studio", "operator").say("u2", strings.Repeat("x", 2<<20), nil)
	if !strings.HasPrefix(got.Error, "HTTP 413") {
		t.Errorf("a message of 2 MiB is answered by %q", got.Error)
	}
}
