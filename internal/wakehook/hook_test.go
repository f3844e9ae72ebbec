package wakehook

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hookOf returns a hook of a coding agent that is this test, for an agent of a server.
func hookOf(t *testing.T, s *apptest.Server, key string, out *bytes.Buffer) *hook {
	t.Helper()
	c, err := client.New(client.Options{URL: s.URL, Key: key, RetryFor: -1})
	if err != nil {
		t.Fatal(err)
	}
	return &hook{
		kind: kinds[0], server: c, tools: "mcp__shoal__", out: out, owner: owner{pid: os.Getpid(), parent: os.Getppid()},
		state: state{dir: t.TempDir(), name: "claude-1"},
	}
}

func mention(t *testing.T, s *apptest.Server, text string) shoal.Message {
	t.Helper()
	m, err := s.Operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"scout"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func receipt(t *testing.T, s *apptest.Server, m shoal.Message) shoal.ReceiptState {
	t.Helper()
	all, err := s.Operator.Receipts(t.Context(), m.ID)
	if err != nil || len(all) != 1 {
		t.Fatalf("receipts %+v, %v", all, err)
	}
	return all[0].State
}

// until returns when something holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); <-again.C {
		if time.Now().After(deadline) {
			t.Fatal(what + " has not come")
		}
	}
}

// A hook prints a mention and acknowledges nothing. The event of the prompt in which the model reads it
// does, also while another hook waits. Then the agent's own waits still acknowledge as before.
func TestAHookPrintsAMention(t *testing.T) {
	s := apptest.Start(t)
	key := s.Agent("scout")
	var out bytes.Buffer
	h := hookOf(t, s, key, &out)
	m := mention(t, s, "Hello")
	woken, err := h.handle(t.Context(), event{Name: "SessionStart"})
	if err != nil || !woken || !strings.Contains(out.String(), `<message id="`+string(m.ID)+`"`) {
		t.Fatalf("%v, %v: %s", woken, err, &out)
	}
	if state := receipt(t, s, m); state != shoal.ReceiptDelivered {
		t.Errorf("printed, it is %s", state)
	}
	// The next two events: another prompt, and the one that carries the delivery. Their hooks wait.
	for _, step := range []struct {
		prompt string
		want   shoal.ReceiptState
	}{{"something else", shoal.ReceiptDelivered}, {out.String(), shoal.ReceiptResumed}} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool, 1)
		go func() {
			woken, _ := h.handle(ctx, event{Name: "UserPromptSubmit", Prompt: step.prompt}) // it was canceled
			ended <- woken
		}()
		until(t, string(step.want), func() bool {
			who, err := s.Operator.Entity(t.Context(), "scout")
			return err == nil && who.Wake.State == shoal.ReachBusy && (step.want == shoal.ReceiptDelivered || receipt(t, s, m) == step.want)
		})
		cancel()
		if state := receipt(t, s, m); <-ended || (state == shoal.ReceiptResumed) != (step.want == shoal.ReceiptResumed) {
			t.Errorf("after the prompt %.20q it is %s", step.prompt, state)
		}
	}
	// The model itself acknowledges the first by waiting again.
	model := h.server.Session(shoal.DefaultSession)
	second := mention(t, s, "Are you there?")
	for i, want := range []bool{true, false} {
		got, err := model.Wait(t.Context(), "scout", client.WaitRequest{})
		if err != nil || got.TimedOut == want {
			t.Errorf("wait %d of the model: %+v, %v", i, got, err)
		}
	}
	if state := receipt(t, s, second); state != shoal.ReceiptResumed {
		t.Errorf("the model has waited again, and the mention is %s", state)
	}
}

// A hook that waits says that the agent is woken. It ends with its owner, forgets it and its lease, and
// takes nothing.
// It is not parallel: a process that is being started has the files of others for a moment, and their locks.
func TestAHookEndsWithItsOwner(t *testing.T) {
	s := apptest.Start(t)
	var out bytes.Buffer
	h := hookOf(t, s, s.Agent("scout"), &out)
	claude := exec.Command("cat")
	in, err := claude.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := claude.Start(); err != nil {
		t.Fatal(err)
	}
	h.owner.pid = claude.Process.Pid
	ended := make(chan error, 1)
	go func() {
		woken, err := h.handle(context.WithoutCancel(t.Context()), event{Name: "UserPromptSubmit"})
		if woken {
			err = errors.Join(err, errors.New("it has printed something"))
		}
		ended <- err
	}()
	wakeIs := func(state shoal.ReachState) func() bool {
		return func() bool {
			who, err := s.Operator.Entity(t.Context(), "scout")
			return err == nil && who.Wake.State == state
		}
	}
	until(t, "the lease", wakeIs(shoal.ReachBusy))
	if err := errors.Join(in.Close(), claude.Wait()); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the lease", wakeIs(shoal.ReachAsleep))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(h.state.path(".*")); err != nil || len(left) > 0 {
		t.Errorf("it has left %q, %v", left, err)
	}
	m := mention(t, s, "Hello")
	if state := receipt(t, s, m); state != shoal.ReceiptSent || out.Len() > 0 {
		t.Errorf("a mention afterwards is %s; printed: %s", state, &out)
	}
}

// Nothing but a message has a hook exit with the code that wakes a model.
func TestOnlyAMessageWakes(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		input string
		code  int
	}{
		"no client":      {nil, "{}", 1},
		"another client": {[]string{"emacs"}, "{}", 1},
		"a wrong flag":   {[]string{"claude", "--nothing"}, "{}", 1},
		"no event":       {[]string{"claude"}, "", 1},
		"no entry":       {[]string{"claude"}, `{"hook_event_name": "Stop"}`, 1},
	} {
		t.Setenv("HOME", t.TempDir())
		t.Setenv("CLAUDE_CONFIG_DIR", "")
		t.Setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
		var out bytes.Buffer
		if code := Main(t.Context(), test.args, strings.NewReader(test.input), &out, &out); code != test.code || out.Len() == 0 {
			t.Errorf("%s: %d\n%s", name, code, &out)
		}
	}
	t.Setenv("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
	if code := Main(t.Context(), []string{"claude"}, strings.NewReader(`{"hook_event_name": "Stop"}`), os.Stdout, os.Stderr); code != 0 {
		t.Errorf("without a terminal: %d", code)
	}
}
