package clients_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// runnerBench is a machine on which `shoal runner` runs one coding agent, and its operator.
type runnerBench struct {
	*bench
	at    *client.Session // of the operator
	url   string
	admin *client.Client
	out   printed
	stop  func() // ends the runner
	kill  func() // kills it
}

// printed is what a program has printed so far.
type printed struct {
	mu  sync.Mutex
	all strings.Builder
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.String()
}

// newRunner starts a server, and `shoal runner` with the rights of its operator.
func newRunner(t *testing.T, d driven) *runnerBench {
	t.Helper()
	data := t.TempDir()
	server, key := apptest.Run(t, app.Config{Data: data})
	b := &runnerBench{bench: newBench(t, d), url: server.URL(), admin: clientOf(t, client.Options{URL: server.URL(), Key: key}), at: clientOf(t, client.Options{URL: server.URL(), Key: key, As: shoal.Operator}).Session(shoal.DefaultSession)}
	b.env = append(b.env, "SHOAL_URL="+server.URL(), "SHOAL_DATA="+data, "XDG_STATE_HOME="+b.home)
	b.start()
	t.Cleanup(func() {
		b.stop()
		if t.Failed() {
			t.Logf("the runner printed:\n%s", b.out.String())
		}
		if left := groupIn(t, b.project); left != 0 {
			t.Errorf("group %d still works in the project", left)
		}
	})
	return b
}

// start starts the runner.
func (b *runnerBench) start() {
	b.t.Helper()
	args := []string{"runner", b.kind, "--agent", "scout", "--dir", b.project, "--model", b.model}
	for _, word := range b.program {
		args = append(args, "--program="+word)
	}
	for _, name := range []string{"ANTHROPIC_*", "AIMOCK_KEY", "HTTP_PROXY", "NO_PROXY"} {
		args = append(args, "--environ", name)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.t.Context()))
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "shoal"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.home, b.env, 30*time.Second
	cmd.Stdout, cmd.Stderr = &b.out, &b.out
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	var gone sync.WaitGroup
	gone.Go(func() { _ = cmd.Wait() }) // it was interrupted
	b.stop = func() {
		cancel()
		gone.Wait()
	}
	b.kill = func() {
		if err := cmd.Process.Kill(); err != nil {
			b.t.Error(err)
		}
		gone.Wait()
		cancel()
	}
}

// say posts a mention of the agent.
func (b *runnerBench) say(text string) shoal.Message {
	b.t.Helper()
	m, err := b.at.Post(b.t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"scout"}})
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// answer waits for the agent's message after another, completed.
func (b *runnerBench) answer(after shoal.Message) shoal.Message {
	b.t.Helper()
	return untilFound(b, "an answer", func() (found shoal.Message, ok bool) {
		for m, err := range b.at.Timeline(b.t.Context(), app.Welcome, after.Seq) {
			if err != nil {
				b.t.Fatal(err)
			}
			if m.EntityID == "scout" && m.Status == shoal.MessageCompleted {
				return m, true
			}
		}
		return found, false
	})
}

// request waits for an open request of the agent.
func (b *runnerBench) request() shoal.PendingAction {
	b.t.Helper()
	return untilFound(b, "a request", func() (found shoal.PendingAction, ok bool) {
		for p, err := range b.at.PendingActions(b.t.Context(), client.PendingOptions{}) {
			if err != nil {
				b.t.Fatal(err)
			}
			return p, true
		}
		return found, false
	})
}

// decide answers a request as the console does.
func (b *runnerBench) decide(p shoal.PendingAction, approved bool, reason string) {
	b.t.Helper()
	a := shoal.PendingAnswer{Approved: &approved, ArgsHash: &p.ArgsHash}
	if reason != "" {
		a.Reason = &reason
	}
	if _, err := b.at.AnswerPending(b.t.Context(), p.ID, a); err != nil {
		b.t.Fatal(err)
	}
}

func untilFound[T any](b *runnerBench, what string, find func() (T, bool)) T {
	b.t.Helper()
	return until(b.t, what, func() string { return "the runner printed:\n" + b.out.String() }, find)
}

// until waits for something, and fails the test with why if it does not come.
func until[T any](t *testing.T, what string, why func() string, find func() (T, bool)) T {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		if found, ok := find(); ok {
			return found
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s has not come; %s", what, why())
		}
	}
}

// untilServed waits until a program executes the runs of the agent.
func (b *runnerBench) untilServed() {
	b.t.Helper()
	untilFound(b, "the agent", func() (shoal.Entity, bool) {
		e, err := b.at.Entity(b.t.Context(), "scout")
		return e, err == nil && strings.Contains(b.out.String(), "scout works in")
	})
}

// A mention wakes a coding agent that nobody has started: what it writes is one message in the
// space, and what it wants to do waits for a person, who approves or denies it.
func TestCodingAgentsInASpace(t *testing.T) {
	t.Parallel()
	for _, d := range coders {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newRunner(t, d)
			b.untilServed()
			if m := b.answer(b.say("order: say Good morning.")); m.Text() != "Good morning." {
				t.Errorf("the answer is %q", m.Text())
			}

			asked := b.say("order: run touch denied.txt")
			p := b.request()
			if shown := p.ToolName + string(p.Args); !strings.Contains(shown, "touch denied.txt") {
				t.Errorf("the request shows %s", shown)
			}
			yes, other := true, strings.Repeat("0", len(p.ArgsHash))
			if _, err := b.at.AnswerPending(t.Context(), p.ID, shoal.PendingAnswer{Approved: &yes, ArgsHash: &other}); !errors.Is(err, shoal.ArgsChanged) {
				t.Errorf("an approval of other arguments: %v, want ArgsChanged", err)
			}
			b.decide(p, false, "ok, but later")
			if _, err := b.at.AnswerPending(t.Context(), p.ID, shoal.PendingAnswer{Approved: &yes, ArgsHash: &p.ArgsHash}); !errors.Is(err, shoal.AlreadyAnswered) {
				t.Errorf("a second answer: %v, want AlreadyAnswered", err)
			}
			if m := b.answer(asked); b.exists("denied.txt") || !strings.Contains(m.Text(), d.denied) {
				t.Errorf("its file exists: %v; the answer is %q", b.exists("denied.txt"), m.Text())
			}

			asked = b.say("order: run touch approved.txt")
			b.decide(b.request(), true, "")
			if m := b.answer(asked); !b.exists("approved.txt") {
				t.Errorf("an approved command was not executed; the answer is %q", m.Text())
			}
		})
	}
}

// A mention by somebody whom the agent does not work for is answered without the coding agent, and
// the approval of somebody else than its owner executes nothing.
func TestCodingAgentsWorkForTheirOwner(t *testing.T) {
	t.Parallel()
	b := newRunner(t, coders[1])
	b.untilServed()
	made, err := b.admin.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ben", Kind: shoal.Human})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.at.AddMember(t.Context(), app.Welcome, "ben"); err != nil {
		t.Fatal(err)
	}
	ben := clientOf(t, client.Options{URL: b.url, Key: *made.Secret}).Session(shoal.DefaultSession)
	text := "order: say This is for " + t.Name()
	m, err := ben.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"scout"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.answer(m).Text(); got != "scout works only for its owner." || sent(t, text) > 0 {
		t.Errorf("the answer is %q; the model was sent the message %d times", got, sent(t, text))
	}

	asked := b.say("order: run touch bens.txt")
	p, approved := b.request(), true
	if _, err := ben.AnswerPending(t.Context(), p.ID, shoal.PendingAnswer{Approved: &approved, ArgsHash: &p.ArgsHash}); err != nil {
		t.Fatal(err)
	}
	if got := b.answer(asked).Text(); b.exists("bens.txt") || !strings.Contains(got, "ejected by user") {
		t.Errorf("ben has approved, and the file exists: %v; the answer is %q", b.exists("bens.txt"), got)
	}
}

// A mention that comes while no runner is there waits for the next one, which continues the
// conversation.
func TestCodingAgentsSurviveTheirRunner(t *testing.T) {
	t.Parallel()
	for _, d := range resuming() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newRunner(t, d)
			b.untilServed()
			before := "The word is " + strings.ReplaceAll(t.Name(), "/", "-")
			b.answer(b.say(before + ". order: say Noted."))
			b.stop()
			m := b.say("order: say I am back.")
			if r := m.Reach; len(r) != 1 || r[0].State != shoal.ReachAsleep {
				t.Errorf("without a runner the sender reads %+v", r)
			}
			seen := sent(t, before)
			b.start()
			if got := b.answer(m).Text(); got != "I am back." || sent(t, before) != seen+1 {
				t.Errorf("the answer is %q; the model was sent the earlier turn %d times, want once", got, sent(t, before)-seen)
			}
		})
	}
}

// A coding agent that is killed while its question is open executes nothing, the question is closed,
// its turn is finished by the next process, and the next mention is answered.
func TestCodingAgentsAreKilled(t *testing.T) {
	t.Parallel()
	for _, d := range resuming() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newRunner(t, d)
			b.untilServed()
			b.say("order: run touch killed.txt")
			p := b.request()
			group := groupIn(t, b.project)
			if group == 0 {
				t.Fatal("no process works in the project")
			}
			if err := syscall.Kill(-group, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if run := b.endedDenying(p); run.Status != shoal.RunCompleted || b.exists("killed.txt") {
				t.Errorf("the run is %s: %+v; its file exists: %v", run.Status, run.Error, b.exists("killed.txt"))
			}
			approved := true
			if _, err := b.at.AnswerPending(t.Context(), p.ID, shoal.PendingAnswer{Approved: &approved}); !errors.Is(err, shoal.Expired) {
				t.Errorf("an approval afterwards: %v, want Expired", err)
			}
			if got := b.answer(b.say("order: say I am well.")).Text(); got != "I am well." || b.exists("killed.txt") {
				t.Errorf("the next answer is %q; the file exists: %v", got, b.exists("killed.txt"))
			}
		})
	}
}

// steers has the agent take messages during its turns, and begins one that waits for an approval, with
// a second message that the coding agent was given.
func (b *runnerBench) steers(text string) (first, second shoal.Message, p shoal.PendingAction) {
	b.t.Helper()
	b.untilServed()
	config := `{"version":"1.0","agent":{"name":"Scout"},"remote":{},"loop":{"onNewMessage":"steer"}}`
	if _, err := b.at.PutAgent(b.t.Context(), "scout", client.ConfigJSON, []byte(config)); err != nil {
		b.t.Fatal(err)
	}
	first = b.say("order: run touch steered.txt")
	p = b.request()
	second = b.say(text)
	run := string(second.Runs[0].RunID)
	untilFound(b, "the message at the agent", func() (struct{}, bool) {
		state, err := os.ReadFile(filepath.Join(b.home, "shoal", "runner", "conversations.json"))
		return struct{}{}, err == nil && strings.Contains(string(state), run)
	})
	return first, second, p
}

// ended waits for the end of a run.
func (b *runnerBench) ended(id shoal.RunID) shoal.Run {
	b.t.Helper()
	return untilFound(b, "the end of a run", func() (shoal.Run, bool) {
		r, err := b.at.Run(b.t.Context(), id)
		return r, err == nil && r.Status.Ended()
	})
}

// endedDenying waits for the end of the run of a request, and denies what its model asks once more.
func (b *runnerBench) endedDenying(before shoal.PendingAction) shoal.Run {
	b.t.Helper()
	no := false
	return untilFound(b, "the end of a run", func() (shoal.Run, bool) {
		for p, err := range b.at.PendingActions(b.t.Context(), client.PendingOptions{}) {
			if err == nil && p.ID != before.ID {
				_, _ = b.at.AnswerPending(b.t.Context(), p.ID, shoal.PendingAnswer{Approved: &no}) // it may have ended
			}
		}
		r, err := b.at.Run(b.t.Context(), before.RunID)
		return r, err == nil && r.Status.Ended()
	})
}

// A mention during a turn reaches the model in that turn, with its receipt, and starts no other.
func TestCodingAgentsTakeMessagesIn(t *testing.T) {
	t.Parallel()
	for _, d := range coders[:2] {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newRunner(t, d)
			first, second, p := b.steers("order: say I have read it.")
			receipt := func() shoal.Receipt {
				t.Helper()
				all, err := b.at.Receipts(t.Context(), second.ID)
				if err != nil || len(all) != 1 {
					t.Fatalf("the receipts: %+v, %v", all, err)
				}
				return all[0]
			}
			if r := receipt(); r.State != shoal.ReceiptSent {
				t.Errorf("before the model has the message its receipt is %+v", r)
			}
			b.decide(p, true, "")
			if got := b.answer(first).Text(); !strings.Contains(got, "I have read it.") || !b.exists("steered.txt") {
				t.Errorf("the answer is %q; the file exists: %v", got, b.exists("steered.txt"))
			}
			run := first.Runs[0].RunID
			if r := b.ended(second.Runs[0].RunID); r.Status != shoal.RunCompleted || r.PartOf == nil || *r.PartOf != run {
				t.Errorf("the run of the second message: %+v", r)
			}
			if r := receipt(); r.State != shoal.ReceiptAnswered || *r.RunID != run {
				t.Errorf("the receipt: %+v", r)
			}
		})
	}
}

// A message that the coding agent was given and did not read is answered once when its runner is
// killed.
func TestCodingAgentsLoseNoMessage(t *testing.T) {
	t.Parallel()
	for _, d := range coders[:2] {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newRunner(t, d)
			_, second, p := b.steers("order: say I have read it.")
			b.kill()
			b.start()
			if r := b.endedDenying(p); r.Status != shoal.RunCompleted {
				t.Errorf("the run that was cut off: %s, %+v", r.Status, r.Error)
			}
			if r := b.ended(second.Runs[0].RunID); r.Status != shoal.RunCompleted || r.PartOf != nil {
				t.Errorf("the run of the message: %s, %+v", r.Status, r.Error)
			}
			var texts []string
			for m, err := range b.at.Timeline(t.Context(), app.Welcome, second.Seq) {
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, m.Text())
			}
			if n := strings.Count(strings.Join(texts, "\n"), "I have read it."); n != 1 || b.exists("steered.txt") {
				t.Errorf("the message is answered %d times: %q; the file exists: %v", n, texts, b.exists("steered.txt"))
			}
		})
	}
}
