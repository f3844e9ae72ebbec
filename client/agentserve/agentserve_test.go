package agentserve_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/client/agentserve"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

const patience = 30 * time.Second

// payer is an agent that pays after a person has approved it, and counts how often it did.
func payer(t *testing.T, paid *int) *agent.Agent {
	t.Helper()
	pay := agent.Configure(
		agent.Func("pay", "Pays.", func(_ context.Context, in struct {
			Amount int `json:"amount"`
		},
		) (string, error) {
			*paid += in.Amount
			return "paid", nil
		}),
		func(s *agent.ToolSpec) { s.RequiresPermission = true },
	)
	model := script.Func(func(r *agent.Request) script.Answer {
		if results := r.Messages[len(r.Messages)-1].Results(); len(results) > 0 {
			return script.Answer{Text: "The tool says: " + results[0].Text, Reasoning: "done"}
		}
		return script.Answer{Text: "I pay. ", Calls: []agent.ToolCall{{Name: "pay", Arguments: `{"amount": 7}`}}}
	})
	a, err := agent.New(model, agent.Options{Instructions: "Pay.", Tools: []agent.Tool{pay}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// world is a server with the remote agent clerk, whose leases are short.
type world struct {
	t        *testing.T
	operator *client.Session
}

func newWorld(t *testing.T) *world {
	t.Helper()
	running, key := apptest.Run(t, app.Config{ProgramLease: 2 * time.Second})
	admin, err := client.New(client.Options{URL: running.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, admin.Session(shoal.DefaultSession)}
	if _, err := w.operator.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(`{"version": "1.0", "agent": {}, "remote": {}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.operator.AddMember(t.Context(), app.Welcome, "clerk"); err != nil {
		t.Fatal(err)
	}
	return w
}

// serve executes runs until stop is called.
func (w *world) serve(a *agent.Agent) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- w.operator.Serve(ctx, "clerk", client.ServeOptions{Log: func(err error) { w.t.Log(err) }}, agentserve.Handler(a))
	}()
	return func() {
		w.t.Helper()
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

// follow returns after the first state of a run for which so holds.
func (w *world) follow(id shoal.RunID, so func(shoal.Run) bool) shoal.Run {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for _, err := range w.operator.Follow(ctx, client.FollowOptions{Run: id}) {
		if err != nil {
			w.t.Fatal(err)
		}
		r, err := w.operator.Run(ctx, id)
		if err != nil {
			w.t.Fatal(err)
		}
		if so(r) {
			return r
		}
	}
	w.t.Fatal("the run has not reached the state in time")
	return shoal.Run{}
}

// The approval of a call outlives the program that asked for it: the next one does not ask
// again, and the tool runs once.
func TestApprovalOutlivesTheProgram(t *testing.T) {
	w := newWorld(t)
	paid := 0
	stop := w.serve(payer(t, &paid))
	m, err := w.operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("pay")}, Mentions: []shoal.EntityID{"clerk"}})
	if err != nil {
		t.Fatal(err)
	}
	id := m.Runs[0].RunID
	waits := w.follow(id, func(r shoal.Run) bool { return r.Status == shoal.RunWaitingTool })
	stop()
	yes := true
	if _, err := w.operator.AnswerPending(t.Context(), waits.PendingToolCalls[0].PendingActionID, shoal.PendingAnswer{Approved: &yes}); err != nil {
		t.Fatal(err)
	}
	stop = w.serve(payer(t, &paid))
	defer stop()
	r := w.follow(id, func(r shoal.Run) bool { return r.Status.Ended() })
	if r.Status != shoal.RunCompleted || paid != 7 {
		t.Errorf("the run is %s (%+v), and %d was paid, want 7", r.Status, r.Error, paid)
	}
	actions := 0
	for _, err := range w.operator.PendingActions(t.Context(), client.PendingOptions{Run: id, Status: []shoal.PendingStatus{shoal.PendingOpen, shoal.PendingAnswered, shoal.PendingCanceled}}) {
		if err != nil {
			t.Fatal(err)
		}
		actions++
	}
	if actions != 1 {
		t.Errorf("%d permissions were asked, want 1", actions)
	}
	all, err := w.operator.Messages(t.Context(), app.Welcome, client.MessagesOptions{After: m.Seq})
	if err != nil || len(all) != 1 || !strings.HasSuffix(all[0].Text(), "The tool says: paid") {
		t.Errorf("the messages are %+v, %v", all, err)
	}
	steps := 0
	for s, err := range w.operator.Steps(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		steps++
		if steps == 2 && (s.Reasoning != "done" || s.Usage.OutputTokens == 0) {
			t.Errorf("the second step is %+v", s)
		}
	}
	if steps != 2 {
		t.Errorf("%d steps, want one for each program", steps)
	}
}

// A tool that runs with arguments which a person has changed shows its own result. Its model reads of
// the change, too.
func TestEditedArguments(t *testing.T) {
	w := newWorld(t)
	paid := 0
	defer w.serve(payer(t, &paid))()
	m, err := w.operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("pay")}, Mentions: []shoal.EntityID{"clerk"}})
	if err != nil {
		t.Fatal(err)
	}
	waits := w.follow(m.Runs[0].RunID, func(r shoal.Run) bool { return r.Status == shoal.RunWaitingTool })
	yes := true
	if _, err := w.operator.AnswerPending(t.Context(), waits.PendingToolCalls[0].PendingActionID, shoal.PendingAnswer{Approved: &yes, Args: []byte(`{"amount":5}`)}); err != nil {
		t.Fatal(err)
	}
	if r := w.follow(m.Runs[0].RunID, func(r shoal.Run) bool { return r.Status.Ended() }); r.Status != shoal.RunCompleted || paid != 5 {
		t.Errorf("the run is %s (%+v), and %d was paid, want 5", r.Status, r.Error, paid)
	}
	all, err := w.operator.Messages(t.Context(), app.Welcome, client.MessagesOptions{After: m.Seq})
	if err != nil || len(all) != 1 || len(all[0].Parts) != 3 {
		t.Fatalf("the messages are %+v, %v", all, err)
	}
	if got := string(all[0].Parts[1].Result); got != `"paid"` {
		t.Errorf("the tool shows %s", got)
	}
	if got := all[0].Text(); !strings.HasSuffix(got, "with changes: {\"amount\":5}\npaid") {
		t.Errorf("the model reads %q", got)
	}
}
