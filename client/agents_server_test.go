package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// clerk is an agent that says one word.
const clerk = `version: "1.0"
agent: {name: Clerk, system: You answer.}
model: {provider: script, name: clerk, providerOptions: {script: "say  Done."}}
`

// A hosted agent from its configuration to its end, in the words of this package,
// against the real server.
func TestAHostedAgentOnARealServer(t *testing.T) {
	ctx := t.Context()
	_, admin := realServer(t)
	lab := admin.Session("default")
	first := must[shoal.HostedAgent](t)(lab.PutAgent(ctx, "clerk", client.ConfigYAML, []byte(clerk)))
	again := must[shoal.HostedAgent](t)(lab.PutAgent(ctx, "clerk", client.ConfigYAML, []byte("# the same\n"+clerk)))
	changed := must[shoal.HostedAgent](t)(lab.PutAgent(ctx, "clerk", client.ConfigJSON, []byte(
		`{"version":"1.0","agent":{"name":"Clerk","system":"You answer well."},"model":{"provider":"script","name":"clerk","providerOptions":{"script":"say  Well done."}}}`)))
	old := must[shoal.HostedAgent](t)(lab.Agent(ctx, "clerk", 1))
	if first.Version != 1 || again.Version != 1 || changed.Version != 2 || old.Hash != first.Hash || changed.Hash == first.Hash {
		t.Errorf("versions %d, %d, %d; hashes %s, %s", first.Version, again.Version, changed.Version, old.Hash, changed.Hash)
	}
	var hosted []shoal.EntityID
	for a, err := range lab.Agents(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		hosted = append(hosted, a.ID)
	}
	if !slices.Contains(hosted, "clerk") {
		t.Errorf("hosted agents %v", hosted)
	}
	_, err := lab.PutAgent(ctx, "clerk", client.ConfigYAML, []byte("version: '1.0'\nagent: {systm: x}\n"))
	var e *shoal.Error
	if !errors.As(err, &e) || e.Kind != shoal.InvalidArgument || len(e.Fields) < 2 {
		t.Errorf("a wrong configuration: %v", err)
	}

	one := must[client.TriggeredRun](t)(lab.TriggerAgent(ctx, "clerk", "billing", json.RawMessage(`{"n":1}`), client.IdempotencyKey("k1")))
	two := must[client.TriggeredRun](t)(lab.TriggerAgent(ctx, "clerk", "billing", json.RawMessage(`{"n":1}`), client.IdempotencyKey("k1")))
	if one.RunID == "" || one.RunID != two.RunID || one.AgentID != "clerk" {
		t.Errorf("triggered %+v, then %+v", one, two)
	}
	run := ended(t, lab, one.RunID)
	if run.Status != shoal.RunCompleted || run.Trigger.ServiceName != "billing" || string(run.Trigger.Payload) != `{"n":1}` {
		t.Errorf("run = %+v", run)
	}
	if r := must[shoal.Run](t)(lab.CancelRun(ctx, one.RunID)); r.Status != shoal.RunCompleted {
		t.Errorf("canceled after its end: %+v", r)
	}
	if saw := must[shoal.ModelRequest](t)(lab.ModelRequest(ctx, one.RunID, 0)); !strings.Contains(saw.System, "You answer well.") || len(saw.Tools) == 0 || len(saw.Messages) != 2 ||
		saw.Messages[1].Role != "user" || !strings.Contains(saw.Messages[1].Content[0].Text, `{"n":1}`) {
		t.Errorf("the model saw %+v", saw)
	}
	if _, err := lab.ModelRequest(ctx, one.RunID, 9); !errors.Is(err, shoal.NotFound) {
		t.Errorf("of a step that was not taken: %v", err)
	}
	var versions []int
	for a, err := range lab.AgentVersions(ctx, "clerk") {
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, a.Version)
	}
	if !slices.Equal(versions, []int{2, 1}) {
		t.Errorf("the versions are %v", versions)
	}
	for space, config := range map[shoal.SpaceID]string{"": "", "welcome": strings.ReplaceAll(clerk, "You answer.", "You ask.")} {
		shown := must[shoal.AgentPreview](t)(lab.PreviewAgent(ctx, "clerk", client.ConfigYAML, []byte(config), space))
		if asks := strings.Contains(shown.System, "You ask."); asks != (config != "") || shown.Input == "" || len(shown.Tools) == 0 || (len(shown.Warnings) > 0) != (space != "") {
			t.Errorf("in %q a preview shows %+v", space, shown)
		}
	}
	if again := must[shoal.HostedAgent](t)(lab.Agent(ctx, "clerk", 0)); again.Version != 2 {
		t.Errorf("a preview has made version %d", again.Version)
	}
	steps, used := 0, int64(0)
	for s, err := range lab.Steps(ctx, one.RunID) {
		if err != nil {
			t.Fatal(err)
		}
		steps, used = steps+1, used+s.Usage.InputTokens
	}
	if steps == 0 || steps != run.Steps || used != run.Usage.InputTokens {
		t.Errorf("%d steps with %d tokens, of a run with %d and %d", steps, used, run.Steps, run.Usage.InputTokens)
	}
	for u, err := range lab.Usage(ctx, client.UsageOptions{By: []string{"agent", "run"}, Agent: "clerk"}) {
		if err != nil || u.RunID != one.RunID || u.InputTokens != used {
			t.Errorf("usage %+v, %v", u, err)
		}
	}
	for r, err := range lab.Runs(ctx, client.RunsOptions{Agent: "clerk", Status: []shoal.RunStatus{shoal.RunCompleted, shoal.RunFailed}}) {
		if err != nil || r.ID != one.RunID {
			t.Errorf("listed %+v, %v", r, err)
		}
	}

	retried := must[client.TriggeredRun](t)(lab.RetryRun(ctx, one.RunID))
	if run := ended(t, lab, retried.RunID); run.ID == one.RunID || string(run.Trigger.Payload) != `{"n":1}` || run.CauseRoot != must[shoal.Run](t)(lab.Run(ctx, one.RunID)).CauseRoot {
		t.Errorf("started again: %+v", run)
	}

	cron := "0 9 * * 1-5"
	plan := must[shoal.Plan](t)(lab.CreatePlan(ctx, "clerk", shoal.NewPlan{Name: "daily", Cron: &cron, TimeZone: "Europe/Berlin"}))
	paused := shoal.PlanPaused
	if plan = must[shoal.Plan](t)(lab.ChangePlan(ctx, plan.ID, shoal.PlanChange{Status: &paused})); plan.Status != shoal.PlanPaused {
		t.Errorf("plan = %+v", plan)
	}
	if err := errors.Join(drain(lab.Plans(ctx, "clerk")), lab.DeletePlan(ctx, plan.ID), lab.DeleteAgent(ctx, "clerk")); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Agent(ctx, "clerk", 0); !errors.Is(err, shoal.NotFound) {
		t.Errorf("an agent that is hosted no more: %v", err)
	}
}

// ended follows a run to its end.
func ended(t *testing.T, s *client.Session, id shoal.RunID) (run shoal.Run) {
	t.Helper()
	for e, err := range s.Follow(t.Context(), client.FollowOptions{Run: id}) {
		if err != nil {
			t.Fatal(err)
		}
		var data shoal.RunData
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		if data.Run.Status.Ended() {
			return data.Run
		}
	}
	t.Fatal("the stream ended before the run")
	return run
}

// What an agent asks for is listed and answered, once.
func TestAnsweringOnARealServer(t *testing.T) {
	ctx := t.Context()
	url, admin := realServer(t)
	s := must[*client.Client](t)(client.New(client.Options{URL: url, Key: adminKey(t, admin), As: shoal.Operator})).Session("default")
	posted := false
	var actions []shoal.PendingAction
	for e, err := range s.Follow(ctx, client.FollowOptions{Space: "welcome"}) {
		if err != nil {
			t.Fatal(err)
		}
		if !posted {
			must[shoal.Message](t)(s.Post(ctx, "welcome", shoal.Draft{Parts: []shoal.Part{shoal.Text("I need a laptop")}}))
			posted = true
		}
		if e.Type == shoal.EventRunWaitingTool {
			break
		}
	}
	for p, err := range s.PendingActions(ctx, client.PendingOptions{Space: "welcome"}) {
		if err != nil {
			t.Fatal(err)
		}
		actions = append(actions, p)
	}
	if len(actions) != 2 || actions[0].Kind != shoal.PendingClientTool {
		t.Fatalf("what waits: %+v", actions)
	}
	card := actions[0]
	no := shoal.PendingAnswer{Result: json.RawMessage(`{"chosen":false}`)} // the other card stays open
	first := must[shoal.PendingAction](t)(s.AnswerPending(ctx, card.ID, no))
	again := must[shoal.PendingAction](t)(s.AnswerToolCall(ctx, card.RunID, card.ToolCallID, no))
	if first.Status != shoal.PendingAnswered || *first.AnsweredBy != shoal.Operator || again.ID != first.ID {
		t.Errorf("answered %+v, then %+v", first, again)
	}
	if _, err := s.AnswerPending(ctx, card.ID, shoal.PendingAnswer{Result: json.RawMessage(`{"chosen":true}`)}); !errors.Is(err, shoal.AlreadyAnswered) {
		t.Errorf("another answer: %v", err)
	}
	if r := must[shoal.Run](t)(s.CancelRun(ctx, card.RunID)); r.Status != shoal.RunCanceled {
		t.Errorf("canceled: %+v (%+v)", r, r.Error)
	}
	if _, err := s.AnswerPending(ctx, actions[1].ID, no); !errors.Is(err, shoal.Expired) {
		t.Errorf("an answer to a run that is over: %v", err)
	}
}

// A file goes up and comes back.
func TestAFileOnARealServer(t *testing.T) {
	_, admin := realServer(t)
	s, data := admin.Session("default"), []byte("\x89PNG\x00\xff")
	made := must[shoal.File](t)(s.UploadFile(t.Context(), "a b.png", "image/png", data))
	if made.Name != "a b.png" || made.MediaType != "image/png" || made.Size != int64(len(data)) {
		t.Errorf("uploaded %+v", made)
	}
	if got := must[[]byte](t)(s.DownloadFile(t.Context(), made.ID)); !bytes.Equal(got, data) {
		t.Errorf("downloaded %q", got)
	}
	if _, err := s.UploadFile(t.Context(), "large", "", make([]byte, shoal.MaxFile+1)); !errors.Is(err, shoal.TooLarge) {
		t.Errorf("a file that is too large: %v", err)
	}
}

// What an agent has noted in a run can be read and deleted, one by one or at once.
func TestAgentNotesOnARealServer(t *testing.T) {
	ctx := t.Context()
	_, admin := realServer(t)
	lab := admin.Session("default")
	config := map[string]any{"version": "1.0", "agent": map[string]any{"system": "You answer."}, "model": map[string]any{
		"provider": "script", "name": "clerk", "providerOptions": map[string]any{"script": notingScript},
	}}
	text := must[[]byte](t)(json.Marshal(config))
	must[shoal.HostedAgent](t)(lab.PutAgent(ctx, "keeper", client.ConfigJSON, text))
	run := must[client.TriggeredRun](t)(lab.TriggerAgent(ctx, "keeper", "billing", nil))
	ended(t, lab, run.RunID)
	noted := func() (memories, goals []string) {
		for m, err := range lab.AgentMemories(ctx, "keeper") {
			if err != nil {
				t.Fatal(err)
			}
			memories = append(memories, m.ID)
		}
		for g, err := range lab.AgentGoals(ctx, "keeper") {
			if err != nil {
				t.Fatal(err)
			}
			goals = append(goals, g.ID)
		}
		return memories, goals
	}
	memories, goals := noted()
	if len(memories) != 2 || len(goals) != 2 {
		t.Fatalf("it noted %v and %v", memories, goals)
	}
	if err := errors.Join(lab.DeleteAgentMemory(ctx, "keeper", memories[0]), lab.DeleteAgentGoal(ctx, "keeper", goals[1])); err != nil {
		t.Fatal(err)
	}
	if m, g := noted(); len(m) != 1 || m[0] != memories[1] || len(g) != 1 || g[0] != goals[0] {
		t.Errorf("%v and %v are left of %v and %v", m, g, memories, goals)
	}
	if err := lab.DeleteAgentMemory(ctx, "keeper", memories[0]); !errors.Is(err, shoal.NotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if err := errors.Join(lab.ClearAgentMemories(ctx, "keeper"), lab.ClearAgentGoals(ctx, "keeper")); err != nil {
		t.Fatal(err)
	}
	if m, g := noted(); len(m)+len(g) != 0 {
		t.Errorf("%v and %v are left after all were deleted", m, g)
	}
}

// What an agent and its model said can be read and cleared, whatever the service is
// called that it was for.
func TestAgentConversationsOnARealServer(t *testing.T) {
	ctx := t.Context()
	_, admin := realServer(t)
	lab := admin.Session("default")
	config := `{"version": "1.0", "agent": {"system": "You answer."}, "model": {"provider": "script", "name": "clerk", "providerOptions": {"script": "say Done."}}}`
	must[shoal.HostedAgent](t)(lab.PutAgent(ctx, "keeper", client.ConfigJSON, []byte(config)))
	services := []string{"billing", "a/b", "../conversations", "50% & more?", "ü#:x"}
	for _, service := range services {
		run := must[client.TriggeredRun](t)(lab.TriggerAgent(ctx, "keeper", service, nil))
		ended(t, lab, run.RunID)
		id := "service:" + service
		var seen []shoal.RunID
		for r, err := range lab.AgentConversation(ctx, "keeper", id) {
			if err != nil {
				t.Fatal(err)
			}
			if seen = append(seen, r.RunID); len(r.Messages) != 2 || r.Messages[1].Content[0].Text != "Done." {
				t.Errorf("in %s it said %+v", id, r.Messages)
			}
		}
		if len(seen) != 1 || seen[0] != run.RunID {
			t.Errorf("%s has the runs %v, want %s", id, seen, run.RunID)
		}
	}
	list := func() (ids []string) {
		for c, err := range lab.AgentConversations(ctx, "keeper") {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, c.ID)
		}
		return ids
	}
	if ids := list(); len(ids) != len(services) {
		t.Errorf("it has the conversations %q", ids)
	}
	for _, service := range services {
		if err := lab.ClearAgentConversation(ctx, "keeper", "service:"+service); err != nil {
			t.Errorf("%s is not cleared: %v", service, err)
		}
	}
	if ids := list(); len(ids) != 0 {
		t.Errorf("%q are left", ids)
	}
	if err := lab.ClearAgentConversation(ctx, "keeper", "service:billing"); !errors.Is(err, shoal.NotFound) {
		t.Errorf("cleared twice: %v", err)
	}
	for _, id := range []string{"", ".", "..", "a/b", "a?b", "../x:y"} {
		if err := lab.ClearAgentConversation(ctx, "keeper", id); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("ClearAgentConversation(%q): got %v, want invalid_argument", id, err)
		}
	}
}

const notingScript = `call setMemories {"memories":[{"content":"Ann likes blue."},{"content":"Bob likes red."}]}
call setGoals {"goals":[{"description":"Sell a lamp."},{"description":"Sell a chair."}]}
---
say Done.
`
