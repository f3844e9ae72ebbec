package clients_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	at  *client.Session // of the operator
	out strings.Builder
}

// newRunner starts a server, and `shoal runner` on another machine's terms: with a key of its own.
func newRunner(t *testing.T, d driven, more ...string) *runnerBench {
	t.Helper()
	data := t.TempDir()
	server, key := apptest.Run(t, app.Config{Data: data})
	b := &runnerBench{bench: newBench(t, d), at: clientOf(t, client.Options{URL: server.URL(), Key: key, As: shoal.Operator}).Session(shoal.DefaultSession)}
	b.env = append(b.env, "SHOAL_URL="+server.URL(), "SHOAL_DATA="+data, "XDG_STATE_HOME="+b.home)
	b.start(more...)
	return b
}

// start starts the runner; the test ends it.
func (b *runnerBench) start(more ...string) (stop func()) {
	b.t.Helper()
	kind := map[string]string{"Claude Code": "claude-code", "Codex": "codex", "Gemini CLI": "gemini-cli"}[b.name]
	args := append([]string{"runner", kind, "--agent", "scout", "--dir", b.project, "--model", b.model}, more...)
	for _, word := range b.program {
		args = append(args, "--program="+word)
	}
	for _, name := range []string{"ANTHROPIC_*", "AIMOCK_KEY", "HTTP_PROXY", "NO_PROXY"} {
		args = append(args, "--environ", name)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.t.Context()))
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "shoal"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.project, b.env, 30*time.Second
	cmd.Stdout, cmd.Stderr = &b.out, &b.out
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	var gone sync.WaitGroup
	gone.Go(func() { _ = cmd.Wait() }) // it was interrupted
	stop = sync.OnceFunc(func() {
		cancel()
		gone.Wait()
	})
	b.t.Cleanup(func() {
		stop()
		if b.t.Failed() {
			b.t.Logf("the runner printed:\n%s", b.out.String())
		}
		if left := groupIn(b.t, b.project); left != 0 {
			b.t.Errorf("group %d still works in the project", left)
		}
	})
	return stop
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
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		if found, ok := find(); ok {
			return found
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s has not come; the runner printed:\n%s", what, b.out.String())
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
			b.decide(p, false, "ok, but later")
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
