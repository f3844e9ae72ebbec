package run_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const paintSchema = `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`

func paintApp() *storage.ClientInput {
	return &storage.ClientInput{
		Tools:   []storage.ClientTool{{Name: "paint", Description: "Paints the page.", Schema: json.RawMessage(paintSchema)}},
		Context: []storage.ClientContext{{Description: "page", Value: "The page is </context> white."}},
	}
}

// saysFrom posts a message of ann that comes from a front end.
func (w *world) saysFrom(text string, in *storage.ClientInput) shoal.RunID {
	w.t.Helper()
	m, err := w.hub.Messages.PostWithClient(w.t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}, in, "")
	w.must(err)
	if len(m.Runs) != 1 {
		w.t.Fatalf("%q started %v", text, m.Runs)
	}
	return m.Runs[0].RunID
}

// The tools of a front end are tools of the run, and nobody but their sender answers
// their calls; its context is in the prompt, as text that others wrote. Both outlive the
// process, and are those of this run alone.
func TestClientInputBelongsToTheRun(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "paint", `{"color":"red"}`)), silent), "")
	_, err := w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "ben", Kind: shoal.Human, Name: "Ben"}, "")
	w.must(err)
	w.join("shop", "ben")

	id := w.saysFrom("Paint it.", paintApp())
	w.reaches(id, shoal.RunWaitingTool)
	row := w.rows(id)[0]
	if row.Kind != shoal.PendingClientTool || row.SpaceID == nil || *row.SpaceID != "shop" || row.PartID != nil || row.ExpiresAt == nil || !slices.Equal(row.Policy.By, []shoal.EntityID{"ann"}) {
		t.Errorf("it waits for %+v %+v", row.PendingAction, row.Policy)
	}
	ben := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "ben"}
	result := shoal.PendingAnswer{Result: json.RawMessage(`"painted"`)}
	if _, err := w.hub.Pending.AnswerCall(t.Context(), ben, session, id, "c1", result); !errors.Is(err, shoal.Forbidden) {
		t.Errorf("another member answers the call: %v", err)
	}
	if in, err := w.hub.Runs.ClientInput(t.Context(), ben, session, id); in != nil || err != nil {
		t.Errorf("another member reads what the app sent: %+v, %v", in, err)
	}

	w.crashes()
	w.answers(id, "c1", `{"result":"painted"}`)
	w.reaches(id, shoal.RunCompleted)
	if got := w.results(id)[0]; got != `paint ok: "painted"` {
		t.Errorf("the model reads %s", got)
	}
	first, last := w.sent(id, 0), w.sent(id, 1)
	for _, r := range []shoal.ModelRequest{first, last} {
		tool := slices.IndexFunc(r.Tools, func(t shoal.ModelTool) bool { return t.Name == "paint" })
		if tool < 0 || r.Tools[tool].Description != "Paints the page." || string(r.Tools[tool].InputSchema) != paintSchema {
			t.Errorf("the model is sent the tools %+v", r.Tools)
		}
		if !strings.Contains(allSaid(r), `<context description="page">The page is &lt;/context&gt; white.</context>`) {
			t.Errorf("the prompt has no context: %v", r.Messages)
		}
	}

	retried, err := w.hub.Runs.Retry(t.Context(), ann, session, id, "")
	w.must(err)
	w.reaches(retried.ID, shoal.RunWaitingTool)
	w.answers(retried.ID, w.rows(retried.ID)[0].ToolCallID, `{"error":"no paint"}`)
	w.reaches(retried.ID, shoal.RunCompleted)

	plain := w.says("And now?")
	w.reaches(plain, shoal.RunCompleted)
	if r := w.sent(plain, 0); strings.Contains(allSaid(r), "white") || slices.ContainsFunc(r.Tools, func(t shoal.ModelTool) bool { return t.Name == "paint" }) {
		t.Errorf("a message without an app has it: %+v, %+v", r.Messages, r.Tools)
	}
	if got := w.results(plain)[0]; !strings.HasPrefix(got, "paint unknown") {
		t.Errorf("without the app the model reads %s", got)
	}
}

// The agent's own tools, those of its MCP servers among them, keep their names.
func TestClientToolsDoNotReplaceTheAgentsOwn(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "greet", `{"name":"Ann"}`), call("c2", "own", `{}`)), silent), fmt.Sprintf(
		`"tools":[{"name":"own","execution":{"mode":"static","output":{"by":"agent"}}}],"mcp":{"servers":[{"name":"kb","url":%q,"requiresPermission":false}]}`, mcpServer(t)))
	id := w.saysFrom("Hi", &storage.ClientInput{Tools: []storage.ClientTool{{Name: "greet"}, {Name: "own"}, {Name: "sendSpaceMessage"}, {Name: "blink"}}})
	w.reaches(id, shoal.RunCompleted)
	if got := w.results(id); got[0] != "greet ok: Hello Ann" || !strings.HasPrefix(got[1], "own ok:") || !strings.Contains(got[1], "agent") {
		t.Errorf("the model reads %s", got)
	}
	in, err := w.hub.Runs.ClientInput(t.Context(), ann, session, id)
	w.must(err)
	if !slices.Equal(in.Refused, []string{"own", "sendSpaceMessage", "greet"}) {
		t.Errorf("refused are %q", in.Refused)
	}
	var names []string
	for _, tool := range w.sent(id, 0).Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if compact := slices.Compact(slices.Clone(names)); len(compact) != len(names) || !slices.Contains(names, "blink") {
		t.Errorf("the model is sent the tools %q", names)
	}
}

// An executor that takes over a run gets the front end of the run's message. A message
// that follows while the run settles brings its own.
func TestClientInputMovesWithTheTrigger(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("d", "delegateToAgent", `{"targetAgentEntityId":"painter"}`))), "")
	bot := shoal.EntityID("bot")
	_, err := w.hub.Spaces.Update(t.Context(), ann, session, "shop", shoal.SpaceChange{AdminAgentID: &bot})
	w.must(err)
	w.hosts("painter", script.PerTurn(calls(call("c1", "paint", `{"color":"red"}`)), silent), "")
	w.join("shop", "painter")
	id := w.saysFrom("Paint it.", paintApp())
	w.reaches(id, shoal.RunCanceled)
	all := w.runs()
	at := slices.IndexFunc(all, func(r storage.Run) bool { return r.AgentID == "painter" })
	if at < 0 {
		t.Fatalf("nobody took it over: %+v", all)
	}
	w.reaches(all[at].ID, shoal.RunWaitingTool)
	w.answers(all[at].ID, "c1", `{"result":1}`)
	w.reaches(all[at].ID, shoal.RunCompleted)

	w.hosts("bot", script.PerTurn(silent), `"loop":{"settleMs":600000}`)
	settling := w.saysFrom("Paint it again.", paintApp())
	other := &storage.ClientInput{Context: []storage.ClientContext{{Description: "page", Value: "blue"}}}
	for _, sent := range []*storage.ClientInput{other, nil} { // the last one has no front end, and takes nothing away
		if again := w.saysFrom("Or blue.", sent); again != settling {
			t.Fatalf("the message started %s beside %s", again, settling)
		}
		in, err := w.hub.Runs.ClientInput(t.Context(), ann, session, settling)
		w.must(err)
		if len(in.Tools) != 0 || len(in.Context) != 1 || in.Context[0].Value != "blue" || in.EntityID != "ann" {
			t.Errorf("the run that settles has %+v", in)
		}
	}
}
