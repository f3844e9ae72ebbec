package clients_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/acp"
	"github.com/shoal-dev/shoal/internal/harness/claude"
	"github.com/shoal-dev/shoal/internal/harness/codex"
	"github.com/shoal-dev/shoal/internal/harness/opencode"
)

// driven is a coding agent as a runner drives it.
type driven struct {
	name    string
	kind    string // of the runner
	start   func(context.Context, harness.Spec) (harness.Session, error)
	program []string
	model   string
	// denied is what the model reads of a denial, and withReason whether the reason is part of it.
	denied     string
	withReason bool
	steers     bool
	// asksForTools is whether it asks before it calls a tool of a server that it was given.
	asksForTools bool
	// resumes is whether the agent finds a conversation again. Gemini CLI does so only sometimes.
	resumes bool
	// slow is whether it starts in seconds, also on an idle machine.
	slow bool
}

var coders = []driven{
	{
		name: "Claude Code", kind: "claude-code", start: claude.Start, program: []string{"claude"}, model: "claude-opus-4-6",
		denied: "ok, but later", withReason: true, steers: true, resumes: true,
	},
	{name: "Codex", kind: "codex", start: codex.Start, program: []string{"codex"}, denied: "ejected by user", steers: true, resumes: true},
	{name: "Gemini CLI", kind: "gemini-cli", start: acp.Start, program: []string{"gemini", "--acp", "-m", "gemini-2.5-pro"}, denied: "canceled by the user", asksForTools: true},
	{
		name: "OpenCode", kind: "opencode", start: opencode.Start, program: []string{"opencode", "acp"}, model: "aimock/gpt-5",
		denied: "rejected permission", resumes: true, slow: true,
	},
}

// resuming are those that find a conversation again.
func resuming() []driven {
	return slices.DeleteFunc(slices.Clone(coders), func(d driven) bool { return !d.resumes })
}

// bench is a machine whose models do what a prompt orders.
type bench struct {
	*machine
	driven
}

func newBench(t *testing.T, d driven) *bench {
	t.Helper()
	m := newMachine(t, "http://127.0.0.1:9", t.TempDir())
	for i, pair := range m.env {
		m.env[i] = strings.ReplaceAll(pair, model.URL, orderly.URL)
	}
	m.keeps(".claude.json", claudeSettings)
	m.keeps(".codex/config.toml", strings.ReplaceAll(codexSettings, "OPENAI", orderly.URL+"/v1"))
	m.keeps(".gemini/settings.json", geminiSettings)
	m.keeps(".config/opencode/opencode.json", strings.ReplaceAll(openCodeSettings, "OPENAI", orderly.URL+"/v1"))
	d.program = append([]string{filepath.Join(programs, d.program[0])}, d.program[1:]...)
	return &bench{m, d}
}

func (b *bench) open(mode harness.Mode, resume string, servers ...harness.Server) harness.Session {
	b.t.Helper()
	s, err := b.start(b.t.Context(), harness.Spec{
		Command: b.program, Dir: b.project, Env: b.env, Mode: mode, Model: b.model, Resume: resume, Servers: servers,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return s
}

// turn is what came of a turn.
type turn struct {
	started     bool
	text        string
	tools       map[string]harness.Tool
	permissions []harness.Permission
	used        int // usage events
	ended       harness.Ended
}

// run runs a turn to its end; on sees every event.
func (b *bench) run(ctx context.Context, s harness.Session, prompt string, on func(harness.Event)) (t turn) {
	b.t.Helper()
	t.tools = map[string]harness.Tool{}
	for e, err := range s.Turn(ctx, prompt) {
		if err != nil {
			b.t.Fatal(err)
		}
		switch e := e.(type) {
		case harness.Started:
			t.started = true
		case harness.Text:
			t.text += e.Delta
		case harness.Tool:
			t.tools[e.CallID] = e
		case harness.Permission:
			t.permissions = append(t.permissions, e)
		case harness.Usage:
			t.used++
		case harness.Ended:
			t.ended = e
		}
		if on != nil {
			on(e)
		}
	}
	return t
}

// answering answers every request for a permission.
func (b *bench) answering(s harness.Session, v harness.Verdict) func(harness.Event) {
	return func(e harness.Event) {
		if p, ok := e.(harness.Permission); ok {
			if err := s.Answer(b.t.Context(), p.CallID, v); err != nil {
				b.t.Errorf("%s: %v", p.Title, err)
			}
			if err := s.Answer(b.t.Context(), p.CallID, v); !errors.Is(err, harness.ErrNotAsked) {
				b.t.Errorf("a second answer: %v, want ErrNotAsked", err)
			}
		}
	}
}

// exists reports whether a file is in the project.
func (b *bench) exists(name string) bool {
	_, err := os.Stat(filepath.Join(b.project, name))
	return err == nil
}

// sent is how many requests to models held a text.
func sent(t *testing.T, text string) int { return counted(t, "/requests", text) }

// most is how often the one request to a model held a text that did most.
func most(t *testing.T, text string) int { return counted(t, "/most", text) }

func counted(t *testing.T, path, text string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, orderly.URL+path+"?match="+url.QueryEscape(text), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(string(all))
	if err != nil {
		t.Fatalf("%s: %v", all, err)
	}
	return n
}

// A real coding agent answers a prompt, asks before it acts, does what was approved and
// does not do what was denied, of which its model reads.
func TestCodingAgents(t *testing.T) {
	t.Parallel()
	for _, d := range coders {
		if d.slow {
			continue // it does the same in TestCodingAgentsInASpace, which fewer runs of the tests include
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, d)
			s := b.open(harness.ModeAsk, "")

			said := b.run(t.Context(), s, "order: say Good morning.", nil)
			if said.text != "Good morning." || !said.started || said.ended.Stop != harness.StopCompleted || said.used == 0 {
				t.Errorf("a turn that says something: %+v", said)
			}

			denied := b.run(t.Context(), s, "order: run touch denied.txt", b.answering(s, harness.Verdict{Reason: "ok, but later"}))
			if b.exists("denied.txt") || len(denied.permissions) != 1 || !strings.Contains(denied.text, d.denied) {
				t.Errorf("a denied command (its file exists: %v): %+v", b.exists("denied.txt"), denied)
			}
			approved := b.run(t.Context(), s, "order: run touch approved.txt", b.answering(s, harness.Verdict{Approved: true}))
			if !b.exists("approved.txt") || len(approved.permissions) != 1 || approved.ended.Stop != harness.StopCompleted {
				t.Errorf("an approved command: %+v", approved)
			}
			p := approved.permissions[0]
			if call := approved.tools[p.CallID]; call.State != harness.ToolCompleted {
				t.Errorf("the approved call is %+v", call)
			}
			if shown := p.Title + string(p.Args); !strings.Contains(shown, "touch approved.txt") {
				t.Errorf("the request does not show the command: %+v", p)
			}
		})
	}
}

// OpenCode asks twice about a command that reaches beyond its directory: whether it may, and whether it may
// execute it. People are asked once, and read both.
func TestCodingAgentsAskOnce(t *testing.T) {
	t.Parallel()
	for _, d := range coders {
		if d.kind != "opencode" {
			continue
		}
		b := newBench(t, d)
		s := b.open(harness.ModeAsk, "")
		outside := filepath.Join(t.TempDir(), "outside.txt")
		got := b.run(t.Context(), s, "order: run touch inside.txt "+outside, b.answering(s, harness.Verdict{Approved: true}))
		if _, err := os.Stat(outside); err != nil || !b.exists("inside.txt") || len(got.permissions) != 1 {
			t.Fatalf("%v, the file in the directory exists: %v; the turn: %+v", err, b.exists("inside.txt"), got)
		}
		if shown := string(got.permissions[0].Args); !strings.Contains(shown, "touch inside.txt") || !strings.Contains(shown, `"directories":["`+filepath.Dir(outside)) {
			t.Errorf("the request shows %s", shown)
		}
	}
}

// An agent is given an MCP server, and calls its tools, without a question if it can. The key of the server is
// not on any command line.
func TestCodingAgentsCallTools(t *testing.T) {
	t.Parallel()
	server, key := apptest.Run(t, app.Config{Data: t.TempDir()})
	for _, d := range coders {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, d)
			s := b.open(harness.ModeAsk, "", harness.Server{Name: "shoal", URL: server.URL() + "/mcp", Key: key})
			got := b.run(t.Context(), s, "order: call list_agents", b.answering(s, harness.Verdict{Approved: d.asksForTools}))
			if len(got.permissions) > 0 != d.asksForTools || !strings.Contains(got.text, "operator") {
				t.Errorf("it asked %d times; the turn: %+v", len(got.permissions), got)
			}
			lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
			if err != nil || len(lines) == 0 {
				t.Fatalf("no command lines: %v", err)
			}
			for _, file := range lines {
				if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), key) {
					t.Errorf("the key is on the command line %q", text)
				}
			}
		})
	}
}

// An agent that may only read changes nothing, even if it asks.
func TestCodingAgentsOnlyRead(t *testing.T) {
	t.Parallel()
	for _, d := range coders {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, d)
			s := b.open(harness.ModeRead, "")
			got := b.run(t.Context(), s, "order: run touch changed.txt", b.answering(s, harness.Verdict{Reason: "You may only read."}))
			if b.exists("changed.txt") || got.ended.Stop != harness.StopCompleted {
				t.Errorf("its file exists: %v; the turn: %+v", b.exists("changed.txt"), got)
			}
			if next := b.run(t.Context(), s, "order: say I have read it.", nil); next.text != "I have read it." {
				t.Errorf("the next turn: %+v", next)
			}
		})
	}
}

// A turn that is canceled ends, also while a permission is open, and the next one works.
func TestCodingAgentsAreInterrupted(t *testing.T) {
	t.Parallel()
	for _, d := range coders {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, d)
			s := b.open(harness.ModeAsk, "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			canceled := b.run(ctx, s, "order: run touch late.txt", func(e harness.Event) {
				if _, ok := e.(harness.Permission); ok {
					cancel()
				}
			})
			if canceled.ended.Stop != harness.StopCanceled || b.exists("late.txt") {
				t.Errorf("the canceled turn: %+v", canceled)
			}
			if err := s.Answer(t.Context(), canceled.permissions[0].CallID, harness.Verdict{Approved: true}); !errors.Is(err, harness.ErrNotAsked) {
				t.Errorf("an answer after the end of the turn: %v, want ErrNotAsked", err)
			}
			if next := b.run(t.Context(), s, "order: say I am well.", nil); next.text != "I am well." {
				t.Errorf("the next turn: %+v", next)
			}
		})
	}
}

// An agent that was killed is started again with its conversation, and knows it.
func TestCodingAgentsAreResumed(t *testing.T) {
	t.Parallel()
	for _, d := range resuming() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, d)
			first := b.open(harness.ModeAsk, "")
			before := "The word is " + strings.ReplaceAll(t.Name(), "/", "-")
			b.run(t.Context(), first, before+". order: say Noted.", nil)
			ref := first.Ref()
			if ref == "" {
				t.Fatal("the session has no ref")
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			for _, err := range first.Turn(t.Context(), "Are you there?") {
				if exit := (*harness.ExitError)(nil); !errors.As(err, &exit) {
					t.Errorf("a turn after the end: %v, want an ExitError", err)
				}
			}
			seen := sent(t, before)
			second := b.open(harness.ModeAsk, ref)
			if got := b.run(t.Context(), second, "order: say I am back.", nil); got.text != "I am back." {
				t.Errorf("the resumed conversation: %+v", got)
			}
			if got := sent(t, before); got != seen+1 {
				t.Errorf("the model was sent the earlier turn %d times after the resumption, want once", got-seen)
			}
			if _, err := b.start(t.Context(), harness.Spec{
				Command: b.program, Dir: b.project, Env: b.env, Mode: harness.ModeAsk, Model: b.model,
				Resume: "01a21acd-0850-7903-aebe-06e76db25599",
			}); !errors.Is(err, harness.ErrNoResume) {
				t.Errorf("an unknown conversation: %v, want ErrNoResume", err)
			}
		})
	}
}

// A message that comes while the agent works is part of the same turn.
func TestCodingAgentsAreSteered(t *testing.T) {
	t.Parallel()
	for _, d := range coders {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, d)
			s := b.open(harness.ModeAsk, "")
			if err := s.Steer(t.Context(), "early", "order: say Too early."); !errors.Is(err, harness.ErrIdle) && !errors.Is(err, harness.ErrNoSteer) {
				t.Errorf("a message without a turn: %v", err)
			}
			var steered error
			var order []string
			got := b.run(t.Context(), s, "order: run touch steered.txt", func(e harness.Event) {
				switch e := e.(type) {
				case harness.Permission:
					steered = s.Steer(t.Context(), "m1", "order: say I have read it.")
					if err := s.Answer(t.Context(), e.CallID, harness.Verdict{Approved: true}); err != nil {
						t.Error(err)
					}
				case harness.Tool:
					if e.State == harness.ToolCompleted {
						order = append(order, "tool")
					}
				case harness.Steered:
					order = append(order, "steered "+e.ID)
				}
			})
			if !d.steers {
				if !errors.Is(steered, harness.ErrNoSteer) {
					t.Errorf("%v, want ErrNoSteer", steered)
				}
				return
			}
			if diff := cmp.Diff([]string{"tool", "steered m1"}, order); diff != "" {
				t.Errorf("the model has the message after the tool, once (-want +got):\n%s", diff)
			}
			if steered != nil || !strings.Contains(got.text, "I have read it.") || got.ended.Stop != harness.StopCompleted {
				t.Errorf("steered: %v, %+v", steered, got)
			}
			if next := b.run(t.Context(), s, "order: say And on.", nil); next.text != "And on." {
				t.Errorf("the next turn: %+v", next)
			}
		})
	}
}

// Nothing survives a stop, and nothing a kill of the agent's first process: the programs that do
// the work are its children.
func TestCodingAgentsLeaveNothing(t *testing.T) {
	t.Parallel()
	for _, d := range coders {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, d)
			s := b.open(harness.ModeAsk, "")
			var group int
			for _, err := range s.Turn(t.Context(), "order: run touch never.txt") {
				if err != nil || group != 0 {
					continue
				}
				if group = groupIn(t, b.project); group == 0 {
					t.Fatal("no process works in the project")
				}
				if err := syscall.Kill(group, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			<-s.Done()
			if left := groupIn(t, b.project); left != 0 {
				t.Errorf("group %d still has a process in the project", left)
			}
			if b.exists("never.txt") {
				t.Error("the command was executed without an answer")
			}
		})
	}
}

// groupIn returns the group of a process whose working directory is dir, or 0. The group of the test
// itself is never returned: it may be killed.
func groupIn(t *testing.T, dir string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range all {
		at, err := os.Readlink(link)
		if err != nil || at != dir {
			continue // it has ended, or is another's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil {
			t.Fatal(err)
		}
		if group, err := syscall.Getpgid(pid); err == nil && group != syscall.Getpgrp() {
			return group
		}
	}
	return 0
}
