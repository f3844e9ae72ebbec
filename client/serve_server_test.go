package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
)

// serving is a server with the remote agent clerk in the space welcome, which a program of
// the test executes.
type serving struct {
	*apptest.Server
	t       *testing.T
	session *client.Session // of clerk
	stop    func()
	done    chan error
}

const remoteConfig = `{"version": "1.0", "agent": {"name": "Clerk"}, "remote": {}}`

// hostRemote makes clerk a remote agent, without a program.
func hostRemote(t *testing.T) *serving {
	t.Helper()
	s := &serving{Server: apptest.Start(t), t: t, done: make(chan error, 1)}
	if _, err := s.Operator.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(remoteConfig)); err != nil {
		t.Fatal(err)
	}
	s.session = s.program(s.URL, s.Agent("clerk"))
	return s
}

func (s *serving) program(url, key string) *client.Session {
	s.t.Helper()
	c, err := client.New(client.Options{URL: url, Key: key})
	if err != nil {
		s.t.Fatal(err)
	}
	return c.Session(shoal.DefaultSession)
}

// serve executes the runs of clerk until the test ends or stop is called.
func (s *serving) serve(handle client.Handler) {
	s.t.Helper()
	s.serveWith(client.ServeOptions{}, handle)
}

// serveWith is serve with options.
func (s *serving) serveWith(o client.ServeOptions, handle client.Handler) {
	s.t.Helper()
	o.Log = func(err error) { s.t.Log(err) }
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		s.done <- s.session.Serve(ctx, "clerk", o, handle)
	}()
	s.stop = func() {
		cancel()
		if err := <-s.done; err != nil {
			s.t.Error(err)
		}
		s.stop = func() {}
	}
	s.t.Cleanup(func() { s.stop() })
}

// ask mentions clerk and returns its run.
func (s *serving) ask(text string) shoal.RunID {
	s.t.Helper()
	return s.mention(text).Runs[0].RunID
}

// mention posts a mention of clerk, which starts a run.
func (s *serving) mention(text string) shoal.Message {
	s.t.Helper()
	m, err := s.Operator.Post(s.t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"clerk"}})
	if err != nil || len(m.Runs) != 1 {
		s.t.Fatalf("%v, %v", m.Runs, err)
	}
	return m
}

// ended returns a run once it has ended.
func (s *serving) ended(id shoal.RunID) shoal.Run {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for event, err := range s.Operator.Follow(ctx, client.FollowOptions{Run: id}) {
		if err != nil {
			s.t.Fatal(err)
		}
		_ = event
		r, err := s.Operator.Run(ctx, id)
		if err != nil {
			s.t.Fatal(err)
		}
		if r.Status.Ended() {
			return r
		}
	}
	s.t.Fatalf("the run has not ended within %s", patience)
	return shoal.Run{}
}

const patience = 20 * time.Second

// messages returns the messages of a run.
func (s *serving) messages(id shoal.RunID) (out []shoal.Message) {
	s.t.Helper()
	all, err := s.Operator.Messages(s.t.Context(), app.Welcome, client.MessagesOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range all {
		if m.RunID != nil && *m.RunID == id {
			out = append(out, m)
		}
	}
	return out
}

// A text appears while the program writes it: a follower has its beginning before the handler
// goes on.
func TestServeStreams(t *testing.T) {
	s := hostRemote(t)
	seen := make(chan struct{})
	s.serve(func(ctx context.Context, w *client.Work) error {
		if !strings.Contains(w.Claimed.Prompt, "<message ") || !strings.Contains(w.Claimed.Prompt, "book a trip") {
			return fmt.Errorf("the prompt is %q", w.Claimed.Prompt)
		}
		if err := w.Text("Your trip "); err != nil {
			return err
		}
		select {
		case <-seen:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		_ = w.Usage("model-1", shoal.WorkTokens{Input: 10, Output: 5}, 0.25)
		return w.Text("is booked.")
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var id shoal.RunID
	var got strings.Builder
	for event, err := range s.Operator.Follow(ctx, client.FollowOptions{Space: app.Welcome}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type == shoal.EventSnapshot {
			id = s.ask("book a trip")
		}
		if event.Type == shoal.EventTextDelta {
			var d shoal.DeltaData
			if err := json.Unmarshal(event.Data, &d); err != nil {
				t.Fatal(err)
			}
			got.WriteString(d.Delta)
			if got.String() == "Your trip " {
				close(seen)
			}
		}
		if event.Type == shoal.EventMessageCompleted {
			var d shoal.MessageData
			if err := json.Unmarshal(event.Data, &d); err != nil {
				t.Fatal(err)
			}
			if d.Message.RunID != nil {
				break
			}
		}
	}
	r := s.ended(id)
	if r.Status != shoal.RunCompleted || r.Usage.Cost != 0.25 || r.Usage.InputTokens != 10 || r.Usage.OutputTokens != 5 || r.Steps != 1 {
		t.Errorf("the run is %s with %+v and %d steps", r.Status, r.Usage, r.Steps)
	}
	all := s.messages(id)
	if len(all) != 1 || all[0].Text() != "Your trip is booked." || len(all[0].Parts) != 1 || all[0].Status != shoal.MessageCompleted {
		t.Errorf("the messages of the run are %+v", all)
	}
}

// A person decides about a tool, and the program gets the decision as data.
func TestServeAsksForPermission(t *testing.T) {
	for _, approved := range []bool{true, false} {
		t.Run(fmt.Sprint(approved), func(t *testing.T) {
			s := hostRemote(t)
			got := make(chan client.Verdict, 1)
			s.serve(func(_ context.Context, w *client.Work) error {
				v, err := w.Permission("pay-1", "pay", "Pay 70 EUR", map[string]int{"amount": 70})
				if err != nil {
					return err
				}
				got <- v
				if !v.Approved {
					return w.Text("I did not pay.")
				}
				_ = w.Report(shoal.WorkLine{Type: shoal.WorkTool, CallID: "pay-1", State: shoal.ToolRunning})
				_ = w.Report(shoal.WorkLine{Type: shoal.WorkTool, CallID: "pay-1", State: shoal.ToolDone, Output: "paid"})
				return w.Text("Paid.")
			})
			id := s.ask("pay")
			action := s.pending(id)
			if action.ToolName != "pay" || string(action.Args) != `{"amount":70}` || action.Kind != shoal.PendingPermission || action.ExpiresAt == nil || action.PartID == nil {
				t.Errorf("the pending action is %+v", action)
			}
			stale, reason := "0000", "ok, but later"
			_, err := s.Operator.AnswerPending(t.Context(), action.ID, shoal.PendingAnswer{Approved: &approved, ArgsHash: &stale})
			if !errors.Is(err, shoal.ArgsChanged) {
				t.Errorf("an answer to other arguments: %v", err)
			}
			if _, err := s.Operator.AnswerPending(t.Context(), action.ID, shoal.PendingAnswer{Approved: &approved, Reason: &reason}); err != nil {
				t.Fatal(err)
			}
			v := <-got
			if v.Approved != approved || v.Reason != reason || v.ArgsHash != action.ArgsHash || v.By != shoal.Operator {
				t.Errorf("the verdict is %+v, want approved %v and the hash %s", v, approved, action.ArgsHash)
			}
			if r := s.ended(id); r.Status != shoal.RunCompleted {
				t.Errorf("the run is %s: %+v", r.Status, r.Error)
			}
			all := s.messages(id)
			want := map[bool]shoal.PartStatus{true: shoal.PartDone, false: shoal.PartDenied}[approved]
			if len(all) != 1 || len(all[0].Parts) != 2 || all[0].Parts[0].Type != shoal.ToolPart || all[0].Parts[0].Status != want {
				t.Errorf("the messages are %+v", all)
			}
		})
	}
}

// pending returns the open action of a run once there is one.
func (s *serving) pending(id shoal.RunID) shoal.PendingAction {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for event, err := range s.Operator.Follow(ctx, client.FollowOptions{Run: id}) {
		if err != nil {
			s.t.Fatal(err)
		}
		_ = event
		for a, err := range s.Operator.PendingActions(ctx, client.PendingOptions{Run: id}) {
			if err != nil {
				s.t.Fatal(err)
			}
			return a
		}
	}
	s.t.Fatalf("nothing is asked within %s", patience)
	return shoal.PendingAction{}
}

// A run that is canceled ends at once, with what it had written, and its handler hears of it.
func TestServeHearsOfCancel(t *testing.T) {
	s := hostRemote(t)
	cause := make(chan error, 1)
	written := make(chan struct{})
	s.serve(func(ctx context.Context, w *client.Work) error {
		if err := w.Text("I begin"); err != nil {
			return err
		}
		close(written)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return w.Text(" and go on")
	})
	id := s.ask("go")
	<-written
	s.shows(id, "I begin")
	r, err := s.Operator.CancelRun(t.Context(), id)
	if err != nil || r.Status != shoal.RunCanceled {
		t.Fatalf("the canceled run is %s, %v", r.Status, err)
	}
	if err := <-cause; !errors.Is(err, client.ErrRunEnded) {
		t.Errorf("the handler ends because of %v", err)
	}
	all := s.messages(id)
	if len(all) != 1 || all[0].Text() != "I begin" || all[0].Status != shoal.MessageCanceled || all[0].Parts[0].Status != shoal.PartInterrupted {
		t.Errorf("the messages are %+v", all)
	}
}

// shows returns once a run has shown a text.
func (s *serving) shows(id shoal.RunID, text string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if all := s.messages(id); len(all) > 0 && all[len(all)-1].Text() == text {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("%q is not shown within %s", text, patience)
		}
	}
}

// A handler that fails or panics fails its run and nothing else.
func TestServeSurvivesItsHandler(t *testing.T) {
	s := hostRemote(t)
	s.serve(func(_ context.Context, w *client.Work) error {
		switch {
		case strings.Contains(w.Claimed.Prompt, "first"):
			return &client.CodedError{Code: "provider_unavailable", Err: errors.New("The model does not answer.")}
		case strings.Contains(w.Claimed.Prompt, "second"):
			panic("boom")
		case strings.Contains(w.Claimed.Prompt, "fourth"):
			return errors.New("x" + strings.Repeat("é", 600)) // a cut at any even length splits a character
		}
		return w.Report(shoal.WorkLine{Type: "nonsense"})
	})
	for _, c := range []struct{ ask, code, text string }{
		{"first", "provider_unavailable", "The model does not answer."}, {"second", "program_failed", "the program has a fault"}, {"third", "program_invalid", `unknown type "nonsense"`}, {"fourth", "program_failed", "éé"},
	} {
		r := s.ended(s.ask(c.ask))
		if r.Status != shoal.RunFailed || r.Error == nil || r.Error.Code != c.code || !strings.Contains(r.Error.Message, c.text) || strings.Contains(r.Error.Message, "\uFFFD") {
			t.Errorf("%s: the run is %s: %+v", c.ask, r.Status, r.Error)
		}
	}
}

// A sender learns whether a program serves the agent.
func TestReachOfRemoteAgents(t *testing.T) {
	s := hostRemote(t)
	mention := func() shoal.Reach {
		t.Helper()
		m, err := s.Operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}, Mentions: []shoal.EntityID{"clerk"}})
		if err != nil || len(m.Reach) != 1 {
			t.Fatalf("%+v, %v", m.Reach, err)
		}
		return m.Reach[0]
	}
	if r := mention(); r.State != shoal.ReachAsleep || r.Text != "no program is connected for @clerk" || r.Via == nil || *r.Via != shoal.ViaProgram {
		t.Errorf("without a program: %+v", r)
	}
	began := make(chan struct{}, 10)
	s.serve(func(ctx context.Context, w *client.Work) error { began <- struct{}{}; return nil })
	<-began // the program has claimed the run that was waiting
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for event, err := range s.Operator.Follow(ctx, client.FollowOptions{Space: app.Welcome}) {
		if err != nil {
			t.Fatal(err)
		}
		_ = event
		e, err := s.Operator.Entity(ctx, "clerk")
		if err != nil {
			t.Fatal(err)
		}
		if e.WaitEndsAt != nil {
			break
		}
	}
	if r := mention(); r.State != shoal.ReachWakeable || r.Text != "will be started" || r.Via == nil || *r.Via != shoal.ViaProgram {
		t.Errorf("with a program that waits: %+v", r)
	}
	<-began
}

// A program goes on when the server restarts, with what was not confirmed.
func TestServeSurvivesARestart(t *testing.T) {
	data := t.TempDir()
	running, key := apptest.Run(t, app.Config{Data: data})
	addr := strings.TrimPrefix(running.URL(), "http://")
	admin, err := client.New(client.Options{URL: running.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	operator := admin.Session(shoal.DefaultSession)
	if _, err := operator.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(remoteConfig)); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.AddMember(t.Context(), app.Welcome, "clerk"); err != nil {
		t.Fatal(err)
	}
	written, restarted := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- operator.Serve(ctx, "clerk", client.ServeOptions{Log: func(err error) { t.Log(err) }}, func(ctx context.Context, w *client.Work) error {
			if err := w.Text("Before, "); err != nil {
				return err
			}
			close(written)
			<-restarted
			return w.Text("and after.")
		})
	}()
	m, err := operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("go")}, Mentions: []shoal.EntityID{"clerk"}})
	if err != nil {
		t.Fatal(err)
	}
	<-written
	running.Stop()
	again, _ := apptest.Run(t, app.Config{Data: data, Addr: addr})
	close(restarted)
	s := &serving{Server: &apptest.Server{URL: again.URL(), Admin: admin, Operator: operator}, t: t}
	r := s.ended(m.Runs[0].RunID)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if all := s.messages(r.ID); r.Status != shoal.RunCompleted || len(all) != 1 || all[0].Text() != "Before, and after." {
		t.Errorf("the run is %s: %+v, its messages are %+v", r.Status, r.Error, all)
	}
}

// A program that knows when its model has the prompt says so: until then the sender reads that the
// mention is delivered, not that somebody works on it.
func TestServeSaysWhenItsModelHasThePrompt(t *testing.T) {
	s := hostRemote(t)
	o := client.ServeOptions{HandlerStarts: true}
	begun, goOn := make(chan struct{}), make(chan struct{})
	s.serveWith(o, func(ctx context.Context, w *client.Work) error {
		close(begun)
		select {
		case <-goOn:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for range 2 { // the second says nothing new
			if err := w.Started("model-1"); err != nil {
				return err
			}
		}
		return w.Text("Here I am.")
	})
	m := s.mention("go")
	<-begun
	if r := s.receipt(m); r.State != shoal.ReceiptDelivered || r.ResumedAt != nil {
		t.Errorf("before the model has the prompt: %+v", r)
	}
	close(goOn)
	run := s.ended(m.Runs[0].RunID)
	if r := s.receipt(m); r.State != shoal.ReceiptAnswered || r.ResumedAt == nil || run.Steps != 1 {
		t.Errorf("afterwards: %+v; the run has %d steps", r, run.Steps)
	}
}

// Whatever such a program reports before says that its turn has started; a failure alone does not.
func TestServeStartsAtTheLatestWithALine(t *testing.T) {
	s := hostRemote(t)
	s.serveWith(client.ServeOptions{HandlerStarts: true}, func(_ context.Context, w *client.Work) error {
		switch {
		case strings.Contains(w.Claimed.Prompt, "text"):
			return w.Text("Hello.")
		case strings.Contains(w.Claimed.Prompt, "nothing"):
			return nil
		}
		return errors.New("No model.")
	})
	for _, c := range []struct {
		ask    string
		status shoal.RunStatus
		steps  int
	}{{"text", shoal.RunCompleted, 1}, {"nothing", shoal.RunCompleted, 1}, {"failure", shoal.RunFailed, 0}} {
		m := s.mention(c.ask)
		run := s.ended(m.Runs[0].RunID)
		if run.Status != c.status || run.Steps != c.steps {
			t.Errorf("%s: the run is %s with %d steps: %+v", c.ask, run.Status, run.Steps, run.Error)
		}
	}
}

// receipt returns what became of the mention of clerk.
func (s *serving) receipt(m shoal.Message) shoal.Receipt {
	s.t.Helper()
	all, err := s.Operator.Receipts(s.t.Context(), m.ID)
	if err != nil || len(all) != 1 {
		s.t.Fatalf("the receipts: %+v, %v", all, err)
	}
	return all[0]
}

// A handler takes in a message that arrives while it works; one that it leaves is the next run.
func TestServeTakesMessagesIn(t *testing.T) {
	s := hostRemote(t)
	config := `{"version": "1.0", "agent": {"name": "Clerk"}, "remote": {}, "loop": {"onNewMessage": "steer"}}`
	if _, err := s.Operator.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(config)); err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{}, 1)
	s.serve(func(ctx context.Context, w *client.Work) error {
		if !strings.Contains(w.Claimed.Prompt, "first") {
			return w.Text("I have left it until now.")
		}
		begun <- struct{}{}
		for i := range 2 {
			select {
			case m := <-w.Steers():
				if want := []string{"second", "third"}[i]; !strings.Contains(m.Text, want+"</message>") || m.By != shoal.Operator || len(m.ActingFor) != 1 {
					return fmt.Errorf("message %d is %+v", i, m)
				}
				if i == 0 {
					if err := w.Steered(m.RunID); err != nil {
						return err
					}
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return w.Text("First and second.")
	})
	first := s.mention("first")
	<-begun
	second, third := s.mention("second"), s.mention("third")
	for _, m := range []shoal.Message{first, second, third} {
		if r := s.ended(m.Runs[0].RunID); r.Status != shoal.RunCompleted {
			t.Errorf("the run of %q is %s: %+v", m.Text(), r.Status, r.Error)
		}
	}
	if r := s.receipt(second); r.State != shoal.ReceiptAnswered || *r.RunID != first.Runs[0].RunID {
		t.Errorf("the receipt of the message that was taken in: %+v", r)
	}
	if r := s.receipt(third); r.State != shoal.ReceiptAnswered || *r.RunID != third.Runs[0].RunID {
		t.Errorf("the receipt of the message that was left: %+v", r)
	}
}

// A message that was offered is offered once, also after a restart of the server, and what the program
// has said of it is stored then.
func TestServeTakesMessagesInOverARestart(t *testing.T) {
	data := t.TempDir()
	running, key := apptest.Run(t, app.Config{Data: data})
	addr := strings.TrimPrefix(running.URL(), "http://")
	admin, err := client.New(client.Options{URL: running.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{Server: &apptest.Server{URL: running.URL(), Admin: admin, Operator: admin.Session(shoal.DefaultSession)}, t: t, done: make(chan error, 1)}
	s.session = s.Operator
	config := `{"version": "1.0", "agent": {"name": "Clerk"}, "remote": {}, "loop": {"onNewMessage": "steer"}}`
	if _, err := s.Operator.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(config)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Operator.AddMember(t.Context(), app.Welcome, "clerk"); err != nil {
		t.Fatal(err)
	}
	begun, have, restarted := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var twice int
	s.serve(func(ctx context.Context, w *client.Work) error {
		close(begun)
		m := <-w.Steers()
		close(have)
		<-restarted
		if err := w.Steered(m.RunID); err != nil {
			return err
		}
		_, err := w.Permission("go", "go", "Go on", nil) // its answer comes after what is offered still
		twice = len(w.Steers())
		return errors.Join(err, w.Text("Both."))
	})
	first := s.mention("first")
	<-begun
	second := s.mention("second")
	<-have
	running.Stop()
	apptest.Run(t, app.Config{Data: data, Addr: addr})
	close(restarted)
	action, yes := s.pending(first.Runs[0].RunID), true
	if _, err := s.Operator.AnswerPending(t.Context(), action.ID, shoal.PendingAnswer{Approved: &yes, ArgsHash: &action.ArgsHash}); err != nil {
		t.Fatal(err)
	}
	if r := s.ended(first.Runs[0].RunID); r.Status != shoal.RunCompleted {
		t.Errorf("the run is %s: %+v", r.Status, r.Error)
	}
	if r := s.ended(second.Runs[0].RunID); r.PartOf == nil || *r.PartOf != first.Runs[0].RunID {
		t.Errorf("the run of the second message is %+v", r)
	}
	s.stop()
	if twice != 0 {
		t.Error("the message was offered again")
	}
}

// A program that stops in order gives its runs back with all that it has done, also if its line is cut
// meanwhile, and another goes on at once: the lease has not ended then.
func TestServeGivesItsRunsBack(t *testing.T) {
	for name, begins := range map[string]bool{"begun": true, "not begun": false, "over a cut": true} {
		t.Run(name, func(t *testing.T) {
			s := hostRemote(t)
			if name == "over a cut" {
				p := faultproxy.New(t, "tcp", strings.TrimPrefix(s.URL, "http://"))
				p.Harm(faultproxy.Fault{Gate: faultproxy.Once(`"released"`)}, faultproxy.Fault{})
				s.session = s.program("http://"+p.Addr(), s.Agent("clerk"))
			}
			began := make(chan struct{})
			s.serveWith(client.ServeOptions{HandlerStarts: true}, func(ctx context.Context, w *client.Work) error {
				if begins {
					if err := w.Text("I begin"); err != nil {
						return err
					}
				}
				close(began)
				<-ctx.Done()
				return context.Cause(ctx)
			})
			id := s.ask("go")
			<-began
			s.stop()
			written := make(chan []shoal.WrittenText, 1)
			s.serve(func(_ context.Context, w *client.Work) error {
				written <- w.Claimed.Written
				return w.Text("I go on.")
			})
			if r := s.ended(id); r.Status != shoal.RunCompleted {
				t.Errorf("the run is %s: %+v", r.Status, r.Error)
			}
			if got := <-written; begins && (len(got) != 1 || got[0].Text != "I begin" || !got[0].Interrupted) || !begins && len(got) != 0 {
				t.Errorf("the next program reads %+v", got)
			}
		})
	}
}
