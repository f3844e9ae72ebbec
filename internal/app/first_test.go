package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// patience ends a test that has failed anyway.
const patience = 30 * time.Second

var operator = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test", EntityID: shoal.Operator}

// begin starts a server on a directory, with these keys of model vendors.
func begin(t *testing.T, data string, keys ...string) *app.Server {
	t.Helper()
	s, err := app.Start(t.Context(), app.Config{Data: data, Addr: "127.0.0.1:0", Keys: func(name string) string {
		if slices.Contains(keys, name) {
			return "a key"
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A newcomer without any key sees the whole story: text, two cards to choose from,
// an approval in another space, text. It says first that it is a script.
func TestStoryOfTheFirstAgent(t *testing.T) {
	for _, c := range []struct {
		name    string
		chosen  string // of the two cards
		approve bool
		want    []string
	}{
		{"bought", "air", true, []string{"Lark Air 13", "was approved"}},
		{"denied", "pro", false, []string{"Lark Pro 16", "was not approved"}},
		{"nothing", "", true, []string{"Neither of them"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, t.TempDir())
			defer s.Stop()
			story := play(t, s, "I need a laptop", func(p shoal.PendingAction) shoal.PendingAnswer {
				if p.Kind == shoal.PendingPermission {
					if *p.SpaceID != app.Approvals {
						t.Errorf("the approval is asked for in %s", *p.SpaceID)
					}
					return shoal.PendingAnswer{Approved: &c.approve}
				}
				return shoal.PendingAnswer{Result: json.RawMessage(fmt.Sprintf(`{"chosen":%t}`, p.ToolCallID == c.chosen))}
			})
			if !strings.HasPrefix(story, "I am a script, not a model") || strings.Count(story, "[showProductCard]") != 2 {
				t.Errorf("the story begins\n%s", story)
			}
			for _, want := range c.want {
				if !strings.Contains(story, want) {
					t.Errorf("the story lacks %q:\n%s", want, story)
				}
			}
		})
	}
}

// Any other message is answered with what the script can do and how to get a model.
func TestFirstAgentSaysWhatItCanDo(t *testing.T) {
	s := begin(t, t.TempDir())
	defer s.Stop()
	got := play(t, s, "hello?", func(shoal.PendingAction) shoal.PendingAnswer {
		t.Error("it asks for something")
		return shoal.PendingAnswer{}
	})
	for _, want := range []string{"I am a script", `"I need a laptop"`, "OPENAI_API_KEY", "shoal approvals"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q but\n%s", want, got)
		}
	}
}

// play posts to the space welcome, answers what is asked, and returns what the
// agent says there until its run has ended.
func play(t *testing.T, s *app.Server, text string, answer func(shoal.PendingAction) shoal.PendingAnswer) string {
	t.Helper()
	ctx := t.Context()
	follower, err := s.Hub.Events.Follow(ctx, operator, feed.FollowRequest{Session: shoal.DefaultSession})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	_, err = s.Hub.Messages.Post(ctx, operator, shoal.DefaultSession, app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}, "")
	if err != nil {
		t.Fatal(err)
	}
	for ended := false; !ended; {
		events, err := follower.Next(ctx, time.Now().Add(patience))
		if err != nil || len(events) == 0 {
			t.Fatalf("the agent does nothing more: %v", err)
		}
		for _, e := range events {
			switch e.Type {
			case shoal.EventPendingOpened:
				var d shoal.PendingData
				if err := json.Unmarshal(e.Data, &d); err != nil {
					t.Fatal(err)
				}
				p := d.PendingAction
				if _, err := s.Hub.Pending.Answer(ctx, operator, shoal.DefaultSession, p.ID, answer(p)); err != nil {
					t.Fatalf("%s %s: %v", p.Kind, p.ToolName, err)
				}
			case shoal.EventRunFailed, shoal.EventRunCanceled:
				t.Fatalf("the run ends: %s", e.Data)
			case shoal.EventRunCompleted:
				ended = true
			}
		}
	}
	said, err := s.Hub.Messages.Read(ctx, operator, shoal.DefaultSession, app.Welcome, storage.Page{After: 1, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range said {
		for _, p := range m.Parts {
			if p.Type == shoal.ToolPart {
				fmt.Fprintf(&b, "[%s]\n", p.ToolName)
			} else {
				b.WriteString(p.Text + "\n")
			}
		}
	}
	return b.String()
}

// The first agent has the model that there is a key for, at every start, until
// somebody changes it; one that is deleted stays away.
func TestFirstAgentFollowsTheKeys(t *testing.T) {
	data := t.TempDir()
	var got []string
	for _, keys := range [][]string{
		nil,
		{"GOOGLE_API_KEY"},
		{"GEMINI_API_KEY", "ANTHROPIC_API_KEY"},
		{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"},
		nil,
	} {
		s := begin(t, data, keys...)
		got = append(got, provider(t, s))
		s.Stop()
	}
	if d := cmp.Diff([]string{"script", "google", "anthropic", "openai", "script"}, got); d != "" {
		t.Error(d)
	}

	s := begin(t, data)
	changed := storage.Agent{Name: "Shop Agent", OnNewMessage: "parallel", MaxSteps: 5}
	changed.ID, changed.SessionID, changed.Hash = app.ShopAgent, shoal.DefaultSession, "another"
	changed.Config = json.RawMessage(`{"version":"1.0","agent":{"id":"shop-agent","system":"Mine."},"model":{"provider":"ollama","name":"m"}}`)
	if _, _, err := s.Hub.Agents.Put(t.Context(), operator, changed); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s = begin(t, data, "OPENAI_API_KEY")
	if got := provider(t, s); got != "ollama" {
		t.Errorf("an agent that was changed has now a model of %s", got)
	}
	if err := s.Hub.Agents.Delete(t.Context(), operator, shoal.DefaultSession, app.ShopAgent); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s = begin(t, data, "OPENAI_API_KEY")
	defer s.Stop()
	if got := provider(t, s); got != "not_found" {
		t.Errorf("an agent that was deleted has a model of %s", got)
	}
}

// provider returns the provider of the first agent's model.
func provider(t *testing.T, s *app.Server) string {
	t.Helper()
	stored, err := s.Hub.Agents.Get(t.Context(), operator, shoal.DefaultSession, app.ShopAgent, 0)
	if err != nil {
		return string(shoal.KindOf(err))
	}
	var config struct {
		Model struct{ Provider string }
	}
	if err := json.Unmarshal(stored.Config, &config); err != nil {
		t.Fatal(err)
	}
	return config.Model.Provider
}

// A server that stops in the middle of a run does so in time, and the next one goes
// on with it.
func TestStopsInTheMiddleOfARun(t *testing.T) {
	data := t.TempDir()
	s := begin(t, data)
	follower, err := s.Hub.Events.Follow(t.Context(), operator, feed.FollowRequest{Session: shoal.DefaultSession, Space: app.Welcome})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Hub.Messages.Post(t.Context(), operator, shoal.DefaultSession, app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("laptop")}}, "")
	if err != nil {
		t.Fatal(err)
	}
	untilEvent(t, follower, shoal.EventTextDelta)
	follower.Close()
	began := time.Now()
	s.Stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}

	s = begin(t, data)
	defer s.Stop()
	follower, err = s.Hub.Events.Follow(t.Context(), operator, feed.FollowRequest{Session: shoal.DefaultSession, Space: app.Welcome})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	untilEvent(t, follower, shoal.EventRunWaitingTool)
}

func untilEvent(t *testing.T, follower *feed.Follower, what shoal.EventType) {
	t.Helper()
	for {
		events, err := follower.Next(t.Context(), time.Now().Add(patience))
		if err != nil || len(events) == 0 {
			t.Fatalf("no %s comes: %v", what, err)
		}
		if slices.ContainsFunc(events, func(e shoal.Event) bool { return e.Type == what }) {
			return
		}
	}
}

// An agent config may refer to the variables that the operator names.
func TestAllowedVariables(t *testing.T) {
	s, key := apptest.Run(t, app.Config{AllowEnv: []string{"KB"}})
	admin, err := client.New(client.Options{URL: s.URL(), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for name, allowed := range map[string]bool{"KB": true, "HOME": false} {
		const config = `
version: "1.0"
agent: {system: s}
model: {provider: script, name: m, providerOptions: {script: say hello}}
mcp: {servers: [{name: kb, url: "https://kb.example/mcp", headers: {Authorization: "Bearer ${env.NAME}"}}]}
`
		text := strings.ReplaceAll(config, "NAME", name)
		_, err := admin.Session(shoal.DefaultSession).PutAgent(t.Context(), "kb", client.ConfigYAML, []byte(text))
		if allowed != (err == nil) || err != nil && !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
