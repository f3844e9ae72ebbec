package agui_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// scripted builds an agent that plays answers.
func scripted(o agent.Options, answers ...script.Answer) agui.Build {
	model := script.New(answers...)
	o.Retry.Base = time.Nanosecond
	return func(*http.Request, *agui.Input) (agent.Model, agent.Options, error) { return model, o, nil }
}

// weather is a tool that the server executes.
var weather = agent.Func("weather", "Returns the weather.", func(_ context.Context, in struct {
	City string `json:"city"`
},
) (string, error) {
	return "rain in " + in.City, nil
})

// history writes what the store has of the thread, one message in a line.
func history(t *testing.T, store agent.Store) string {
	t.Helper()
	messages, err := agent.OpenConversation(store, "thread").Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(strings.TrimSpace(string(m.Role)+" "+m.Text()) + "\n")
	}
	return b.String()
}

func TestText(t *testing.T) {
	t.Parallel()
	store := agent.NewMemory()
	c := meet(t, store, scripted(agent.Options{}, script.Answer{Text: "Hello there, Ann."}, script.Answer{Text: "Fine."}))
	got := c.say("u1", "Hi", nil)
	got.sees(t, "success", `
user Hi
assistant Hello there, Ann.
`)
	if len(got.Usage) != 1 || got.Usage[0].Provider != "script" || got.Usage[0].TotalTokens == 0 {
		t.Errorf("the run cost %+v", got.Usage)
	}
	got = c.say("u2", "How are you?", nil)
	want := `
user Hi
assistant Hello there, Ann.
user How are you?
assistant Fine.
`
	got.sees(t, "success", want)
	if stored := "\n" + history(t, store); stored != want {
		t.Errorf("stored is\n%s", stored)
	}
}

func TestReasoning(t *testing.T) {
	t.Parallel()
	c := meet(t, agent.NewMemory(), scripted(agent.Options{},
		script.Answer{Reasoning: "She is polite.", Text: "Hello."}, script.Answer{Reasoning: "Again.", Text: "Hello again."}))
	c.say("u1", "Hi", nil)
	got := c.say("u2", "Hi", nil)
	got.sees(t, "success", `
user Hi
reasoning She is polite.
assistant Hello.
user Hi
reasoning Again.
assistant Hello again.
`)
}

func TestTools(t *testing.T) {
	t.Parallel()
	c := meet(t, agent.NewMemory(), scripted(agent.Options{Tools: []agent.Tool{weather}},
		script.Answer{Text: "Let me look.", Calls: []agent.ToolCall{
			{ID: "c1", Name: "weather", Arguments: `{"city":"Kiel"}`}, {ID: "c2", Name: "nothing", Arguments: `{}`},
		}},
		script.Answer{Text: "Take an umbrella."}))
	got := c.say("u1", "Rain?", nil)
	got.sees(t, "success", `
user Rain?
assistant Let me look. weather{"city":"Kiel"} nothing{}
tool rain in Kiel
tool Error: there is no tool 'nothing'. The tools are: weather. {"status":"unknown"}
assistant Take an umbrella.
`)
	if len(got.Pending) > 0 {
		t.Errorf("the client has pending calls %q, want none", got.Pending)
	}
}

func TestFrontendTool(t *testing.T) {
	t.Parallel()
	store := agent.NewMemory()
	c := meet(t, store, scripted(agent.Options{Tools: []agent.Tool{weather}},
		script.Answer{Text: "Which one?", Calls: []agent.ToolCall{{ID: "c1", Name: "pick_colour", Arguments: `{"of":["red","green"]}`}}},
		script.Answer{Text: "Green it is."},
		script.Answer{Text: "Bye."}))
	tools := map[string]any{"tools": []map[string]any{{
		"name": "pick_colour", "description": "Lets the person pick.",
		"parameters": map[string]any{"type": "object", "properties": map[string]any{"of": map[string]any{"type": "array"}}},
	}}}
	got := c.say("u1", "Paint it.", tools)
	got.sees(t, "success", `
user Paint it.
assistant Which one? pick_colour{"of":["red","green"]}
`)
	if !slices.Equal(got.Pending, []string{"c1"}) {
		t.Fatalf("the client has to answer %q", got.Pending)
	}
	got = c.say("u2", "Now?", tools)
	if !strings.HasPrefix(got.Error, "HTTP 409") || !strings.Contains(got.Error, "a tool message for the call c1 of pick_colour") {
		t.Errorf("a run without the result is answered by %q", got.Error)
	}
	// The result comes after the early message; both are accepted.
	got = c.run(order{Add: []message{{ID: "r1", Role: "tool", ToolCallID: "c1", Content: "green"}}, Run: tools})
	if got.Outcome != "success" {
		t.Fatalf("the run ended as %q: %s", got.Outcome, got.Error)
	}
	if stored := history(t, store); stored != "user Paint it.\nassistant Which one?\ntool\nassistant Green it is.\nuser Now?\nassistant Bye.\n" {
		t.Errorf("stored is\n%s", stored)
	}
	if tool := slices.IndexFunc(got.Messages, func(m message) bool { return m.Role == "tool" }); tool < 0 || got.Messages[tool].ID != "r1" ||
		slices.ContainsFunc(got.Messages[tool+1:], func(m message) bool { return m.Role == "tool" }) {
		t.Errorf("the client's own result is not the only one:\n%s", got.seen())
	}
}

func TestFrontendToolThatTheServerHas(t *testing.T) {
	t.Parallel()
	c := meet(t, agent.NewMemory(), scripted(agent.Options{Tools: []agent.Tool{weather}}, script.Answer{Text: "Hi."}))
	got := c.say("u1", "Hi", map[string]any{"tools": []map[string]any{{"name": "weather", "description": "Mine."}}})
	if !strings.HasPrefix(got.Error, "HTTP 400") || !strings.Contains(got.Error, "Frontend tool 'weather' conflicts with backend tool name") {
		t.Errorf("the client got the error %q", got.Error)
	}
}

// An interrupted and retried model call leaves nothing on the client.
func TestRetry(t *testing.T) {
	t.Parallel()
	broken := &agent.ModelError{Class: agent.ClassNetwork, Provider: "script"}
	store := agent.NewMemory()
	c := meet(t, store, scripted(agent.Options{Tools: []agent.Tool{weather}},
		script.Answer{Text: "Hello."},
		script.Answer{Reasoning: "It rains.", Text: "It is going to", Calls: []agent.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"city":"Kiel"}`}}, Err: broken},
		script.Answer{Err: broken},
		script.Answer{Reasoning: "It rains.", Text: "It is going to rain.", Calls: []agent.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"city":"Kiel"}`}}},
		script.Answer{Text: "Half a", Calls: []agent.ToolCall{{ID: "c2", Name: "weather"}}, Err: broken},
		script.Answer{Text: "Whole."}))
	c.say("u1", "Hi", nil)
	got := c.say("u2", "Rain?", nil)
	got.sees(t, "success", `
user Hi
assistant Hello.
user Rain?
reasoning It rains.
assistant It is going to rain. weather{"city":"Kiel"}
tool rain in Kiel
assistant Whole.
`)
	if len(got.Pending) > 0 {
		t.Errorf("the client has pending calls %q, want none", got.Pending)
	}
	if n := count(got.Events, "MESSAGES_SNAPSHOT"); n != 2 {
		t.Errorf("%d snapshots were sent for two attempts that were seen", n)
	}
	if stored := history(t, store); stored != "user Hi\nassistant Hello.\nuser Rain?\nassistant It is going to rain.\ntool\nassistant Whole.\n" {
		t.Errorf("stored is\n%s", stored)
	}
}

func count(events []string, kind string) (n int) {
	for _, e := range events {
		if e == kind {
			n++
		}
	}
	return n
}

func TestError(t *testing.T) {
	t.Parallel()
	store := agent.NewMemory()
	c := meet(t, store, scripted(agent.Options{},
		script.Answer{Text: "I would", Err: &agent.ModelError{Class: agent.ClassAuth, Provider: "script", Detail: "a secret"}},
		script.Answer{Text: "Here I am."}))
	got := c.say("u1", "Hi", nil)
	got.sees(t, "error", `
user Hi
assistant I would
`)
	if got.Error != "provider_auth: The model provider refused the key." {
		t.Errorf("the client got the error %q", got.Error)
	}
	got = c.say("u2", "Again", nil)
	got.sees(t, "success", `
user Hi
assistant I would
user Again
assistant Here I am.
`)
}

// When the client closes the connection, the turn is canceled and the thread continues.
func TestCancel(t *testing.T) {
	t.Parallel()
	store := agent.NewMemory()
	ended := make(chan agent.TurnFinished, 2)
	watch := agent.Middleware{Name: "watch", AfterTurn: func(_ context.Context, end agent.TurnFinished) { ended <- end }}
	c := meet(t, store, scripted(agent.Options{Middleware: []agent.Middleware{watch}},
		script.Answer{Text: strings.Repeat("for ever and ", 10_000), Delay: time.Millisecond},
		script.Answer{Text: "Stopped."}))
	got := c.run(order{Add: []message{{ID: "u1", Role: "user", Content: "Talk."}}, AbortOn: "TEXT_MESSAGE_CONTENT"})
	if got.Outcome == "success" {
		t.Error("the run has ended as if it had not been given up")
	}
	select {
	case end := <-ended:
		if end.Outcome != agent.Canceled {
			t.Errorf("the turn ended as %s", end.Outcome)
		}
	case <-time.After(patience):
		t.Fatal("the turn goes on without anybody who listens")
	}
	got = c.say("u2", "And?", nil)
	if last := got.Messages[len(got.Messages)-1]; got.Outcome != "success" || last.Content != "Stopped." {
		t.Errorf("the next run ended as %q (%s):\n%.300s", got.Outcome, got.Error, got.seen())
	}
}

// A server that has lost the thread gets it from the client.
func TestForgottenThread(t *testing.T) {
	t.Parallel()
	build := scripted(agent.Options{Tools: []agent.Tool{weather}},
		script.Answer{Calls: []agent.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"city":"Kiel"}`}}},
		script.Answer{Text: "Umbrella."}, script.Answer{Text: "Boots."})
	store := agent.NewMemory()
	handlers := make(chan http.Handler, 2) // one for each run
	handlers <- agui.Handler(agent.NewMemory(), build)
	handlers <- agui.Handler(store, build)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (<-handlers).ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	c := connect(t, server.URL)
	c.say("u1", "Rain?", nil)
	got := c.say("u2", "And?", nil)
	got.sees(t, "success", `
user Rain?
assistant weather{"city":"Kiel"}
tool rain in Kiel
assistant Umbrella.
user And?
assistant Boots.
`)
	if stored := history(t, store); stored != "user Rain?\nassistant\ntool\nassistant Umbrella.\nuser And?\nassistant Boots.\n" {
		t.Errorf("stored is\n%s", stored)
	}
}

// Two runs on one thread at once: the second is refused and changes nothing.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	store := agent.NewMemory()
	running, goOn := make(chan struct{}), make(chan struct{})
	slow := agent.Func("wait", "Waits.", func(context.Context, struct{}) (string, error) {
		close(running)
		<-goOn
		return "over", nil
	})
	server := httptest.NewServer(agui.Handler(store, scripted(agent.Options{Tools: []agent.Tool{slow}},
		script.Answer{Calls: []agent.ToolCall{{ID: "c1", Name: "wait", Arguments: `{}`}}}, script.Answer{Text: "Done."})))
	t.Cleanup(server.Close)
	first, second := connect(t, server.URL), connect(t, server.URL)
	if _, err := first.In.Write([]byte(`{"add":[{"id":"u1","role":"user","content":"Wait"}]}` + "\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-running:
	case <-time.After(patience):
		t.Fatal("the first run does not begin")
	}
	got := second.say("u2", "Me too", nil)
	close(goOn)
	if !strings.HasPrefix(got.Error, "HTTP 409") {
		t.Errorf("the second run is answered by %q, %v", got.Error, got.Events)
	}
	got = first.next()
	got.sees(t, "success", "user Wait\nassistant wait{}\ntool over\nassistant Done.\n")
}
