package aisdk_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const asking = `
call ask_user {"question":"Which city?","options":["Kiel","Rome"]}
---
when ask_user ok
call sendSpaceMessage {"spaceId":"here","text":"Thank you."}
---
say over`

// A question is a call that the client answers: with an output, or with the next message of the user.
func TestQuestion(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("asker", "[]", asking)
	const begin = "user \"Rain?\"\nassistant ask_user({\"question\":\"Which city?\",\"options\":[\"Kiel\",\"Rome\"]}) "
	c := s.chat(ann, "asker", nil)
	got := c.say("Rain?")
	got.shows(t, begin+"input-available \n")
	got = c.order(args{"outputs": []args{{"tool": "ask_user", "toolCallId": got.find(t, "tool-ask_user").ToolCallID, "output": "Kiel"}}})
	got.shows(t, begin+"output-available \"Kiel\" \"Thank you.\"\n")

	c.as(s.api("asker"), ann, nil)
	got = c.say("Rain?")
	got.shows(t, begin+"input-available \n")
	got = c.say("Rome")
	if !strings.HasSuffix(got.seen(), "user \"Rome\"\nassistant \"Thank you.\"\n") {
		t.Errorf("after the answer the client is %s (%s) and shows\n%s", got.Status, got.Error, got.seen())
	}
	if posted := s.stored("asker", "ann"); len(posted) != 2 {
		t.Errorf("posted is %q", posted)
	}
}

const slow = "pause 30ms\ncall sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"%s\"}\n---\nsay over"

// newest returns the newest run of an agent, once it has a status for which until is true.
func (s *server) newest(agent shoal.EntityID, until func(shoal.RunStatus) bool) shoal.Run {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		runs, err := s.Hub.Runs.List(s.t.Context(), admin, shoal.DefaultSession, storage.RunFilter{Agent: agent, Limit: 1})
		if err != nil || len(runs) != 1 || time.Now().After(deadline) {
			s.t.Fatalf("the runs are %+v: %v", runs, err)
		}
		if until(runs[0].Status) {
			return runs[0]
		}
	}
}

// The stop of a client reaches the model: by itself, or for a client that resumes by asking the server.
func TestStop(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("slow", "[]", fmt.Sprintf(slow, strings.Repeat("word ", 400)))
	c := s.chat(ann, "slow", nil)
	if got := c.order(args{"send": args{"text": "Count."}, "stopAfter": 3}); got.Status != "ready" || got.Pieces < 3 {
		t.Fatalf("the client is %s after %d pieces: %s", got.Status, got.Pieces, got.Error)
	}
	if run := s.newest("bot-slow", shoal.RunStatus.Ended); run.Status != shoal.RunCanceled {
		t.Errorf("the run is %s", run.Status)
	}
	c.as(s.api("slow"), ann, args{"resume": true})
	c.order(args{"send": args{"text": "Count."}, "stopAfter": 3})
	if run := s.newest("bot-slow", func(shoal.RunStatus) bool { return true }); run.Status != shoal.RunRunning {
		t.Fatalf("the run of a client that resumes is %s", run.Status)
	}
	if got := c.order(args{"stop": true}); got.StatusCode != http.StatusOK {
		t.Errorf("stop is answered with %d %s", got.StatusCode, got.Error)
	}
	if run := s.newest("bot-slow", func(shoal.RunStatus) bool { return true }); run.Status != shoal.RunCanceled {
		t.Errorf("after stop the run is %s", run.Status)
	}
	if got := c.order(args{"resume": true}); got.Status != "ready" || got.Error != "" {
		t.Errorf("after stop the client is %s (%s)", got.Status, got.Error)
	}
}

// A message that is sent again with the same id and content is posted once; one that is edited is posted anew; another
// answer is the answer of another run.
func TestAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("poet", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Ahoi.\"}\n---\nsay over")
	c := s.chat(ann, "poet", nil)
	got := c.order(args{"send": args{"parts": []args{{"type": "text", "text": "Hi"}}, "id": "m1", "role": "user"}})
	got.shows(t, "user \"Hi\"\nassistant \"Ahoi.\"\n")
	c.order(args{"forget": true})
	got = c.order(args{"send": args{"parts": []args{{"type": "text", "text": "Hi"}}, "id": "m1", "role": "user"}})
	got.shows(t, "user \"Hi\"\nassistant \"Ahoi.\"\n")
	if posted := s.stored("poet", "ann"); len(posted) != 1 {
		t.Errorf("posted is %q", posted)
	}
	got = c.order(args{"regenerate": true})
	got.shows(t, "user \"Hi\"\nassistant \"Ahoi.\"\n")
	if posted, written := s.stored("poet", "ann"), s.stored("poet", "bot-poet"); len(posted) != 1 || len(written) != 2 {
		t.Errorf("posted is %q, written %q", posted, written)
	}
	got = c.order(args{"send": args{"text": "Hello", "messageId": "m1"}})
	got.shows(t, "user \"Hello\"\nassistant \"Ahoi.\"\n")
	if posted := s.stored("poet", "ann"); !slices.Equal(posted, []string{"Hi", "Hello"}) {
		t.Errorf("posted is %q", posted)
	}
}

// Files of the user are uploaded, and shown in the message.
func TestFiles(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("poet", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Nice.\"}\n---\nsay over")
	c := s.chat(ann, "poet", nil)
	got := c.order(args{"send": args{"text": "Look.", "files": []args{
		{"type": "file", "mediaType": "text/plain", "filename": "note.txt", "url": "data:text/plain;base64,SGVsbG8="},
		{"type": "file", "mediaType": "image/png", "url": "https://example.com/a.png"},
	}}})
	if got.Error != "" || got.find(t, "text").Text != "Nice." {
		t.Fatalf("the client is %s (%s) and shows\n%s", got.Status, got.Error, got.seen())
	}
	all, err := s.Hub.Messages.Read(t.Context(), admin, shoal.DefaultSession, "poet", storage.Page{Limit: 10})
	if err != nil || len(all) == 0 || len(all[0].Parts) != 3 {
		t.Fatalf("posted is %+v, %v", all, err)
	}
	_, id, ours := all[0].Parts[0].File()
	if _, data, err := s.Hub.Files.Get(t.Context(), admin, shoal.DefaultSession, id); !ours || err != nil || string(data) != "Hello" {
		t.Errorf("the file is %q, %v", data, err)
	}
	got = c.order(args{"history": true})
	if !strings.Contains(got.seen(), all[0].Parts[0].URL) || !strings.Contains(got.seen(), "https://example.com/a.png") {
		t.Errorf("the history is\n%s", got.seen())
	}
}

// What is refused is an error with a sentence, and nothing of it leaks.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann, bob := s.key("ann"), s.key("bob")
	s.host("bot", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Hello.\"}\n---\nsay over")
	s.host("broken", "[]", "fail auth")
	if _, err := s.Hub.Spaces.Create(t.Context(), admin, shoal.DefaultSession, shoal.NewSpace{ID: "empty", Name: "Empty", Members: []shoal.EntityID{"ann"}}, ""); err != nil {
		t.Fatal(err)
	}
	client := start(t)
	hello := args{"send": args{"text": "Hello"}}
	for name, c := range map[string]struct {
		api    string
		key    string
		body   args
		order  args
		status int
		says   string
	}{
		"a wrong key":              {s.api("bot"), "shoal_wrong", nil, hello, 401, "key"},
		"a stranger's space":       {s.api("bot"), bob, nil, hello, 404, "not"},
		"a space that is not":      {s.api("nowhere"), ann, nil, hello, 404, "not"},
		"a stranger's stream":      {s.api("bot"), bob, nil, args{"resume": true}, 404, "not"},
		"a stranger's history":     {s.api("bot"), bob, nil, args{"history": true}, 404, "not"},
		"a stranger's stop":        {s.api("bot"), bob, nil, args{"stop": true}, 404, "not"},
		"another session":          {s.URL() + "/ai-sdk/other/bot", ann, nil, hello, 404, "not"},
		"an unknown agent":         {s.api("bot"), ann, args{"mentions": []string{"nobody"}}, hello, 404, "nobody"},
		"a space without an agent": {s.api("empty"), ann, nil, hello, 404, "no hosted agent acts on it"},
		"a body too large":         {s.api("bot"), ann, nil, args{"send": args{"text": strings.Repeat("x", 2<<20)}}, 413, "more than"},
		"a schema of a string":     {s.api("bot"), ann, args{"tools": args{"x": args{"inputSchema": args{"type": "string"}}}}, hello, 422, "tools.x.inputSchema"},
		"another's call": {s.api("bot"), ann, nil, args{"send": args{
			"id": "a", "role": "assistant", "parts": []args{{"type": "tool-x", "toolCallId": "run_x/c1", "state": "output-available", "input": args{}, "output": 1}},
		}}, 404, "not"},
		"a path that is not": {s.api("bot/more/of/it"), ann, nil, hello, 404, "/ai-sdk/SESSION/SPACE"},
		"a run that fails":   {s.api("broken"), ann, nil, hello, 0, "refused the key"},
	} {
		client.as(c.api, c.key, c.body)
		got := client.order(c.order)
		if got.StatusCode != c.status || !strings.Contains(got.Error, c.says) || strings.ContainsAny(got.Error, "{}") {
			t.Errorf("%s: %d %q, want %d and %q", name, got.StatusCode, got.Error, c.status, c.says)
		}
	}
	if posted := s.stored("bot", "ann"); len(posted) > 0 {
		t.Errorf("posted is %q", posted)
	}
}

// The output of a tool counts once: the same again shows what followed, another one is refused.
func TestOutputTwice(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("guide", "[]", forecast)
	c := s.chat(ann, "guide", withTools)
	got := c.say("Rain?")
	asked := got.Messages
	id := got.find(t, "tool-weather").ToolCallID
	c.order(args{"outputs": []args{{"tool": "weather", "toolCallId": id, "output": "rain"}}})
	for output, status := range map[string]int{"rain": 0, "sun": 409} {
		c.as(s.api("guide"), ann, withTools)
		got := c.order(args{"set": asked, "outputs": []args{{"tool": "weather", "toolCallId": id, "output": output}}})
		if got.StatusCode != status || status == 0 && !strings.Contains(got.seen(), "umbrella") || status != 0 && !strings.Contains(got.Error, "answered") {
			t.Errorf("%s again: %d %q, the client shows\n%s", output, got.StatusCode, got.Error, got.seen())
		}
	}
}
