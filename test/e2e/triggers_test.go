package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// An agent that is spoken to while it runs does as its config says.
func TestOnNewMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	long := strings.Repeat("and this takes a while to write down, ", 20)
	for _, mode := range []string{"parallel", "enqueue", "interrupt", "reject"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s.space(t, shoal.SpaceID(mode), "ann")
			agent := "a-" + mode
			s.host(t, agent, "slow puppet", args{
				"loop": args{"onNewMessage": mode}, "tools": []any{args{"name": "choose", "displayTool": true}},
			}, mode)
			events, _ := s.follow(t, s.ann, lab+"/spaces/"+mode+"/events", "")
			first := s.post(t, s.ann, mode, orders(t, []act{say(mode, long)}))
			next(t, events, shoal.EventTextDelta, nil)
			second := s.post(t, s.ann, mode, orders(t, []act{say(mode, "And the second.")}))
			one := s.started(t, first)
			if len(one) != 1 || len(first.SkippedAgents) != 0 {
				t.Fatalf("the first message started %+v", one)
			}
			ended := s.ends(t, one[0])
			two := s.started(t, second)
			if mode == "reject" {
				if !slices.Equal(second.SkippedAgents, []shoal.EntityID{shoal.EntityID(agent)}) || len(two) != 0 || ended.Status != shoal.RunCompleted {
					t.Errorf("the second message skips %v and started %+v, the first run is %s", second.SkippedAgents, two, ended.Status)
				}
				if again := s.post(t, s.ann, mode, orders(t)); len(again.SkippedAgents) != 0 || len(s.started(t, again)) != 1 {
					t.Errorf("at rest it skips %v", again.SkippedAgents)
				}
				return
			}
			if len(two) != 1 || len(second.SkippedAgents) != 0 {
				t.Fatalf("the second message started %+v and skips %v", two, second.SkippedAgents)
			}
			later := s.ends(t, two[0])
			overlap := later.StartedAt.Before(ended.EndedAt.Time)
			if later.Status != shoal.RunCompleted || overlap != (mode == "parallel") && mode != "interrupt" ||
				(ended.Status == shoal.RunCanceled) != (mode == "interrupt") {
				t.Errorf("the first run is %s until %v, the second %s from %v", ended.Status, ended.EndedAt, later.Status, later.StartedAt)
			}
			if mode == "enqueue" { // a run that waits for a person does not block the next
				parked := s.started(t, s.post(t, s.ann, mode, orders(t, []act{{Name: "choose", Args: args{"targetSpaceId": mode}}})))[0]
				behind := s.started(t, s.post(t, s.ann, mode, orders(t, []act{say(mode, "After it.")})))[0]
				s.ends(t, behind)
				if now := s.run(t, lab+"/runs/"+string(parked.ID), shoal.RunWaitingTool); now.Status != shoal.RunWaitingTool {
					t.Errorf("the run before is %s", now.Status)
				}
			}
		})
	}
}

// A service starts a run without a message and follows it; what its model calls
// used is counted by day, agent and model.
func TestServiceTrigger(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.host(t, "clerk", "puppet", nil, "den")
	var made shoal.Key
	s.rest(t, http.MethodPost, "/v1/keys", shoal.NewKey{Role: shoal.RoleService, SessionID: shoal.DefaultSession, Name: "billing"}, &made)
	service := bearer(*made.Secret)
	order := [][]act{{say("den", "Invoice 4711 is paid.")}}
	body := args{"serviceName": "billing", "payload": order}
	if status, problem := s.refuses(t, s.ann, http.MethodPost, lab+"/agents/clerk/trigger", body); status != http.StatusForbidden {
		t.Errorf("an entity triggers: %d %+v", status, problem)
	}
	if status, problem := s.refuses(t, service, http.MethodPost, lab+"/agents/clerk/trigger", args{"payload": 1}); status != http.StatusUnprocessableEntity ||
		len(problem.Errors) != 1 || problem.Errors[0].Location != "body.serviceName" {
		t.Errorf("a nameless service triggers: %d %+v", status, problem)
	}
	var started struct {
		RunID   shoal.RunID
		AgentID shoal.EntityID
		Status  shoal.RunStatus
	}
	again := service.Clone()
	again.Set("Idempotency-Key", "invoice-4711")
	s.restAs(t, again, http.MethodPost, lab+"/agents/clerk/trigger", body, &started)
	first := started
	s.restAs(t, again, http.MethodPost, lab+"/agents/clerk/trigger", body, &started)
	if started != first || first.AgentID != "clerk" || first.Status != shoal.RunQueued {
		t.Errorf("it started %+v and %+v", first, started)
	}
	all := s.watch(t, "the service", service, lab+"/runs/"+string(first.RunID)+"/events")
	if !strings.Contains(all.all(), `"status":"completed"`) {
		all.until(t, shoal.EventRunCompleted)
	}
	run := s.ends(t, shoal.Run{ID: first.RunID})
	if run.Trigger.Type != shoal.ServiceTrigger || run.Trigger.ServiceName != "billing" || run.Status != shoal.RunCompleted {
		t.Errorf("the run is %+v", run)
	}
	if got := s.by(t, "clerk"); len(got) != 1 || got[0] != "text done Invoice 4711 is paid." {
		t.Errorf("the clerk says %q", got)
	}

	s.does(t, "clerk", []act{say("den", "One more.")})
	var used struct{ Items []shoal.UsageRow }
	s.rest(t, http.MethodGet, lab+"/usage?by=day,agent,model", nil, &used)
	today := run.StartedAt.UTC().Format(time.DateOnly)
	want := shoal.UsageRow{Day: today, AgentID: "clerk", Model: "puppet", Calls: 4, Usage: shoal.Usage{InputTokens: 1200, OutputTokens: 160, Currency: "USD"}}
	if len(used.Items) != 1 || used.Items[0] != want {
		t.Errorf("used is %+v, want %+v", used.Items, want)
	}
	s.rest(t, http.MethodGet, lab+"/usage?by=run&run="+string(run.ID), nil, &used)
	if len(used.Items) != 1 || used.Items[0].RunID != run.ID || used.Items[0].InputTokens != 600 || used.Items[0].Usage != run.Usage {
		t.Errorf("of the run used is %+v, the run says %+v", used.Items, run.Usage)
	}
}

// A plan for one time fires once, at that time.
func TestPlanFires(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.host(t, "clerk", "puppet", nil, "den")
	events, _ := s.follow(t, s.ann, denEvents, "")
	due := shoal.At(time.Now().Add(700 * time.Millisecond).Truncate(time.Millisecond))
	var plan shoal.Plan
	s.rest(t, http.MethodPost, lab+"/agents/clerk/plans", shoal.NewPlan{
		Name: "reminder", Instruction: orders(t, []act{say("den", "It is time.")}), ScheduledAt: &due,
	}, &plan)
	if plan.Status != shoal.PlanPending || plan.NextRunAt == nil || !plan.NextRunAt.Equal(due.Time) {
		t.Errorf("the plan is %+v", plan)
	}
	said := next(t, events, shoal.EventMessageCompleted, nil)
	late := time.Since(due.Time)
	if m := said.data.Message; m.Text() != "It is time." || late < 0 || late > 30*time.Second {
		t.Errorf("%v after its time the plan says %+v", late, m)
	}
	var runs struct{ Items []shoal.Run }
	s.rest(t, http.MethodGet, lab+"/runs?agent=clerk", nil, &runs)
	if len(runs.Items) != 1 || runs.Items[0].Trigger.Type != shoal.PlanTrigger || runs.Items[0].Trigger.PlanID != plan.ID || !runs.Items[0].Trigger.ScheduledAt.Equal(due.Time) {
		t.Errorf("the runs are %+v", runs.Items)
	}
	var plans struct{ Items []shoal.Plan }
	s.rest(t, http.MethodGet, lab+"/agents/clerk/plans", nil, &plans)
	if len(plans.Items) != 1 || plans.Items[0].Status != shoal.PlanCompleted || plans.Items[0].NextRunAt != nil || *plans.Items[0].LastRunID != runs.Items[0].ID {
		t.Errorf("the plans are %+v", plans.Items)
	}
}

// Canceling a run in the middle of a text ends the request to the vendor; the text so
// far stays, marked as interrupted.
func TestCancelDuringStream(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	model, hungUp := watchedVendor(t)
	s.host(t, "bard", "slow puppet", args{"model": model}, "den")
	events, leave := s.follow(t, s.bob, denEvents, "")
	read, last := newReader(t), ""
	see := func(e streamEvent) {
		read.see(e)
		last = e.id
	}
	next(t, events, shoal.EventSnapshot, see)
	long := strings.Repeat("Der Seebär 🐻 rief »Ahoi«. ", 100)
	run := s.instruct(t, "bard", []act{say("den", long)})
	for range 5 {
		next(t, events, shoal.EventTextDelta, see)
	}
	leave() // to come back when all is over
	if n := hungUp.Load(); n != 0 {
		t.Fatalf("%d connections to the vendor broke before", n)
	}
	began := time.Now()
	var canceled shoal.Run
	s.restAs(t, s.bob, http.MethodPost, lab+"/runs/"+string(run.ID)+"/cancel", nil, &canceled)
	if took := time.Since(began); canceled.Status != shoal.RunCanceled || took > 30*time.Second {
		t.Errorf("after %v the run is %+v", took, canceled)
	}
	events, _ = s.follow(t, s.bob, denEvents, last)
	next(t, events, shoal.EventRunCanceled, see)
	for deadline := time.Now().Add(5 * time.Second); hungUp.Load() != 1; pause(t, 10*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections to the vendor are closed", hungUp.Load())
		}
	}
	messages := s.messages(t, s.ann)
	m := messages[len(messages)-1]
	if m.Status != shoal.MessageCanceled || len(m.Parts) != 1 || m.Parts[0].Status != shoal.PartInterrupted ||
		m.Parts[0].Text == "" || !strings.HasPrefix(long, m.Parts[0].Text) || read.grown[m.Parts[0].ID] != m.Parts[0].Text {
		t.Errorf("the message is %+v, the reader has %q", m, read.grown)
	}
	var twice shoal.Run
	s.restAs(t, s.ann, http.MethodPost, lab+"/runs/"+string(run.ID)+"/cancel", nil, &twice)
	if twice.Status != shoal.RunCanceled || !twice.EndedAt.Equal(canceled.EndedAt.Time) {
		t.Errorf("canceled twice the run is %+v", twice)
	}
	// The agent is free for the next one.
	if again := s.does(t, "bard", []act{say("den", "Ahoi.")}); again.Status != shoal.RunCompleted {
		t.Errorf("the next run is %+v", again)
	}
}

// watchedVendor is a model and a proxy that counts the requests that were given
// up.
func watchedVendor(t *testing.T) (model map[string]any, hungUp *atomic.Int64) {
	t.Helper()
	model, hungUp = wires[0].model(t, "slow puppet"), new(atomic.Int64)
	vendor, err := url.Parse(strings.TrimSuffix(model["baseURL"].(string), wires[0].suffix))
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(vendor) },
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) {}, // the connection is gone
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if r.Context().Err() != nil {
				hungUp.Add(1)
			}
		}()
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	model["baseURL"] = proxy.URL + wires[0].suffix
	return model, hungUp
}

// A file that somebody shows in a space is there for its members, and for an agent
// that reads the thread.
func TestFilesInSpaces(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	eve := s.human(t, "default", "eve")
	png := []byte("\x89PNG\r\n\x1a\n and the rest")
	upload := s.ann.Clone()
	upload.Set("Content-Type", "image/png")
	res := request(t, http.MethodPost, s.url+lab+"/files?name=chart.png", upload, bytes.NewReader(png))
	var file shoal.File
	if err := json.Unmarshal(res.body, &file); err != nil || res.status != http.StatusCreated || file.Size != int64(len(png)) || file.Name != "chart.png" {
		t.Fatalf("the upload is answered %d %s: %v", res.status, res.body, err)
	}
	download := func(who http.Header) response {
		t.Helper()
		return request(t, http.MethodGet, s.url+file.URL, who, nil)
	}
	if got := download(s.bob); got.status != http.StatusNotFound {
		t.Errorf("before it is shown bob gets %d", got.status)
	}
	part := args{"type": "file", "name": file.Name, "mediaType": file.MediaType, "size": file.Size, "url": file.URL}
	s.restAs(t, s.ann, http.MethodPost, lab+"/spaces/den/messages", args{"parts": []any{part}}, nil)
	if got := download(s.bob); got.status != http.StatusOK || !bytes.Equal(got.body, png) || got.header.Get("Content-Type") != "image/png" {
		t.Errorf("bob gets %d %v %q", got.status, got.header, got.body)
	}
	if got := download(eve); got.status != http.StatusNotFound {
		t.Errorf("a stranger gets %d %q", got.status, got.body)
	}
	scout := s.guest(t, goModern)
	if thread := do(t, scout, "read_thread", args{"threadId": "den"}, nil); !contains(thread.Text, `<file name="chart.png" mediaType="image/png"`, file.URL) {
		t.Errorf("an agent reads %s", thread.Text)
	}
}
