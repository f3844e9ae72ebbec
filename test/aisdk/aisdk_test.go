package aisdk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// server is a whole server as its first start leaves it.
type server struct {
	*app.Server
	t *testing.T
}

var admin = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test", EntityID: shoal.Operator}

func serve(t *testing.T, c app.Config) *server {
	t.Helper()
	s, _ := apptest.Run(t, c)
	return &server{s, t}
}

// key returns the key of a person, who is created.
func (s *server) key(id string) string {
	s.t.Helper()
	return apptest.PersonKey(s.t, s.Server, shoal.EntityID(id), shoal.DoorAISDK)
}

// host adds an agent that plays a script, in a space of the same name, where ann is, too.
func (s *server) host(id, tools, script string) {
	s.t.Helper()
	agent := shoal.EntityID("bot-" + id)
	apptest.Script(s.t, s.Server, agent, tools, strings.ReplaceAll(script, `"here"`, `"`+id+`"`))
	n := shoal.NewSpace{ID: shoal.SpaceID(id), Name: id, Members: []shoal.EntityID{agent, "ann"}}
	if _, err := s.Hub.Spaces.Create(s.t.Context(), admin, shoal.DefaultSession, n, ""); err != nil {
		s.t.Fatal(err)
	}
}

// api is the address of a chat in a space.
func (s *server) api(space string) string { return s.URL() + "/ai-sdk/default/" + space }

// chat returns the official client with a key in a space.
func (s *server) chat(key, space string, body args) *client {
	s.t.Helper()
	c := start(s.t)
	c.as(s.api(space), key, body)
	return c
}

// stored returns the texts that an entity has in a space.
func (s *server) stored(space shoal.SpaceID, by shoal.EntityID) []string {
	s.t.Helper()
	return apptest.Texts(s.t, s.Server, space, by)
}

const tale = "Der Seebär 🐻‍❄️ said »Ahoi« to <b>all</b> of them."

// The text that the client has is the text that is stored, it comes while it is written, and only what is new
// is posted of the history that the client sends.
func TestChat(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("poet", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\""+tale+"\"}\n---\nsay over")
	c := start(t)
	for _, take := range []string{"messages", "message"} {
		t.Run(take, func(t *testing.T) {
			c.order(args{"as": args{"api": s.api("poet"), "key": ann}, "take": take})
			got := c.say("Write a story.")
			want := fmt.Sprintf("user %q\nassistant %q\n", "Write a story.", tale)
			got.shows(t, want)
			if got.Pieces < 3 || got.Finish != "stop" {
				t.Errorf("the text came in %d pieces and finished with %q", got.Pieces, got.Finish)
			}
			got = c.say("Another one.")
			want += fmt.Sprintf("user %q\nassistant %q\n", "Another one.", tale)
			got.shows(t, want)
		})
	}
	if posted := s.stored("poet", "ann"); !slices.Equal(posted, []string{"Write a story.", "Another one.", "Write a story.", "Another one."}) {
		t.Errorf("posted is %q", posted)
	}
	// A page that is loaded has the messages of the space, and nothing goes on.
	got := c.order(args{"history": true, "resume": true})
	if texts := strings.Count(got.seen(), "»Ahoi«"); texts != 4 || got.Status != "ready" {
		t.Errorf("the page is %s (%s) and shows\n%s", got.Status, got.Error, got.seen())
	}
}

const forecast = `
call weather {"city":"Kiel"}
---
when weather ok
call sendSpaceMessage {"spaceId":"here","text":"Take an umbrella."}
else
call sendSpaceMessage {"spaceId":"here","text":"I do not know."}
---
say over`

// withTools is a body with a tool of the client.
var withTools = args{"tools": args{"weather": args{
	"description": "Returns the weather.", "inputSchema": args{"type": "object", "properties": args{"city": args{"type": "string"}}},
}}, "temperature": 0.5}

// The client executes its own tools: the run goes on in the same message when it has the output.
func TestClientTool(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("guide", "[]", forecast)
	c := s.chat(ann, "guide", withTools)
	got := c.say("Rain?")
	got.shows(t, "user \"Rain?\"\nassistant weather({\"city\":\"Kiel\"}) input-available \n")
	if !slices.Equal(got.Calls, []string{"weather"}) || got.Finish != "tool-calls" || !slices.Equal(got.ignored(), []string{"temperature"}) {
		t.Fatalf("called are %q, finished with %q, ignored %q", got.Calls, got.Finish, got.ignored())
	}
	id := got.find(t, "tool-weather").ToolCallID
	got = c.order(args{"outputs": []args{{"tool": "weather", "toolCallId": id, "output": "rain"}}})
	want := "user \"Rain?\"\nassistant weather({\"city\":\"Kiel\"}) output-available \"rain\" \"Take an umbrella.\"\n"
	got.shows(t, want)
	if posted := s.stored("guide", "ann"); len(posted) != 1 {
		t.Errorf("posted is %q", posted)
	}
	got = c.order(args{"history": true})
	if len(got.Messages) != 2 || !strings.Contains(got.seen(), "Take an umbrella.") {
		t.Errorf("the history is\n%s", got.seen())
	}
	c.as(s.api("guide"), ann, withTools) // the tool fails
	id = func() string { got := c.say("Rain?"); return got.find(t, "tool-weather").ToolCallID }()
	got = c.order(args{"outputs": []args{{"tool": "weather", "toolCallId": id, "state": "output-error", "errorText": "no net"}}})
	got.shows(t, "user \"Rain?\"\nassistant weather({\"city\":\"Kiel\"}) output-error no net \"I do not know.\"\n")
}

const (
	careful = `[{"name":"pay","execution":{"mode":"pass-through"},"displayTool":%t,"requiresPermission":true,%s"inputSchema":{"type":"object","properties":{"sum":{"type":"number"}}}}]`
	paying  = `
call sendSpaceMessage {"spaceId":"here","text":"I pay."}
call pay {%s"sum":5}
---
when pay ok
call sendSpaceMessage {"spaceId":"here","text":"Paid."}
else
call sendSpaceMessage {"spaceId":"here","text":"Not paid."}
---
say over`
)

// A permission is an approval request, and the run goes on when the client responds, whether the space shows the call
// or not.
func TestApproval(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("shown", fmt.Sprintf(careful, true, ""), fmt.Sprintf(paying, `"targetSpaceId":"here",`))
	s.host("unseen", fmt.Sprintf(careful, false, ""), fmt.Sprintf(paying, ""))
	c := start(t)
	for space, output := range map[string]string{"shown": `{"success":true,"sum":5}`, "unseen": `{"approved":true}`} {
		for _, yes := range []bool{true, false} {
			t.Run(fmt.Sprint(space, yes), func(t *testing.T) {
				c.as(s.api(space), ann, nil)
				got := c.say("Pay.")
				got.shows(t, "user \"Pay.\"\nassistant \"I pay.\" pay({\"sum\":5}) approval-requested \n")
				asked := got.find(t, "tool-pay").Approval
				if asked == nil {
					t.Fatal("nothing asks for an approval")
				}
				got = c.order(args{"approve": args{"id": asked.ID, "approved": yes, "reason": "So it is."}})
				if yes {
					got.shows(t, "user \"Pay.\"\nassistant \"I pay.\" pay({\"sum\":5}) output-available "+output+" \"Paid.\"\n")
				} else {
					got.shows(t, "user \"Pay.\"\nassistant \"I pay.\" pay({\"sum\":5}) output-denied  \"Not paid.\"\n")
				}
			})
		}
	}
}

// What waits for somebody else keeps the stream open, says so, and goes on afterwards.
func TestApprovalOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("payer", fmt.Sprintf(careful, true, `"answer":{"by":["admins"]},`), fmt.Sprintf(paying, `"targetSpaceId":"here",`))
	follower, err := s.Hub.Events.Follow(t.Context(), admin, feed.FollowRequest{Session: shoal.DefaultSession})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	c := s.chat(ann, "payer", nil)
	c.Send(args{"send": args{"text": "Pay."}})
	action := apptest.NextPending(t, follower)
	yes := true
	if _, err := s.Hub.Pending.Answer(t.Context(), shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test"}, shoal.DefaultSession, action.ID, shoal.PendingAnswer{Approved: &yes}); err != nil {
		t.Fatal(err)
	}
	var got report
	c.Next(patience, &got)
	got.shows(t, "user \"Pay.\"\nassistant \"I pay.\" pay({\"sum\":5}) output-available {\"success\":true,\"sum\":5} \"Paid.\"\n")
}
