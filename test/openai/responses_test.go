package openai_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/openaiapi"
)

// bothWays are the parameters of responses that come as a stream, and in one piece.
var bothWays = map[string]args{"streamed": {"stream": true}, "in one piece": {}}

// with returns parameters with more of them.
func with(parameters, more args) args {
	out := args{}
	for _, from := range []args{parameters, more} {
		for name, value := range from {
			out[name] = value
		}
	}
	return out
}

// A response has each text of the agent as a message, exactly as it is stored. The next one goes on in the
// same space, whether the client names the response, the conversation, or nothing.
func TestResponses(t *testing.T) {
	t.Parallel()
	for name, way := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.host("poet", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Der Seebär 🐻‍❄️ said »Ahoi« to <b>all</b>.\"}\n---\ncall sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"The end.\"}\n---\nsay over")
			c := s.person("ann", nil)
			want := []string{"Der Seebär 🐻‍❄️ said »Ahoi« to <b>all</b>.", "The end."}
			first := c.respond("poet", with(way, args{"instructions": "Be brief."}), "Write a story.")
			if !slices.Equal(first.Texts, want) || first.Finish != "completed" || first.Model != "poet" || first.Usage.Completion == 0 || first.Conversation != string(openaiapi.ChatSpace("ann", "poet")) {
				t.Fatalf("the client has %+v", first)
			}
			if way["stream"] == true && first.Pieces < 3 {
				t.Errorf("the texts came in %d pieces", first.Pieces)
			}
			for how, more := range map[string]args{
				"after the response": {"previous_response_id": first.ID}, "in the conversation": {"conversation": first.Conversation}, "again": nil,
			} {
				got := c.respond("poet", with(way, more), []args{user("Write a story."), {"type": "message", "role": "assistant", "content": []args{{"type": "output_text", "text": want[0]}}}, user(how)})
				if !slices.Equal(got.Texts, want) || got.Conversation != first.Conversation {
					t.Errorf("%s: %+v", how, got)
				}
			}
			if got := c.of("retrieve", first.ID); !slices.Equal(got.Texts, want) || got.ID != first.ID || got.Finish != "completed" || got.Model != "poet" || got.Usage != first.Usage || got.Conversation != first.Conversation {
				t.Errorf("retrieved is %+v, answered was %+v", got, first)
			}
			posted := s.stored("poet", "ann")
			slices.Sort(posted)
			if !slices.Equal(posted, []string{"Write a story.", "after the response", "again", "in the conversation"}) {
				t.Errorf("posted is %q", posted)
			}
		})
	}
}

// The client executes its own tools, and answers with the output of the call.
func TestResponsesClientTool(t *testing.T) {
	t.Parallel()
	for name, way := range bothWays {
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
			more := with(way, args{"tools": []args{{
				"type": "function", "name": "weather", "description": "Returns the weather.", "strict": false,
				"parameters": args{"type": "object", "properties": args{"city": args{"type": "string"}}},
			}}})
			c := s.person("ann", nil)
			got := c.respond("guide", more, "Rain?")
			if got.Text != "Let me see." || got.Finish != "completed" || len(got.Calls) != 1 || got.Calls[0].Name != "weather" || got.Calls[0].Arguments != `{"city":"Kiel"}` {
				t.Fatalf("the client has %+v", got)
			}
			output := args{"type": "function_call_output", "call_id": got.Calls[0].ID, "output": "rain"}
			if stored := c.of("retrieve", got.ID); stored.Finish != "completed" || stored.Text != "Let me see." || !slices.Equal(stored.Calls, got.Calls) {
				t.Errorf("retrieved is %+v while the call waits", stored)
			}
			more["previous_response_id"] = got.ID
			if got := c.respond("guide", more, []args{output}); !slices.Equal(got.Texts, []string{"Take an umbrella."}) {
				t.Errorf("after the output the client has %+v", got)
			}
			if got := c.respond("guide", more, []args{output}); !slices.Equal(got.Texts, []string{"Let me see.", "Take an umbrella."}) {
				t.Errorf("after the same output the client has %+v", got)
			}
			if stored := c.of("retrieve", got.ID); !slices.Equal(stored.Texts, []string{"Let me see.", "Take an umbrella."}) || len(stored.Calls) != 0 {
				t.Errorf("retrieved is %+v at the end", stored)
			}
			output["output"] = "sun"
			if got := c.respond("guide", more, []args{output}); got.Status != 409 || got.Error.Name != "ConflictError" || got.Error.Param != "input[0]" {
				t.Errorf("another output is answered with %+v", got)
			}
		})
	}
}

// What waits for somebody else keeps the response open, which goes on afterwards.
func TestResponsesApproval(t *testing.T) {
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
	c.Send(args{"respond": args{"model": "payer", "stream": true, "input": "Pay."}})
	action, yes := apptest.NextPending(t, follower), true
	if got := s.person("ann", nil).of("retrieve", string(action.RunID)); got.Finish != "in_progress" || len(got.Texts) != 0 {
		t.Errorf("retrieved is %+v while the approval waits", got)
	}
	if _, err := s.Hub.Pending.Answer(t.Context(), shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test"}, shoal.DefaultSession, action.ID, shoal.PendingAnswer{Approved: &yes}); err != nil {
		t.Fatal(err)
	}
	if got := c.next(); !slices.Equal(got.Texts, []string{"Paid."}) {
		t.Errorf("the client has %+v", got)
	}
}

// A response can be canceled from elsewhere, once. What the agent has written until then stays.
func TestResponsesCancel(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("slow", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"First.\"}\n---\npause 50ms\ncall sendSpaceMessage {\"spaceId\":\"here\",\"text\":\""+strings.Repeat("word ", 400)+"\"}\n---\nsay over")
	reader, elsewhere := s.person("ann", nil), s.person("ann", nil)
	reader.Send(args{"respond": args{"model": "slow", "stream": true, "input": "Count."}})
	id := s.runOf("slow")
	for got := elsewhere.of("retrieve", id); len(got.Texts) == 0; got = elsewhere.of("retrieve", id) {
		if got.Finish != "in_progress" && got.Finish != "queued" {
			t.Fatalf("retrieved is %+v", got)
		}
	}
	for range 2 {
		if got := elsewhere.of("cancel", id); got.Finish != "cancelled" || got.ID != id || got.Texts[0] != "First." {
			t.Errorf("canceled is %+v", got)
		}
	}
	if got := reader.next(); got.Finish != "cancelled" || got.Last != "response.incomplete" || !slices.Equal(got.Texts[:1], []string{"First."}) {
		t.Errorf("the stream ends with %+v", got)
	}

	reader.Send(args{"respond": args{"model": "slow", "input": "Count again."}})
	if got := elsewhere.of("cancel", s.runOf("slow", id)); got.Finish != "cancelled" {
		t.Errorf("canceled is %+v", got)
	}
	if got := reader.next(); got.Finish != "cancelled" {
		t.Errorf("the answer in one piece is %+v", got)
	}
	for name, more := range map[string]args{"streamed": streamed, "in one piece": nil} {
		known := s.runOf("slow")
		reader.Send(args{"chat": with(args{"model": "slow", "messages": []args{user("Count " + name)}}, more)})
		elsewhere.of("cancel", s.runOf("slow", known))
		if got := reader.next(); got.Error.Code != "canceled" || got.Error.Message == "" || got.Finish != "" {
			t.Errorf("a chat completion, %s, ends with %+v", name, got)
		}
	}
}

// A client that stops cancels the run.
func TestResponsesStop(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("slow", "[]", "pause 50ms\ncall sendSpaceMessage {\"spaceId\":\"here\",\"text\":\""+strings.Repeat("word ", 400)+"\"}\n---\nsay over")
	c := s.person("ann", nil)
	c.Send(args{"respond": args{"model": "slow", "stream": true, "input": "Count."}, "abortAfter": 3})
	if got := c.next(); !got.Aborted {
		t.Fatalf("the client has %+v", got)
	}
	for deadline := time.Now().Add(patience); ; <-time.After(10 * time.Millisecond) {
		runs, err := s.Hub.Runs.List(t.Context(), admin, shoal.DefaultSession, storage.RunFilter{Agent: "slow", Limit: 10})
		if err != nil || len(runs) != 1 || runs[0].Status.Ended() && runs[0].Status != shoal.RunCanceled || time.Now().After(deadline) {
			t.Fatalf("the runs are %+v: %v", runs, err)
		}
		if runs[0].Status == shoal.RunCanceled {
			return
		}
	}
}

// Refusals are errors of the official client. A run that fails in a stream is a failed response.
func TestResponsesRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("bot", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Hello.\"}\n---\nsay over")
	s.host("broken", "[]", "fail auth")
	ann, bob := s.person("ann", nil), s.person("bob", nil)
	mine := ann.respond("bot", nil, "Hello")
	for name, c := range map[string]struct {
		client *client
		model  string
		more   args
		input  any
		status int
		class  string
		code   string
		param  string
	}{
		"an unknown model":           {ann, "nobody", nil, "Hello", 404, "NotFoundError", "not_found", "model"},
		"a wrong key":                {connect(t, s.URL(), "shoal_wrong", nil), "bot", nil, "Hello", 401, "AuthenticationError", "invalid_api_key", ""},
		"another's space":            {bob, "bot", args{"conversation": mine.Conversation}, "Hello", 404, "NotFoundError", "not_found", ""},
		"another's response":         {bob, "bot", args{"previous_response_id": mine.ID}, "Hello", 404, "NotFoundError", "not_found", "previous_response_id"},
		"an unknown response":        {ann, "bot", args{"previous_response_id": "resp_1"}, "Hello", 404, "NotFoundError", "not_found", "previous_response_id"},
		"in the background":          {ann, "bot", args{"background": true}, "Hello", 422, "UnprocessableEntityError", "invalid_argument", "background"},
		"a tool of the provider":     {ann, "bot", args{"tools": []args{{"type": "web_search"}}}, "Hello", 422, "UnprocessableEntityError", "invalid_argument", "tools[0].type"},
		"nothing new":                {ann, "bot", nil, []args{user("Hello"), {"role": "assistant", "content": "Hi"}}, 422, "UnprocessableEntityError", "invalid_argument", "input"},
		"another's call":             {ann, "bot", nil, []args{{"type": "function_call_output", "call_id": "run_x/c1", "output": "1"}}, 404, "NotFoundError", "not_found", "input[0]"},
		"a run that fails":           {ann, "broken", nil, "Hello", 502, "InternalServerError", "provider_auth", ""},
		"a run that fails, streamed": {ann, "broken", args{"stream": true}, "Hello", 200, "failed", "provider_auth", ""},
	} {
		got := c.client.respond(c.model, c.more, c.input)
		if got.Status != c.status || got.Error.Name != c.class || got.Error.Code != c.code || got.Error.Param != c.param || got.Error.Message == "" {
			t.Errorf("%s: %+v, want %d %s %s %s", name, got, c.status, c.class, c.code, c.param)
		}
	}
	id := s.runOf("broken")
	if got := ann.of("retrieve", id); got.Error.Name != "failed" || got.Error.Code != "provider_auth" {
		t.Errorf("a run that has failed is retrieved as %+v", got)
	}
	for name, c := range map[string]struct {
		client *client
		order  args
		status int
		text   string
	}{
		"a stranger":          {bob, args{"retrieve": mine.ID}, 404, "404 The response \"" + mine.ID + "\" does not exist."},
		"a stranger cancels":  {bob, args{"cancel": mine.ID}, 404, "404 The response \"" + mine.ID + "\" does not exist."},
		"an unknown response": {ann, args{"retrieve": "resp_1"}, 404, "404 The response \"resp_1\" does not exist."},
		"a wrong key":         {connect(t, s.URL(), "shoal_wrong", nil), args{"retrieve": mine.ID}, 401, ""},
		"as a stream":         {ann, args{"retrieve": mine.ID, "with": args{"stream": true}}, 422, ""},
		"deleting":            {ann, args{"delete": mine.ID}, 404, ""},
	} {
		c.client.Send(c.order)
		if got := c.client.next(); got.Status != c.status || got.Error.Message == "" || c.text != "" && got.Error.Message != c.text {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if posted := s.stored("broken", "ann"); len(posted) != 2 {
		t.Errorf("posted is %q: the client has repeated a request", posted)
	}
}
