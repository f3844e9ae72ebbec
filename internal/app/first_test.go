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
			story := play(t, s, app.Welcome, "I need a laptop", func(p shoal.PendingAction) shoal.PendingAnswer {
				if p.Kind == shoal.PendingPermission {
					if *p.SpaceID != app.Purchasing {
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
	got := play(t, s, app.Welcome, "hello?", func(shoal.PendingAction) shoal.PendingAnswer {
		t.Error("it asks for something")
		return shoal.PendingAnswer{}
	})
	for _, want := range []string{"I am a script", `"I need a laptop"`, "OPENAI_API_KEY"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q but\n%s", want, got)
		}
	}
}

// The agent plays the whole story in another space than Welcome if it is asked there, and
// a person chooses with one answer.
func TestFirstAgentAnswersWhereItIsAsked(t *testing.T) {
	s := begin(t, t.TempDir())
	defer s.Stop()
	approve, answers := true, 0
	story := play(t, s, app.Purchasing, "I need a laptop", func(p shoal.PendingAction) shoal.PendingAnswer {
		answers++
		if p.Kind == shoal.PendingPermission {
			return shoal.PendingAnswer{Approved: &approve}
		}
		return shoal.PendingAnswer{Result: json.RawMessage(`{"chosen":true}`)}
	})
	if answers != 2 || strings.Count(story, "[showProductCard]") != 2 || !strings.Contains(story, "your laptop is ordered") {
		t.Errorf("after %d answers the space shows\n%s", answers, story)
	}
	said, err := s.Hub.Messages.Read(t.Context(), operator, shoal.DefaultSession, app.Welcome, storage.Page{Limit: 50})
	if err != nil || len(said) != 1 {
		t.Errorf("Welcome has %d messages (%v), want the greeting alone", len(said), err)
	}
}

// Welcome begins with a message of the agent that offers messages to send, each of which
// has an answer of its own. Purchasing begins empty.
func TestWelcomeGreets(t *testing.T) {
	s := begin(t, t.TempDir())
	defer s.Stop()
	read := func(space shoal.SpaceID) []shoal.Message {
		said, err := s.Hub.Messages.Read(t.Context(), operator, shoal.DefaultSession, space, storage.Page{Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	said := read(app.Welcome)
	if len(said) != 1 || said[0].EntityID != app.ShopAgent || len(said[0].Parts) != 2 || said[0].Parts[1].Name != shoal.PromptsPart {
		t.Fatalf("Welcome begins with %+v", said)
	}
	var offer struct{ Prompts []string }
	if err := json.Unmarshal(said[0].Parts[1].Data, &offer); err != nil || len(offer.Prompts) != 3 {
		t.Fatalf("the message offers %s (%v)", said[0].Parts[1].Data, err)
	}
	if n := len(read(app.Purchasing)); n != 0 {
		t.Errorf("Purchasing begins with %d messages", n)
	}
	heard := map[string]bool{}
	for _, prompt := range offer.Prompts {
		story := play(t, s, app.Welcome, prompt, func(shoal.PendingAction) shoal.PendingAnswer {
			return shoal.PendingAnswer{Result: json.RawMessage(`{"chosen":false}`)}
		})
		heard[story] = true
	}
	if len(heard) != len(offer.Prompts) {
		t.Errorf("some prompts have the same answer: %v", heard)
	}
}

// play posts to a space, answers the open actions that it sees, and returns what is said
// there afterwards, once the run has ended.
func play(t *testing.T, s *app.Server, space shoal.SpaceID, text string, answer func(shoal.PendingAction) shoal.PendingAnswer) string {
	t.Helper()
	ctx := t.Context()
	follower, err := s.Hub.Events.Follow(ctx, operator, feed.FollowRequest{Session: shoal.DefaultSession})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	_, err = s.Hub.Messages.Post(ctx, operator, shoal.DefaultSession, space, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}, "")
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
				if now, err := s.Hub.Pending.List(ctx, operator, shoal.DefaultSession, storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}}); err != nil || !slices.ContainsFunc(now, func(o shoal.PendingAction) bool { return o.ID == p.ID }) {
					continue // settled by the answer to another one
				}
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
	said, err := s.Hub.Messages.Read(ctx, operator, shoal.DefaultSession, space, storage.Page{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range said {
		if m.EntityID == shoal.Operator && m.Text() == text {
			said = said[i+1:]
			break
		}
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
	if took := time.Since(began); took > 15*time.Second {
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
