package agui_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// server is a whole server as its first start leaves it, with the scripted agent.
type server struct {
	*app.Server
	t   *testing.T
	key string
}

var person = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test", EntityID: shoal.Operator}

func serve(t *testing.T) *server {
	t.Helper()
	s, key := apptest.Run(t, app.Config{})
	return &server{s, t, key}
}

// client starts the official client on a space, as an entity.
func (s *server) client(space, entity string) *client {
	s.t.Helper()
	headers, err := json.Marshal(map[string]string{"Authorization": "Bearer " + s.key, "X-Shoal-Entity": entity})
	if err != nil {
		s.t.Fatal(err)
	}
	return connect(s.t, s.URL()+"/agui/default/"+space, string(headers))
}

// host adds an agent that plays a script to a new space.
func (s *server) host(space shoal.SpaceID, tools, script string) {
	s.t.Helper()
	ctx, agent := s.t.Context(), shoal.EntityID("bot-"+string(space))
	apptest.Script(s.t, s.Server, agent, tools, script)
	if _, err := s.Hub.Spaces.Create(ctx, person, shoal.DefaultSession, shoal.NewSpace{ID: space, Name: string(space), Members: []shoal.EntityID{agent}}, ""); err != nil {
		s.t.Fatal(err)
	}
}

// approveAll permits whatever is asked for in a space.
func (s *server) approveAll(space shoal.SpaceID) {
	s.t.Helper()
	ctx := s.t.Context()
	follower, err := s.Hub.Events.Follow(ctx, person, feed.FollowRequest{Session: shoal.DefaultSession, Space: space})
	if err != nil {
		s.t.Fatal(err)
	}
	go func() { // ends with the test
		defer follower.Close()
		yes := true
		for {
			events, err := follower.Next(ctx, time.Now().Add(patience))
			if err != nil {
				return
			}
			for _, e := range events {
				var d shoal.PendingData
				if e.Type != shoal.EventPendingOpened || json.Unmarshal(e.Data, &d) != nil {
					continue
				}
				if _, err := s.Hub.Pending.Answer(ctx, person, shoal.DefaultSession, d.PendingAction.ID, shoal.PendingAnswer{Approved: &yes}); err != nil {
					s.t.Errorf("nobody can approve %s: %v", d.PendingAction.ToolName, err)
				}
			}
		}
	}()
}

// ids are made anew in every run.
var ids = regexp.MustCompile(`run_[A-Za-z0-9]+/`)

// hosted compares what a person sees, with the ids of runs left out.
func (got *report) hosted(t *testing.T, outcome, want string) {
	t.Helper()
	if got.Outcome != outcome {
		t.Errorf("the run ended as %q (%s), not %q; its events were %v", got.Outcome, got.Error, outcome, got.Events)
	}
	if seen, want := ids.ReplaceAllString(got.seen(), ""), strings.TrimLeft(want, "\n"); seen != want {
		t.Errorf("the person sees\n%sbut should see\n%s", seen, want)
	}
}

// answers are tool messages to all pending calls.
func (got *report) answers(t *testing.T, results ...string) order {
	t.Helper()
	if len(got.Pending) != len(results) {
		t.Fatalf("%q is pending", got.Pending)
	}
	var o order
	for i, call := range got.Pending {
		o.Add = append(o.Add, message{ID: fmt.Sprintf("%s-%d", call, i), Role: "tool", ToolCallID: call, Content: results[i]})
	}
	return o
}

// The first agent's story: two cards wait for the person, an approval in another
// space keeps the stream open, and the rest follows.
func TestHostedStory(t *testing.T) {
	t.Parallel()
	s := serve(t)
	c := s.client("welcome", "operator")
	got := c.say("u1", "I need a laptop", nil)
	if got.Outcome != "success" || len(got.Pending) != 2 || len(got.Messages) != 2 || len(got.Messages[1].ToolCalls) != 2 ||
		!strings.HasPrefix(got.Messages[1].Content, "I am a script") {
		t.Fatalf("the first run ends as %s %s, waits for %q, and shows\n%s", got.Outcome, got.Error, got.Pending, got.seen())
	}
	s.approveAll(app.Purchasing)
	got = c.run(got.answers(t, `{"chosen":true}`, `{"chosen":false}`))
	last := got.Messages[len(got.Messages)-1]
	if got.Outcome != "success" || len(got.Pending) != 0 || !strings.HasPrefix(last.Content, "It was approved") {
		t.Errorf("the second run ends as %s %s, waits for %q, and shows\n%s", got.Outcome, got.Error, got.Pending, got.seen())
	}
	got = c.say("u2", "hello", nil)
	if last := got.Messages[len(got.Messages)-1]; got.Outcome != "success" || !strings.Contains(last.Content, "one story only") {
		t.Errorf("the third run ends as %s %s and shows\n%s", got.Outcome, got.Error, got.seen())
	}
	if posted := s.said(app.Welcome); posted != "I need a laptop\nhello\n" {
		t.Errorf("posted is\n%s", posted)
	}
}

// said writes what the operator has posted.
func (s *server) said(space shoal.SpaceID) (text string) {
	s.t.Helper()
	for _, posted := range apptest.Texts(s.t, s.Server, space, shoal.Operator) {
		text += posted + "\n"
	}
	return text
}

const (
	careful = `[{"name":"pay","execution":{"mode":"pass-through"},"displayTool":true,"requiresPermission":true,"inputSchema":{"type":"object","properties":{"sum":{"type":"number"}}}}]`
	paying  = `
call sendSpaceMessage {"spaceId":"%[1]s","text":"I pay."}
call pay {"targetSpaceId":"%[1]s","sum":5}
---
when pay ok
call sendSpaceMessage {"spaceId":"%[1]s","text":"Paid."}
else
call sendSpaceMessage {"spaceId":"%[1]s","text":"Not paid."}
---
say over`
)

// A permission that the space shows is an interrupt.
func TestHostedPermission(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, c := range []struct {
		space   shoal.SpaceID
		payload map[string]any
		status  string
		want    string
	}{
		{"allowed", map[string]any{"approved": true}, "resolved", "tool {\"success\":true,\"sum\":5}\nassistant Paid.\n"},
		{"denied", map[string]any{"approved": false, "reason": "Not today."}, "resolved", "tool Permission denied by operator. The call was not executed. Reason: Not today. {\"status\":\"denied\"}\nassistant Not paid.\n"},
		{"abandoned", nil, "cancelled", "tool Permission denied by operator. The call was not executed. Reason: Nobody wanted to decide. {\"status\":\"denied\"}\nassistant Not paid.\n"},
	} {
		t.Run(string(c.space), func(t *testing.T) {
			s.host(c.space, careful, fmt.Sprintf(paying, c.space))
			client := s.client(string(c.space), "operator")
			got := client.say("u1", "Pay", nil)
			begin := "user Pay\nassistant I pay. pay{\"sum\":5}\n"
			got.hosted(t, "interrupt", begin)
			if len(got.Interrupts) != 1 || got.Interrupts[0].Reason != "tool_call" || got.Interrupts[0].ToolCallID != got.Messages[1].ToolCalls[0].ID {
				t.Fatalf("the run is interrupted by %+v", got.Interrupts)
			}
			entry := map[string]any{"interruptId": got.Interrupts[0].ID, "status": c.status}
			if c.payload != nil {
				entry["payload"] = c.payload
			}
			got = client.run(resume(entry))
			got.hosted(t, "success", begin+c.want)
		})
	}
}

// A client that has lost its connection sends the same run again and gets what it
// missed, once; nothing is posted twice, and the agent did not stop.
func TestHostedRunOutlivesTheConnection(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("slow", "[]", "pause 20ms\ncall sendSpaceMessage {\"spaceId\":\"slow\",\"text\":\"One two three four five six seven eight nine ten.\"}\n---\nsay over")
	c := s.client("slow", "operator")
	got := c.run(order{Add: []message{{ID: "u1", Role: "user", Content: "Count"}}, AbortOn: "TEXT_MESSAGE_CONTENT"})
	if len(got.Messages) > 2 {
		t.Errorf("before it went the client saw\n%s", got.seen())
	}
	again := s.client("slow", "operator") // only its own message is left
	got = again.say("u1", "Count", nil)
	want := "user Count\nassistant One two three four five six seven eight nine ten.\n"
	got.hosted(t, "success", want)
	if posted := s.said("slow"); posted != "Count\n" {
		t.Errorf("posted is\n%s", posted)
	}

	// One without any message gets the space.
	got = s.client("slow", "operator").run(order{})
	got.hosted(t, "success", want)
}

// Failures are reported in the protocol's own form.
func TestHostedRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t)
	if _, err := s.Hub.Spaces.Create(t.Context(), person, shoal.DefaultSession, shoal.NewSpace{ID: "empty", Name: "Empty"}, ""); err != nil {
		t.Fatal(err)
	}
	s.host("broken", "[]", "fail auth")
	for _, c := range []struct{ space, entity, want string }{
		{"empty", "operator", "not_found: The message is in the space, but no hosted agent acts on it."},
		{"broken", "operator", "provider_auth: "},
		{"nowhere", "operator", "HTTP 404: "},
		{"empty", "shop-agent", "HTTP 4"},
	} {
		got := s.client(c.space, c.entity).say("u1", "Hi", nil)
		if !strings.HasPrefix(got.Error, c.want) {
			t.Errorf("%s in %s: %q, want %q; %v", c.entity, c.space, got.Error, c.want, got.Events)
		}
	}
	got := connect(t, s.URL()+"/agui/default/welcome").say("u1", "Hi", nil)
	if !strings.HasPrefix(got.Error, "HTTP 401") {
		t.Errorf("without a key: %q", got.Error)
	}
}

// What a model call showed that is made again disappears from the client; what the
// last one showed stays, once.
func TestHostedRetry(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("flaky", careful, "call sendSpaceMessage {\"spaceId\":\"flaky\",\"text\":\"I pay.\"}\ncall pay {\"targetSpaceId\":\"flaky\",\"sum\":5}\nfail overloaded 1ms")
	got := s.client("flaky", "operator").say("u1", "Pay", nil)
	got.hosted(t, "error", "user Pay\nassistant I pay. pay{\"sum\":5}\ntool Error: canceled before it could run. {\"status\":\"canceled\"}\n")
	if n := slices.Index(got.Events, "MESSAGES_SNAPSHOT"); n < 0 || !strings.HasPrefix(got.Error, "provider_unavailable") {
		t.Errorf("the run fails with %q; its events are %v", got.Error, got.Events)
	}
}

// A question that the agent asks is an interrupt, too.
func TestHostedQuestion(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("ask", "[]", `
call ask_user {"question":"Which city?","options":["Kiel","Rome"]}
---
when ask_user ok
call sendSpaceMessage {"spaceId":"ask","text":"Thank you."}
---
say over`)
	c := s.client("ask", "operator")
	got := c.say("u1", "Rain?", nil)
	begin := "user Rain?\nassistant ask_user{\"question\":\"Which city?\",\"options\":[\"Kiel\",\"Rome\"]}\n"
	got.hosted(t, "interrupt", begin)
	if len(got.Interrupts) != 1 || got.Interrupts[0].Reason != "input_required" || got.Interrupts[0].Message != "Which city?" {
		t.Fatalf("the run is interrupted by %+v", got.Interrupts)
	}
	got = c.run(resume(map[string]any{"interruptId": got.Interrupts[0].ID, "status": "resolved", "payload": map[string]any{"answer": "Kiel"}}))
	got.hosted(t, "success", begin+"tool Kiel\nassistant Thank you.\n")
}

// The agents that an agent mentions speak in the same run of the protocol, and the
// client may mention one itself.
func TestHostedMentions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("pair", "[]", `
call sendSpaceMessage {"spaceId":"pair","text":"Ask the other one.","mention":"bot-aside"}
---
say over`)
	s.host("aside", "[]", `
call sendSpaceMessage {"spaceId":"pair","text":"Here I am."}
---
say over`)
	admin := shoal.EntityID("bot-pair")
	if _, err := s.Hub.Spaces.Update(t.Context(), person, shoal.DefaultSession, "pair", shoal.SpaceChange{AdminAgentID: &admin}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Hub.Spaces.Join(t.Context(), person, shoal.DefaultSession, "pair", "bot-aside"); err != nil {
		t.Fatal(err)
	}
	c := s.client("pair", "operator")
	got := c.say("u1", "Who is there?", nil)
	want := "user Who is there?\nassistant Ask the other one.\nassistant Here I am.\n"
	got.hosted(t, "success", want)
	got = c.say("u2", "And you?", map[string]any{"forwardedProps": map[string]any{"mentions": []string{"bot-aside"}}})
	got.hosted(t, "success", want+"user And you?\nassistant Here I am.\n")
}

// An agent that waits for a reply of the person gives the floor back: the run of the protocol ends,
// and the next message is the reply.
func TestHostedReply(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("reply", "[]", `
call sendSpaceMessage {"spaceId":"reply","text":"Which city?","wait":{"for":[{"type":"human"}]}}
---
call sendSpaceMessage {"spaceId":"reply","text":"It rains there."}
---
say over`)
	c := s.client("reply", "operator")
	got := c.say("u1", "Rain?", nil)
	begin := "user Rain?\nassistant Which city?\n"
	got.hosted(t, "success", begin)
	got = c.say("u2", "Kiel", nil)
	got.hosted(t, "success", begin+"user Kiel\nassistant It rains there.\n")
}
