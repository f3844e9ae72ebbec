package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// An agent that a tool asks works by itself: nothing of it reaches a space, but
// what it asks people for does, and both go on when it is answered.
func TestSubAgentTool(t *testing.T) {
	w := newWorld(t)
	w.hosts("expert", script.PerTurn(calls(call("e1", "danger", `{}`)), script.Answer{Text: "It costs 5."}),
		`"tools":[{"name":"danger","requiresPermission":true,"displayTool":true,"execution":{"mode":"static","output":{"done":1}}}]`)
	w.shopkeeper(script.PerTurn(calls(call("c1", "consult", `{"prompt":"What does it cost?"}`), send("c2", "One moment.")), silent),
		`"tools":[{"name":"consult","executionType":"ai-agent","execution":{"agentConfig":"expert"}}]`)
	id := w.says("Price?")
	w.reaches(id, shoal.RunWaitingTool)
	w.shows("shop", "bot streaming | One moment. | danger{} requires_action")
	w.answers(id, "e1", `{"approved":true}`)
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", `bot completed | One moment. | danger{} done {"approved":true} by ann`)
	if got := w.results(id)[0]; got != "consult ok: It costs 5." {
		t.Errorf("the model received %s", got)
	}
}

// mcpServer has one tool, which greets.
func mcpServer(t *testing.T) string {
	server := mcp.NewServer(&mcp.Implementation{Name: "kb", Version: "1"}, nil)
	type input struct {
		Name string `json:"name"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello " + in.Name}}}, nil, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() {
		web.Close()
		for s := range server.Sessions() {
			_ = s.Close() // what its client has left
		}
	})
	return web.URL
}

// The tools of MCP servers are the agent's; a server that is not there keeps no run
// from going on.
func TestMCPServers(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "greet", `{"name":"Ann"}`)), silent), fmt.Sprintf(
		`"mcp":{"servers":[{"name":"kb","url":%q,"requiresPermission":false},{"name":"gone","url":"http://127.0.0.1:9/mcp"}]}`, mcpServer(t)))
	id := w.says("Hm?")
	w.reaches(id, shoal.RunCompleted)
	if got := w.results(id)[0]; got != "greet ok: Hello Ann" {
		t.Errorf("the model received %s", got)
	}
}

// A question shows in the trigger's space, and its answer is the call's result.
func TestQuestion(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "ask_user", `{"question":"Red or blue?","options":["red","blue"]}`)), silent), "")
	id := w.says("A lamp.")
	w.reaches(id, shoal.RunWaitingTool)
	row := w.rows(id)[0]
	if row.Kind != shoal.PendingQuestion || row.Question == nil || *row.Question != "Red or blue?" || len(row.Options) != 2 || row.SpaceID == nil || *row.SpaceID != "shop" {
		t.Errorf("it asks %+v", row.PendingAction)
	}
	w.answers(id, "c1", `{"answer":"red"}`)
	w.reaches(id, shoal.RunCompleted)
	if got := w.results(id)[0]; got != "ask_user ok: red" {
		t.Errorf("the model received %s", got)
	}
}

// A permission that is to be remembered is not asked for again, in this run and in
// later ones.
func TestRememberedPermission(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("", "danger", `{}`)), calls(call("", "danger", `{"n":1}`)), silent), cards)
	id := w.says("Do it.")
	w.reaches(id, shoal.RunWaitingTool)
	w.answers(id, w.rows(id)[0].ToolCallID, `{"approved":true,"remember":{"decision":"allow","scope":"tool"}}`)
	w.reaches(id, shoal.RunCompleted)
	w.reaches(w.says("Again."), shoal.RunCompleted)
}

// A client's result that does not fit the tool's outputSchema settles nothing.
func TestResultViolatesSchema(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "pick", `{"targetSpaceId":"shop"}`)), silent), cards)
	id := w.says("Hm?")
	w.reaches(id, shoal.RunWaitingTool)
	if err := w.tryAnswer(id, "c1", `{"result":{"color":1}}`); shoal.KindOf(err) != shoal.InvalidArgument {
		t.Errorf("the answer is taken: %v", err)
	}
	w.answers(id, "c1", `{"result":{"chosen":1}}`)
	w.reaches(id, shoal.RunCompleted)
}

// Delegating ends the run and starts the other agent with the same trigger.
func TestDelegate(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "delegateToAgent", `{"targetAgentEntityId":"helper"}`)), silent), "")
	bot := shoal.EntityID("bot")
	_, err := w.hub.Spaces.Update(t.Context(), ann, session, "shop", shoal.SpaceChange{AdminAgentID: &bot})
	w.must(err)
	w.hosts("helper", script.PerTurn(calls(send("h1", "I do it.")), silent), "")
	w.join("shop", "helper")
	id := w.says("Do it.")
	r := w.reaches(id, shoal.RunCanceled)
	if !strings.Contains(r.Error.Message, "delegated") {
		t.Errorf("its error is %+v", r.Error)
	}
	w.until("the helper has done it", func() bool {
		got := strings.Join(w.timeline("shop"), "")
		return got == "helper completed | I do it."
	})
}

// Budgets end runs.
func TestBudgets(t *testing.T) {
	w := newWorld(t)
	loop := script.Func(func(req *agent.Request) script.Answer {
		a := calls(call("", "getMyRuns", fmt.Sprintf(`{"status":"r%d"}`, len(req.Messages))))
		a.Usage = agent.Usage{InputTokens: 100, OutputTokens: 10}
		return a
	})
	w.shopkeeper(loop, `"budget":{"maxTokensPerRun":150},"loop":{"maxConsecutiveErrors":0}`)
	r := w.reaches(w.says("Go."), shoal.RunFailed)
	if r.Error.Code != "budget_exhausted" || r.Steps != 2 {
		t.Errorf("after %d steps its error is %+v", r.Steps, r.Error)
	}
	w.hosts("bot", loop, `"budget":{"maxCostPerDay":1}`)
	w.must(w.store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
		return tx.AddUsage(session, storage.StepUsage{Run: "run_before", Agent: "bot", Model: "m", At: shoal.Now(), Usage: shoal.Usage{Cost: 1.5}})
	}))
	r = w.reaches(w.says("Go."), shoal.RunFailed)
	if r.Error.Code != "budget_exhausted" || r.Steps != 0 {
		t.Errorf("after %d steps its error is %+v", r.Steps, r.Error)
	}
}

// An MCP server that cannot be reached costs its tools: the steps, their events and
// the model's prompt name them.
func TestUnreachableServerIsShown(t *testing.T) {
	w := newWorld(t)
	var prompt string
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		prompt = req.Messages[0].Text()
		return silent
	}), `"mcp":{"servers":[{"name":"gone","url":"http://127.0.0.1:9/mcp","allowedTools":["find","buy"]},{"name":"lost","url":"http://127.0.0.1:9/mcp"}]}`)
	id := w.says("Find it.")
	w.reaches(id, shoal.RunCompleted)
	for _, want := range []string{`<missing server="gone">find buy</missing>`, `<missing server="lost">all tools of this server</missing>`} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt does not contain %s:\n%s", want, prompt)
		}
	}
	check := func(where string, missing []shoal.MissingTool) {
		t.Helper()
		if len(missing) != 2 || missing[0].Server != "gone" || strings.Join(missing[0].Tools, " ") != "find buy" || missing[1].Tools == nil ||
			!strings.Contains(missing[1].Message, `"lost" are missing`) {
			t.Errorf("%s names %+v", where, missing)
		}
	}
	steps, err := w.hub.Runs.Steps(t.Context(), admin, session, id)
	w.must(err)
	check("the step", steps[0].MissingTools)
	seen := 0
	w.read(func(tx storage.Tx) error {
		events, err := tx.Events(session, storage.EventFilter{Run: id}, 0, 200)
		for _, e := range events {
			var data shoal.StepData
			if e.Type == shoal.EventStepStarted || e.Type == shoal.EventStepCompleted {
				seen++
				w.must(json.Unmarshal(e.Data, &data))
				check(string(e.Type), data.Step.MissingTools)
			}
		}
		return err
	})
	if seen != 2 {
		t.Errorf("%d events of steps, want 2", seen)
	}
}

// At the last step the run fails, or asks for more.
func TestSteps(t *testing.T) {
	w := newWorld(t)
	n := 0
	w.shopkeeper(script.Func(func(*agent.Request) script.Answer {
		if n++; n > 3 {
			return silent
		}
		return calls(call("", "rest", fmt.Sprintf(`{"duration":%d}`, n)))
	}), `"loop":{"maxSteps":2,"continuation":5},`+cards)
	id := w.says("Go.")
	w.reaches(id, shoal.RunWaitingTool)
	var asked *storage.Pending
	for _, row := range w.rows(id) {
		if row.Kind == shoal.PendingPermission {
			asked = &row
		}
	}
	if asked == nil || asked.ToolName != "" || asked.Question == nil || !strings.Contains(*asked.Question, "2 steps") {
		t.Fatalf("it asks %+v", asked)
	}
	w.answers(id, "", `{"approved":true}`)
	if r := w.reaches(id, shoal.RunCompleted); r.Steps != 4 {
		t.Errorf("it took %d steps", r.Steps)
	}
}

// A run that has used its steps ends with an answer, for which the model can call nothing,
// and posts it; where nobody would see it, the run fails.
func TestClosingAnswer(t *testing.T) {
	const failed = "system completed @[ann] | bot could not answer (max_steps): The turn used all of its 1 steps. Ask again for less at once, or raise loop.maxSteps of the agent."
	for name, c := range map[string]struct {
		closing script.Answer
		status  shoal.RunStatus
		limit   string
		steps   int
		shows   []string
	}{
		"auto":        {script.Answer{Text: "One of two."}, shoal.RunCompleted, "max_steps", 2, []string{"bot completed | Looking. | One of two."}},
		"stream":      {script.Answer{Text: "One of two."}, shoal.RunCompleted, "max_steps", 2, []string{"bot completed | Looking. | One of two."}},
		"tool":        {script.Answer{Text: "One of two."}, shoal.RunFailed, "", 1, []string{"bot failed | Looking.", failed}},
		"auto, off":   {script.Answer{Text: "One of two."}, shoal.RunFailed, "", 1, []string{"bot failed | Looking.", failed}},
		"auto, calls": {calls(send("c2", "More.")), shoal.RunFailed, "", 2, []string{"bot failed | Looking. | More.", strings.Replace(failed, "1 steps.", "1 steps. In place of a closing answer the model called tools.", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := 0
			reply, off, _ := strings.Cut(name, ", ")
			w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
				if n++; n == 1 {
					return calls(send("c1", "Looking."))
				}
				if req.ToolChoice.Mode != agent.ToolsNone || n > 2 {
					t.Errorf("call %d may call %s", n, req.ToolChoice.Mode)
				}
				return c.closing
			}), fmt.Sprintf(`"loop":{"maxSteps":1,"closingAnswer":%t},"reply":%q`, off != "off", reply))
			if r := w.reaches(w.says("Look twice."), c.status); r.Steps != c.steps || r.Steps > r.MaxSteps || r.LimitReached != c.limit {
				t.Errorf("it took %d steps of %d, and reached the limit %q", r.Steps, r.MaxSteps, r.LimitReached)
			}
			w.shows("shop", c.shows...)
		})
	}
}

// An agent that is deleted while its run waits ends it.
func TestAgentIsDeleted(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "pick", `{"targetSpaceId":"shop"}`)), silent), cards)
	id := w.says("Hm?")
	w.reaches(id, shoal.RunWaitingTool)
	w.must(w.hub.Agents.Delete(t.Context(), admin, session, "bot"))
	w.reaches(id, shoal.RunCanceled)
	w.shows("shop", "bot canceled | pick{} canceled !canceled")
}

// A run keeps the configuration that it began with.
func TestConfigurationOfARunStays(t *testing.T) {
	w := newWorld(t)
	model := script.PerTurn(calls(call("c1", "pick", `{"targetSpaceId":"shop"}`)), calls(call("c2", "lamp", `{}`)), silent)
	w.shopkeeper(model, cards)
	id := w.says("Hm?")
	w.reaches(id, shoal.RunWaitingTool)
	w.hosts("bot", model, "")
	w.answers(id, "c1", `{"result":{"chosen":1}}`)
	w.reaches(id, shoal.RunCompleted)
	if got := w.results(id)[1]; !strings.HasPrefix(got, "lamp ok") {
		t.Errorf("the model received %s", got)
	}
}

// What a service starts has no space: only services and admins see what it asks,
// and it may say something where the agent is.
func TestServiceTrigger(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "danger", `{}`), send("c2", "The bill is here.")), silent), cards)
	r, err := w.hub.Runs.Trigger(t.Context(), admin, session, "bot", "billing", []byte(`{"bill":7}`), "")
	w.must(err)
	w.reaches(r.ID, shoal.RunWaitingTool)
	row := w.rows(r.ID)[0]
	if row.SpaceID != nil || row.PartID != nil {
		t.Errorf("it asks in %+v", row.PendingAction)
	}
	yes := true
	if _, err := w.hub.Pending.Answer(t.Context(), ann, session, row.ID, shoal.PendingAnswer{Approved: &yes}); shoal.KindOf(err) != shoal.NotFound {
		t.Errorf("ann may answer it: %v", err)
	}
	_, err = w.hub.Pending.Answer(t.Context(), admin, session, row.ID, shoal.PendingAnswer{Approved: &yes})
	w.must(err)
	w.reaches(r.ID, shoal.RunCompleted)
	w.shows("shop", "bot completed | The bill is here.")
}

// A part that is for one member carries the member; one that is for a stranger is
// an error.
func TestTargetedTool(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(
		calls(
			call("c1", "whisper", `{"targetSpaceId":"shop","targetEntityId":"ann","text":"psst"}`),
			call("c2", "whisper", `{"targetSpaceId":"shop","targetEntityId":"eve","text":"psst"}`),
		), silent),
		`"tools":[{"name":"whisper","displayTool":true,"targeted":true,"execution":{"mode":"no-execution"}}]`)
	id := w.says("Hm?")
	w.reaches(id, shoal.RunWaitingTool)
	rows := w.rows(id)
	if len(rows) != 1 || rows[0].Target != "ann" {
		t.Errorf("it asks %+v", rows)
	}
	w.answers(id, "c1", `{"result":1}`)
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", `bot completed | whisper{"text":"psst"} done 1 by ann`)
	if got := w.results(id)[1]; !strings.HasPrefix(got, "whisper failed: Error: targetEntityId is not a member") {
		t.Errorf("the model received %s", got)
	}
}
