package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

// A service starts a run, reads it and its steps, and cancels nothing by that.
func TestServicesTriggerAgents(t *testing.T) {
	w, ann, _ := shop(t)
	service := w.mint(shoal.NewKey{Role: shoal.RoleService})
	started := into[triggered](w.do(service, "POST", agentBase+"/trigger", `{"serviceName": "billing", "payload": {"invoice": "<4711>"}}`, "Idempotency-Key", "k").wants(202))
	again := into[triggered](w.do(service, "POST", agentBase+"/trigger", `{"serviceName": "billing", "payload": {"invoice": "<4711>"}}`, "Idempotency-Key", "k").wants(202))
	if started != again || started.AgentID != "shop-agent" || started.Status != shoal.RunQueued {
		t.Errorf("the trigger answers %+v, and then %+v", started, again)
	}
	w.do(service, "POST", agentBase+"/trigger", `{"serviceName": "other"}`, "Idempotency-Key", "k").refuses(shoal.IdempotencyMismatch)
	run := w.do(service, "GET", base+"/runs/"+string(started.RunID), nil).wants(200)
	if r := into[shoal.Run](run); r.Trigger.ServiceName != "billing" || !strings.Contains(string(run.body), `"payload":{"invoice":"<4711>"}`) {
		t.Errorf("the run = %s", run.body)
	}
	if steps := into[page[shoal.Step]](w.do(service, "GET", base+"/runs/"+string(started.RunID)+"/steps", nil).wants(200)); len(steps.Items) != 0 {
		t.Errorf("the steps = %+v", steps)
	}
	for _, c := range []struct {
		path, body string
		kind       shoal.Kind
	}{
		{agentBase, `{}`, shoal.InvalidArgument},
		{agentBase, `{"serviceName": ""}`, shoal.InvalidArgument},
		{agentBase, `{"serviceName": 7}`, shoal.InvalidArgument},
		{base + "/agents/nobody", `{"serviceName": "billing"}`, shoal.NotFound},
		{base + "/agents/bot", `{"serviceName": "billing"}`, shoal.InvalidArgument},
	} {
		w.do(service, "POST", c.path+"/trigger", c.body).refuses(c.kind)
	}
	w.do(ann, "GET", base+"/runs/"+string(started.RunID), nil).refuses(shoal.NotFound)
	if seen := into[page[shoal.Run]](w.do(ann, "GET", base+"/runs", nil).wants(200)); len(seen.Items) != 0 {
		t.Errorf("ann sees %+v", seen)
	}
	if ended := into[shoal.Run](w.do(w.admin, "POST", base+"/runs/"+string(started.RunID)+"/cancel", nil).wants(200)); ended.Status != shoal.RunCanceled || ended.EndedAt == nil {
		t.Errorf("the run that was canceled = %+v", ended)
	}
}

// A message starts a run of the agent, unless its sender says not to.
func TestMessagesStartRuns(t *testing.T) {
	w, ann, _ := shop(t)
	w.do(ann, "POST", base+"/spaces/shop/messages", `{"text": "only so", "triggerAgents": false}`).wants(201)
	if runs := into[page[shoal.Run]](w.do(ann, "GET", base+"/runs", nil).wants(200)); len(runs.Items) != 0 {
		t.Errorf("triggerAgents false starts %+v", runs)
	}
	var made []shoal.RunID
	for range 3 {
		made = append(made, w.runOf(w.post(ann, "shop", "Which laptops are there?")))
	}
	w.host("default", "other")
	for query, n := range map[string]int{
		"": 3, "?agent=shop-agent": 3, "?agent=other": 0, "?status=queued": 3, "?status=running": 0, "?status=running,queued": 3, "?space=shop": 3, "?limit=2": 2,
	} {
		if got := into[page[shoal.Run]](w.do(ann, "GET", base+"/runs"+query, nil).wants(200)); len(got.Items) != n {
			t.Errorf("runs%s are %d, want %d", query, len(got.Items), n)
		}
	}
	first := into[page[shoal.Run]](w.do(ann, "GET", base+"/runs?limit=2", nil).wants(200))
	rest := into[page[shoal.Run]](w.do(ann, "GET", base+"/runs?limit=2&cursor="+*first.NextCursor, nil).wants(200))
	if len(rest.Items) != 1 || rest.Items[0].ID != made[0] || first.Items[0].ID != made[2] {
		t.Errorf("the pages are %+v, %+v; made were %v", first, rest, made)
	}
	w.do(ann, "GET", base+"/runs?status=done", nil).refuses(shoal.InvalidArgument)
	w.do(ann, "GET", base+"/runs/run_none", nil).refuses(shoal.NotFound)
}

// A client tool is answered once: the first answer wins.
func TestToolResultsSettleOnce(t *testing.T) {
	w, ann, bot := shop(t)
	service := w.mint(shoal.NewKey{Role: shoal.RoleService})
	run := w.runOf(w.post(ann, "shop", "Show me one."))
	results := base + "/runs/" + string(run) + "/tool-results"
	w.do(service, "POST", results, `{"callId": "call-1", "result": 1}`).refuses(shoal.RunNotWaiting)
	is := w.suspends("default", run, "shop", clientTool("call-1"), clientTool("call-2"), clientTool("call-3"))
	waits := w.do(ann, "GET", base+"/runs/"+string(run), nil).wants(200)
	if r := into[shoal.Run](waits); r.Status != shoal.RunWaitingTool || len(r.PendingToolCalls) != 3 || r.PendingToolCalls[0].PendingActionID != is.pending[0] {
		t.Errorf("the run = %s", waits.body)
	}
	if !strings.Contains(string(waits.body), `"args":`+cardArgs) {
		t.Errorf("the arguments are not the same bytes in %s", waits.body)
	}
	open := into[page[shoal.PendingAction]](w.do(bot, "GET", base+"/pending-actions?limit=2", nil).wants(200))
	rest := into[page[shoal.PendingAction]](w.do(bot, "GET", base+"/pending-actions?cursor="+*open.NextCursor, nil).wants(200))
	if len(open.Items) != 2 || len(rest.Items) != 1 || rest.NextCursor != nil {
		t.Errorf("the pages are %+v, %+v", open, rest)
	}

	settled := into[shoal.PendingAction](w.do(ann, "POST", results, `{"callId": "call-1", "result": {"clicked": true}}`).wants(200))
	if settled.Status != shoal.PendingAnswered || settled.AnsweredBy == nil || *settled.AnsweredBy != "ann" {
		t.Errorf("settled = %+v", settled)
	}
	w.do(ann, "POST", results, `{"callId": "call-1", "result": {"clicked": true}}`).wants(200)
	w.do(bot, "POST", results, `{"callId": "call-1", "result": {"clicked": false}}`).refuses(shoal.AlreadyAnswered)
	w.do(ann, "POST", base+"/pending-actions/"+string(is.pending[0])+"/answer", `{"result": 2}`).refuses(shoal.AlreadyAnswered)
	w.do(ann, "POST", results, `{"callId": "nobody", "result": 1}`).refuses(shoal.NotFound)
	for _, wrong := range []string{`{}`, `{"callId": "call-2"}`, `{"callId": "call-2", "result": 1, "error": "both"}`, `{"callId": "call-2", "approved": true}`} {
		w.do(ann, "POST", results, wrong).refuses(shoal.InvalidArgument)
	}
	answer := base + "/pending-actions/" + string(is.pending[1]) + "/answer"
	w.do(ann, "POST", answer, `{"approved": true}`).refuses(shoal.InvalidArgument)
	w.do(ann, "POST", answer, `{"result": null, "error": "broken"}`).wants(200)
	w.do(ann, "POST", base+"/pending-actions/"+string(is.pending[2])+"/answer", `{"result": null}`).wants(200)

	for query, n := range map[string]int{"": 0, "?status=open": 0, "?status=answered": 3, "?status=answered&run=" + string(run): 3, "?status=answered&space=shop": 3, "?status=answered&run=run_none": 0} {
		if got := into[page[shoal.PendingAction]](w.do(ann, "GET", base+"/pending-actions"+query, nil).wants(200)); len(got.Items) != n {
			t.Errorf("pending-actions%s are %d, want %d", query, len(got.Items), n)
		}
	}
	w.do(ann, "GET", base+"/pending-actions?status=done", nil).refuses(shoal.InvalidArgument)
}

// Nobody can answer what a canceled run waited for.
func TestAnswersComeTooLate(t *testing.T) {
	w, ann, _ := shop(t)
	run := w.runOf(w.post(ann, "shop", "Show me one."))
	is := w.suspends("default", run, "shop", clientTool("call-1"))
	ended := make(chan answer, 1)
	go func() { ended <- w.do(ann, "POST", base+"/runs/"+string(run)+"/cancel", nil) }()
	// The executor is notified, and ends the canceled run.
	lease := w.wakes("default", run)
	w.must(w.hub.Work.Write(w.Context(), lease, func(c *runs.RunChange) error {
		return c.Finish(shoal.RunCanceled, &shoal.RunError{Code: "canceled", Message: "Canceled."})
	}))
	if r := into[shoal.Run]((<-ended).wants(200)); r.Status != shoal.RunCanceled || r.Error == nil || r.Error.Code != "canceled" {
		t.Errorf("the run = %+v", r)
	}
	w.do(ann, "POST", base+"/pending-actions/"+string(is.pending[0])+"/answer", `{"result": 1}`).refuses(shoal.Expired)
	if again := into[shoal.Run](w.do(ann, "POST", base+"/runs/"+string(run)+"/cancel", nil).wants(200)); again.Status != shoal.RunCanceled {
		t.Errorf("canceled again = %+v", again)
	}
}

// A part for one member alone is a stub for all others, wherever it is read.
func TestTargetedPartsArePrivate(t *testing.T) {
	w, ann, bot := shop(t)
	run := w.runOf(w.post(ann, "shop", "Show me one."))
	call := clientTool("call-1")
	call.Target = "ann"
	w.suspends("default", run, "shop", call)
	for secret, private := range map[string]bool{ann: false, bot: true, w.admin: false} {
		a := w.do(secret, "GET", base+"/spaces/shop/messages?after=1", nil).wants(200)
		part := into[page[shoal.Message]](a).Items[0].Parts[0]
		if part.Private != private || private == strings.Contains(string(a.body), "MacBook") {
			t.Errorf("the message is read as %s", a.body)
		}
	}
}

// A run's own stream starts with a snapshot and emits its states.
func TestRunsAreFollowed(t *testing.T) {
	w, ann, _ := shop(t)
	run := w.runOf(w.post(ann, "shop", "Show me one."))
	l := w.follow(ann, base+"/runs/"+string(run)+"/events")
	snapshot := data[shoal.RunSnapshotData](t, l.wants("snapshot"))
	if snapshot.Run.ID != run || snapshot.Run.Status != shoal.RunQueued || snapshot.Cursor == "" {
		t.Errorf("the snapshot = %+v", snapshot)
	}
	w.suspends("default", run, "shop", clientTool("call-1"))
	seen := map[string]bool{}
	for !seen["run.waiting_tool"] {
		ev := l.next()
		seen[ev.name] = true
		w.documentedEvent(ev, runEventTypes)
		if strings.Contains(string(ev.data), "MacBook") && !strings.Contains(string(ev.data), cardArgs) {
			t.Errorf("the arguments are not the same bytes in %s", ev.data)
		}
	}
	for _, name := range []string{"run.started", "message.created", "pending.opened"} {
		if !seen[name] {
			t.Errorf("the stream has no %s, only %v", name, seen)
		}
	}
	w.do(ann, "GET", base+"/runs/run_none/events", nil).refuses(shoal.NotFound)
	w.do(ann, http.MethodHead, base+"/runs/"+string(run)+"/events", nil).wants(405)
}
