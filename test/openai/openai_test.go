package openai_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/openaiapi"
)

// server is a whole server as its first start leaves it.
type server struct {
	*app.Server
	t   *testing.T
	key string // of an admin
}

var admin = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test", EntityID: shoal.Operator}

func serve(t *testing.T) *server {
	t.Helper()
	s, key := apptest.Run(t, app.Config{})
	return &server{s, t, key}
}

// person returns the official client of a new person, with the person's own key.
func (s *server) person(id string, headers map[string]string) *client {
	s.t.Helper()
	return connect(s.t, s.URL(), apptest.PersonKey(s.t, s.Server, shoal.EntityID(id), shoal.DoorOpenAI), headers)
}

// host adds an agent that plays a script, where "here" is its chat with ann.
func (s *server) host(id, tools, script string) {
	s.t.Helper()
	here := string(openaiapi.ChatSpace("ann", shoal.EntityID(id)))
	apptest.Script(s.t, s.Server, shoal.EntityID(id), tools, strings.ReplaceAll(script, `"here"`, `"`+here+`"`))
}

// stored returns the texts that an entity has in ann's chat with an agent.
func (s *server) stored(agent, by shoal.EntityID) []string {
	s.t.Helper()
	return apptest.Texts(s.t, s.Server, openaiapi.ChatSpace("ann", agent), by)
}

// runOf returns the id of the newest run of an agent, once there is one that is not among the known ones.
func (s *server) runOf(agent shoal.EntityID, known ...string) string {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; <-time.After(10 * time.Millisecond) {
		runs, err := s.Hub.Runs.List(s.t.Context(), admin, shoal.DefaultSession, storage.RunFilter{Agent: agent, Limit: 1})
		if err != nil || time.Now().After(deadline) {
			s.t.Fatalf("%s has no run: %v", agent, err)
		}
		if len(runs) == 1 && !slices.Contains(known, string(runs[0].ID)) {
			return string(runs[0].ID)
		}
	}
}

var streamed = args{"stream": true, "stream_options": args{"include_usage": true}}

// Agents are models. A chat with one has a space of its own, where only what is new is posted, and
// the text that the client has is the text that is stored.
func TestChat(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]args{"streamed": streamed, "in one piece": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.host("poet", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Der Seebär 🐻‍❄️ said »Ahoi« to <b>all</b> of them.\"}\n---\nsay over")
			c := s.person("ann", nil)
			c.Send(args{"models": true})
			if got := c.next(); !slices.Contains(got.Models, "poet") || slices.Contains(got.Models, "ann") {
				t.Fatalf("the models are %v", got.Models)
			}
			got := c.chat("poet", more, args{"role": "system", "content": "Be brief."}, user("Write a story."))
			const want = "Der Seebär 🐻‍❄️ said »Ahoi« to <b>all</b> of them."
			if got.Text != want || got.Finish != "stop" || got.Model != "poet" || got.Usage.Completion == 0 {
				t.Fatalf("the client has %+v", got)
			}
			if more != nil && got.Pieces < 2 {
				t.Errorf("the text came in %d pieces", got.Pieces)
			}
			got = c.chat("poet", more, user("Write a story."), assistant(got.Text), user("Another one."))
			if got.Text != want {
				t.Errorf("the second answer is %+v", got)
			}
			if posted := s.stored("poet", "ann"); !slices.Equal(posted, []string{"Write a story.", "Another one."}) {
				t.Errorf("posted is %q", posted)
			}
			if written := s.stored("poet", "poet"); !slices.Equal(written, []string{want, want}) {
				t.Errorf("the agent has written %q", written)
			}
		})
	}
}

// The client executes its own tools: the call comes as tool_calls, and its result goes on with the run.
func TestClientTool(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]bool{"streamed": true, "in one piece": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.host("guide", "[]", `
call sendSpaceMessage {"spaceId":"here","text":"Let me see."}
---
call weather {"city":"Kiel"}
---
when weather ok
call sendSpaceMessage {"spaceId":"here","text":"Take an umbrella."}
else
call sendSpaceMessage {"spaceId":"here","text":"I do not know."}
---
say over`)
			more := args{"stream": stream, "tools": []args{{"type": "function", "function": args{
				"name": "weather", "description": "Returns the weather.", "parameters": args{"type": "object", "properties": args{"city": args{"type": "string"}}},
			}}}}
			c := s.person("ann", nil)
			got := c.chat("guide", more, user("Rain?"))
			if got.Text != "Let me see." || got.Finish != "tool_calls" || len(got.Calls) != 1 || got.Calls[0].Name != "weather" || got.Calls[0].Arguments != `{"city":"Kiel"}` {
				t.Fatalf("the client has %+v", got)
			}
			call := args{"role": "assistant", "content": nil, "tool_calls": []args{{"id": got.Calls[0].ID, "type": "function", "function": args{"name": "weather", "arguments": `{"city":"Kiel"}`}}}}
			result := args{"role": "tool", "tool_call_id": got.Calls[0].ID, "content": "rain"}
			if got := c.chat("guide", more, user("Rain?"), call, result); got.Text != "Take an umbrella." || got.Finish != "stop" {
				t.Errorf("after the result the client has %+v", got)
			}
			if got := c.chat("guide", more, user("Rain?"), call, result); got.Text != "Let me see.\n\nTake an umbrella." {
				t.Errorf("after the same result the client has %+v", got)
			}
			result["content"] = "sun"
			if got := c.chat("guide", more, user("Rain?"), call, result); got.Status != 409 || got.Error.Name != "ConflictError" || got.Error.Param != "messages[2]" {
				t.Errorf("another result is answered with %+v", got)
			}
			if posted := s.stored("guide", "ann"); len(posted) != 1 {
				t.Errorf("posted is %q", posted)
			}
		})
	}
}

// A question of the agent is text, and the next message of the user answers it.
func TestQuestion(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("asker", "[]", `
call ask_user {"question":"Which city?","options":["Kiel","Rome"]}
---
when ask_user ok
call sendSpaceMessage {"spaceId":"here","text":"Thank you."}
---
say over`)
	c := s.person("ann", nil)
	got := c.chat("asker", streamed, user("Rain?"))
	if got.Text != "Which city?\n- Kiel\n- Rome" || got.Finish != "stop" {
		t.Fatalf("the client has %+v", got)
	}
	if got := c.chat("asker", streamed, user("Rain?"), assistant(got.Text), user("Kiel")); got.Text != "Thank you." {
		t.Errorf("after the answer the client has %+v", got)
	}
}

// What waits for somebody else keeps the completion open, says so, and goes on afterwards.
func TestApproval(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("payer", `[{"name":"pay","execution":{"mode":"pass-through"},"requiresPermission":true,"answer":{"by":["admins"]},"inputSchema":{"type":"object","properties":{"sum":{"type":"number"}}}}]`, `
call pay {"sum":5}
---
when pay ok
call sendSpaceMessage {"spaceId":"here","text":"Paid."}
else
call sendSpaceMessage {"spaceId":"here","text":"Not paid."}
---
say over`)
	follower, err := s.Hub.Events.Follow(t.Context(), admin, feed.FollowRequest{Session: shoal.DefaultSession})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	c := s.person("ann", nil)
	c.Send(args{"chat": args{"model": "payer", "stream": true, "messages": []args{user("Pay.")}}})
	action, yes := apptest.NextPending(t, follower), true
	if _, err := s.Hub.Pending.Answer(t.Context(), shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test"}, shoal.DefaultSession, action.ID, shoal.PendingAnswer{Approved: &yes}); err != nil {
		t.Fatal(err)
	}
	if got := c.next(); got.Text != "Paid." || got.Finish != "stop" {
		t.Errorf("the client has %+v", got)
	}
}

// A client that stops cancels the run; nothing of it goes on.
func TestStop(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("slow", "[]", "pause 50ms\ncall sendSpaceMessage {\"spaceId\":\"here\",\"text\":\""+strings.Repeat("word ", 400)+"\"}\n---\nsay over")
	c := s.person("ann", nil)
	c.Send(args{"chat": args{"model": "slow", "stream": true, "messages": []args{user("Count.")}}, "abortAfter": 3})
	if got := c.next(); !got.Aborted {
		t.Fatalf("the client has %+v", got)
	}
	deadline := time.Now().Add(patience)
	for {
		runs, err := s.Hub.Runs.List(t.Context(), admin, shoal.DefaultSession, storage.RunFilter{Agent: "slow", Limit: 10})
		if err != nil || len(runs) != 1 {
			t.Fatalf("the runs are %+v: %v", runs, err)
		}
		if runs[0].Status == shoal.RunCanceled {
			return
		}
		if runs[0].Status.Ended() || time.Now().After(deadline) {
			t.Fatalf("the run is %s", runs[0].Status)
		}
	}
}

// Refusals are errors of the official client, which it does not repeat where that would post again.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("bot", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Hello.\"}\n---\nsay over")
	s.host("broken", "[]", "fail auth")
	if _, err := s.Hub.Spaces.Create(t.Context(), admin, shoal.DefaultSession, shoal.NewSpace{ID: "secret", Name: "Secret", Members: []shoal.EntityID{"bot"}}, ""); err != nil {
		t.Fatal(err)
	}
	ann := s.person("ann", nil)
	hello := []args{user("Hello")}
	for name, c := range map[string]struct {
		client *client
		model  string
		more   args
		says   []args
		status int
		class  string
		code   string
		param  string
	}{
		"an unknown model":     {ann, "nobody", nil, hello, 404, "NotFoundError", "not_found", "model"},
		"a person as a model":  {ann, "operator", nil, hello, 404, "NotFoundError", "not_found", "model"},
		"a wrong key":          {connect(t, s.URL(), "shoal_wrong", nil), "bot", nil, hello, 401, "AuthenticationError", "invalid_api_key", ""},
		"another's space":      {s.person("bob", map[string]string{"X-Shoal-Space": "secret"}), "bot", nil, hello, 404, "NotFoundError", "not_found", ""},
		"several answers":      {ann, "bot", args{"n": 2}, hello, 422, "UnprocessableEntityError", "invalid_argument", "n"},
		"a form of the answer": {ann, "bot", args{"response_format": args{"type": "json_object"}}, hello, 422, "UnprocessableEntityError", "invalid_argument", "response_format.type"},
		"nothing new":          {ann, "bot", nil, []args{user("Hello"), assistant("Hi")}, 422, "UnprocessableEntityError", "invalid_argument", "messages"},
		"an unknown role":      {ann, "bot", nil, []args{{"role": "narrator", "content": "x"}}, 422, "UnprocessableEntityError", "invalid_argument", "messages[0].role"},
		"a picture as data":    {ann, "bot", nil, []args{{"role": "user", "content": []args{{"type": "image_url", "image_url": args{"url": "data:image/png;base64,AA"}}}}}, 422, "UnprocessableEntityError", "invalid_argument", "messages[0].content[0]"},
		"another's call":       {ann, "bot", nil, []args{{"role": "tool", "tool_call_id": "run_x/c1", "content": "1"}}, 404, "NotFoundError", "not_found", "messages[0]"},
		"a body too large":     {ann, "bot", nil, []args{user(strings.Repeat("x", 2<<20))}, 413, "APIError", "too_large", ""},
		"a run that fails":     {ann, "broken", nil, hello, 502, "InternalServerError", "provider_auth", ""},
		"a stream that fails":  {ann, "broken", streamed, hello, 502, "InternalServerError", "provider_auth", ""},
	} {
		got := c.client.chat(c.model, c.more, c.says...)
		if got.Status != c.status || c.class != "" && got.Error.Name != c.class || got.Error.Code != c.code || got.Error.Param != c.param {
			t.Errorf("%s: %+v, want %d %s %s %s", name, got, c.status, c.class, c.code, c.param)
		}
		if got.Error.Message == "" || strings.Contains(got.Error.Message, "no body") {
			t.Errorf("%s: the message is %q", name, got.Error.Message)
		}
	}
	if posted := s.stored("broken", "ann"); len(posted) != 2 {
		t.Errorf("posted is %q: the client has repeated a request", posted)
	}
}
