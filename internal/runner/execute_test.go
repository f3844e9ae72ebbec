package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/harness"
)

// script is a coding agent that does what it says, a turn after the other. Its last turn repeats.
type script struct {
	mu      sync.Mutex
	turns   [][]harness.Event // one that does not end with Ended ends with the process
	lost    bool              // it finds no conversation again
	whole   bool              // it notes prompts as a whole
	open    *scripted         // the last process
	broken  error             // it cannot be started
	log     []string          // starts and prompts
	answers []string
	// before, if set, is closed when the model gets the prompts.
	before chan struct{}
	// prompted, if set, is called when a prompt arrives.
	prompted func()
	// steered, if set, gets the ids of messages that arrive during a turn.
	steered chan string
	// answered, if set, receives a value for each answer; a turn waits for one after each request.
	answered chan struct{}
}

func (s *script) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *script) logged() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *script) start(_ context.Context, spec harness.Spec) (harness.Session, error) {
	s.note("start %q", spec.Resume)
	switch {
	case s.broken != nil:
		return nil, s.broken
	case s.lost && spec.Resume != "":
		return nil, harness.ErrNoResume
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = &scripted{script: s, done: make(chan struct{})}
	return s.open, nil
}

// lose ends the process, and with it the conversation.
func (s *script) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
	close(s.open.done)
}

type scripted struct {
	*script
	done chan struct{}
}

func (s *scripted) Turn(ctx context.Context, prompt string) iter.Seq2[harness.Event, error] {
	first, _, _ := strings.Cut(prompt, ":")
	if s.whole {
		first = prompt
	}
	s.note("prompt %q", first)
	if s.prompted != nil {
		s.prompted()
	}
	events := s.turns[0]
	if len(s.turns) > 1 {
		s.turns = s.turns[1:]
	}
	return func(yield func(harness.Event, error) bool) {
		if s.before != nil {
			select {
			case <-s.before:
			case <-ctx.Done():
			}
		}
		for _, e := range events {
			if wait, waits := e.(untilSteered); waits {
				select {
				case id := <-s.steered:
					e = harness.Steered{ID: id}
				case <-ctx.Done():
				}
				if !wait.reads {
					continue
				}
			}
			if !yield(e, nil) {
				return
			}
			if _, last := e.(harness.Ended); last {
				return
			}
			if _, asks := e.(harness.Permission); asks && s.answered != nil {
				select {
				case <-s.answered:
				case <-ctx.Done():
				}
			}
		}
		close(s.done)
		yield(nil, &harness.ExitError{Reason: "signal: killed", Stderr: "out of memory"})
	}
}

// untilSteered is a part of a script: the turn waits for a message, which the model reads at once if
// reads is set.
type untilSteered struct {
	harness.Started
	reads bool
}

func (s *scripted) Steer(ctx context.Context, id, text string) error {
	if s.steered == nil {
		return harness.ErrNoSteer
	}
	s.note("steer, introduced: %v", strings.HasPrefix(text, arrived+"<message "))
	select {
	case s.steered <- id:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *scripted) Answer(_ context.Context, callID string, v harness.Verdict) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, fmt.Sprintf("%s %v %s", callID, v.Approved, v.Reason))
	if s.answered != nil {
		s.answered <- struct{}{}
	}
	return nil
}

func (s *scripted) Ref() string           { return "ref" }
func (s *scripted) Done() <-chan struct{} { return s.done }

func (s *scripted) Close() error {
	select {
	case <-s.done:
	default:
		close(s.done)
	}
	return nil
}

// recorded is a reporter that keeps what it receives, and denies what it is asked.
type recorded struct {
	lines   []string
	err     error
	heard   func(event string) // is called with each event
	choices []Choice           // the decisions, in turn; without one people leave it
}

func (r *recorded) add(format string, args ...any) error {
	event := fmt.Sprintf(format, args...)
	if r.heard != nil {
		r.heard(event)
	}
	r.lines = append(r.lines, event)
	return r.err
}

func (r *recorded) Anew(_ context.Context, messages int) error { return r.add("anew %d", messages) }

func (r *recorded) Steered(_ context.Context, run string) error { return r.add("steered %s", run) }

func (r *recorded) Started(context.Context) error { return r.add("started") }

func (r *recorded) Text(_ context.Context, delta string) error    { return r.add("text %s", delta) }
func (r *recorded) Thought(_ context.Context, delta string) error { return r.add("thought %s", delta) }

func (r *recorded) Usage(_ context.Context, u harness.Usage) error {
	return r.add("usage %d", u.OutputTokens)
}

func (r *recorded) Tool(_ context.Context, t harness.Tool) error {
	return r.add("tool %s %s %s", t.CallID, t.Title, t.State)
}

func (r *recorded) Decide(_ context.Context, id, question string) (Choice, error) {
	choice := ChoiceLeave
	if len(r.choices) > 0 {
		choice, r.choices = r.choices[0], r.choices[1:]
	}
	return choice, r.add("decide %s %s: %s", id, question, choice)
}

func (r *recorded) Ask(_ context.Context, p harness.Permission, answer func(harness.Verdict)) error {
	answer(harness.Verdict{Reason: "ok, but later"})
	return r.add("ask %s", p.Title)
}

// Parts of turns.
var (
	started = harness.Started{}
	text    = harness.Text{Delta: "hi"}
	running = harness.Tool{CallID: "1", Title: "make", State: harness.ToolRunning}
	made    = harness.Tool{CallID: "1", State: harness.ToolCompleted}
	asked   = harness.Permission{CallID: "1", Title: "make"}
	used    = harness.Usage{OutputTokens: 5}
	well    = harness.Ended{Stop: harness.StopCompleted}
)

// A turn is reported as it happens. When the program ends in between, nothing is done twice: the
// same prompt comes again only if no model has read it.
func TestExecute(t *testing.T) {
	for _, c := range []struct {
		name   string
		script *script
		mode   harness.Mode
		begun  bool
		report recorded
		log    []string
		lines  []string
		err    string
	}{
		{
			name:   "a turn",
			script: &script{turns: [][]harness.Event{{started, text, running, asked, made, used, well}}},
			log:    []string{`start ""`, `prompt "Do it"`},
			lines:  []string{"started", "text hi", "tool 1 make running", "ask make", "tool 1 make completed", "usage 5"},
		},
		{
			name:   "it ends before its model has read the prompt",
			script: &script{turns: [][]harness.Event{{}, {started, well}}},
			log:    []string{`start ""`, `prompt "Do it"`, `start "ref"`, `prompt "The program was restarted, and you may have the message below already. If you have, check what is already done before you repeat anything, and finish the turn; if not, this is it"`},
			lines:  []string{"started"},
		},
		{
			name:   "it ends while it writes",
			script: &script{turns: [][]harness.Event{{started, text}, {started, text, well}}},
			log:    []string{`start ""`, `prompt "Do it"`, `start "ref"`, `prompt "Your last turn was cut off"`},
			lines:  []string{"started", "text hi", "started", "text hi"},
		},
		{
			name:   "it ends after a tool",
			script: &script{turns: [][]harness.Event{{started, running, made}, {started, well}}},
			log:    []string{`start ""`, `prompt "Do it"`, `start "ref"`, `prompt "Your last turn was cut off"`},
			lines:  []string{"started", "tool 1 make running", "tool 1 make completed", "started"},
		},
		{
			name:   "it ends while a tool is at work, and nobody decides",
			script: &script{turns: [][]harness.Event{{started, running}}},
			log:    []string{`start ""`, `prompt "Do it"`},
			lines:  []string{"started", "tool 1 make running", makeUnknown + "Leave it"},
			err:    `outcome_unknown: Scout was cut off while it executed "make": what came of it is unknown. Check before you ask again.`,
		},
		{
			name:   "it ends while a tool is at work, and is to go on",
			script: &script{turns: [][]harness.Event{{started, running}, {started, well}}},
			report: recorded{choices: []Choice{ChoiceGoOn}},
			log:    []string{`start ""`, `prompt "Do it"`, `start "ref"`, `prompt "Your last turn was cut off"`},
			lines:  []string{"started", "tool 1 make running", makeUnknown + "Go on", "tool 1 make failed", "started"},
		},
		{
			name:   "it ends while a tool is at work, and is to start anew",
			script: &script{turns: [][]harness.Event{{started, running}, {started, well}}},
			report: recorded{choices: []Choice{ChoiceAnew}},
			log:    []string{`start ""`, `prompt "Do it"`, `start ""`, `prompt "Do it"`},
			lines:  []string{"started", "tool 1 make running", makeUnknown + "Start anew", "started", "anew 0"},
		},
		{
			name:   "it ends while nobody has answered",
			script: &script{turns: [][]harness.Event{{started, running, asked}, {started, well}}},
			log:    []string{`start ""`, `prompt "Do it"`, `start "ref"`, `prompt "Your last turn was cut off"`},
			lines:  []string{"started", "tool 1 make running", "ask make", "tool 1 make failed", "started"},
		},
		{
			name:   "it ends again",
			script: &script{turns: [][]harness.Event{{started}}},
			log:    []string{`start ""`, `prompt "Do it"`, `start "ref"`, `prompt "Your last turn was cut off"`},
			lines:  []string{"started", "started"},
			err:    "agent_failed: Scout ended: signal: killed. It printed: out of memory",
		},
		{
			name:   "it does not find its turn again",
			script: &script{turns: [][]harness.Event{{started}}, lost: true},
			log:    []string{`start ""`, `prompt "Do it"`, `start "ref"`},
			lines:  []string{"started"},
			err:    "outcome_unknown: Scout was restarted and cannot continue its turn. Check what it has done before you ask again.",
		},
		{
			name:   "an earlier runner has begun the turn",
			begun:  true,
			script: &script{turns: [][]harness.Event{{started, text, well}}},
			log:    []string{`start ""`, `prompt "Your last turn was cut off"`},
			lines:  []string{"started", "text hi"},
		},
		{
			name:   "it cannot be started",
			script: &script{broken: errors.New("no such program")},
			log:    []string{`start ""`},
			err:    "agent_failed: Scout cannot be started: no such program.",
		},
		{
			name:   "it fails",
			script: &script{turns: [][]harness.Event{{started, harness.Ended{Stop: harness.StopFailed, Text: "no credit"}}}},
			log:    []string{`start ""`, `prompt "Do it"`},
			lines:  []string{"started"},
			err:    "agent_failed: Scout reports: no credit",
		},
		{
			name:   "it may only read",
			mode:   harness.ModeRead,
			script: &script{turns: [][]harness.Event{{started, running, asked, made, well}}},
			log:    []string{`start ""`, `prompt "Do it"`},
			lines:  []string{"started", "tool 1 make running", "tool 1 make completed"},
		},
		{
			name:   "nobody hears it",
			script: &script{turns: [][]harness.Event{{started, text, running, made, well}}},
			report: recorded{err: errors.New("the lease has ended")},
			log:    []string{`start ""`, `prompt "Do it"`},
			lines:  []string{"started"},
			err:    "the lease has ended",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(Options{State: filepath.Join(t.TempDir(), "conversations.json"), MaxProcesses: 1, Idle: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Stop()
			r.kinds = map[string]kind{"scout": {title: "Scout", start: c.script.start}}
			err = r.Execute(t.Context(), Agent{ID: "scout", AgentConfig: AgentConfig{Kind: "scout", Mode: c.mode}}, Job{Run: "run_1", Generation: 1, Conversation: "lab", Prompt: "Do it: please", Begun: c.begun}, &c.report)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.err {
				t.Errorf("the error is %q, want %q", got, c.err)
			}
			if diff := cmp.Diff(c.log, c.script.log); diff != "" {
				t.Errorf("what the agent has seen (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.lines, c.report.lines); diff != "" {
				t.Errorf("what was reported (-want +got):\n%s", diff)
			}
			want := []string(nil)
			switch {
			case c.mode == harness.ModeRead:
				want = []string{"1 false This agent may only read."}
			case strings.Contains(strings.Join(c.lines, " "), "ask"):
				want = []string{"1 false ok, but later"}
			}
			if diff := cmp.Diff(want, c.script.answers); diff != "" {
				t.Errorf("the answers (-want +got):\n%s", diff)
			}
		})
	}
}

// A conversation goes on where it was, also with another runner; one that the agent has lost
// begins anew.
func TestConversationsGoOn(t *testing.T) {
	state := filepath.Join(t.TempDir(), "conversations.json")
	s := &script{turns: [][]harness.Event{{started, well}}}
	for i, want := range [][]string{
		{`start ""`, `prompt "one"`, `prompt "two"`},
		{`start "ref"`, `prompt "one"`, `prompt "two"`},
		{`start "ref"`, `start ""`, `prompt "one"`, `prompt "two"`},
	} {
		s.log, s.lost = nil, i == 2
		r, err := New(Options{State: state, MaxProcesses: 1, Idle: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		r.kinds = map[string]kind{"scout": {title: "Scout", start: s.start}}
		for _, prompt := range []string{"one", "two"} {
			if err := r.Execute(t.Context(), Agent{ID: "scout", AgentConfig: AgentConfig{Kind: "scout"}}, Job{Conversation: "lab", Prompt: prompt}, &recorded{}); err != nil {
				t.Fatal(err)
			}
		}
		r.Stop()
		if diff := cmp.Diff(want, s.log); diff != "" {
			t.Errorf("runner %d (-want +got):\n%s", i, diff)
		}
	}
}

// What is shown of a program's error output begins with a whole character.
func TestLastPrinted(t *testing.T) {
	for _, text := range []string{"short é", strings.Repeat("é", maxPrinted) + "x", "x" + strings.Repeat("é", maxPrinted)} {
		if got := last(text); !utf8.ValidString(got) || len(got) > maxPrinted+len("…") || !strings.HasSuffix(text, strings.TrimPrefix(got, "…")) {
			t.Errorf("of %d bytes: %d bytes, %.20q…", len(text), len(got), got)
		}
	}
}

// makeUnknown is the question of a runner whose agent ended during a call.
const makeUnknown = `decide unknown-1-1 Scout was cut off while it executed "make": what came of it is unknown. Shall it go on, or start anew in a new session?: `

// A runner that is killed leaves to the next one how far its turn was. A model that has the prompt is not
// sent it again; if nobody knows whether it has begun, or what came of a tool, people decide.
func TestATurnSurvivesAKill(t *testing.T) {
	const (
		resumed  = `start "ref"`
		goesOn   = `prompt "Your last turn was cut off"`
		mayHave  = `prompt "The program was restarted, and you may have the message below already. If you have, check what is already done before you repeat anything, and finish the turn; if not, this is it"`
		question = "decide unknown-1-1 Scout was given this message, and then its runner was killed: it is unknown whether Scout has begun. Shall it go on, or start anew in a new session?: "
	)
	for _, c := range []struct {
		name   string
		at     string // the event at which the runner is killed
		run    string // of the next runner
		choice []Choice
		log    []string
		lines  []string
		err    string
	}{
		{"before the first word, and nobody decides", "prompt", "run_1", nil, nil, []string{question + "Leave it"}, "outcome_unknown: Scout was given this message, and then its runner was killed: it is unknown whether Scout has begun. Check before you ask again."},
		{"before the first word, and it is to go on", "prompt", "run_1", []Choice{ChoiceGoOn}, []string{resumed, mayHave}, []string{question + "Go on", "started"}, ""},
		{"before the first word, and it is to start anew", "prompt", "run_1", []Choice{ChoiceAnew}, []string{`start ""`, `prompt "Do it"`}, []string{question + "Start anew", "started", "anew 0"}, ""},
		{"before the first word, and another run comes", "prompt", "run_2", nil, []string{resumed, `prompt "Do it"`}, []string{"started"}, ""},
		{"at the first word", "started", "run_1", nil, []string{resumed, goesOn}, []string{"started"}, ""},
		{"during a call", "tool 1 make running", "run_1", nil, nil, []string{makeUnknown + "Leave it"}, `outcome_unknown: Scout was cut off while it executed "make": what came of it is unknown. Check before you ask again.`},
		{"during a call, and it is to go on", "tool 1 make running", "run_1", []Choice{ChoiceGoOn}, []string{resumed, goesOn}, []string{makeUnknown + "Go on", "started"}, ""},
		{"after a call", "tool 1 make completed", "run_1", nil, []string{resumed, goesOn}, []string{"started"}, ""},
		{"while nobody has answered", "ask make", "run_1", nil, []string{resumed, goesOn}, []string{"started"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "conversations.json")
			s := &script{turns: [][]harness.Event{{started, running, asked, made, well}, {started, well}}}
			left := ""
			keep := func(event string) {
				if event != c.at {
					return
				}
				text, err := os.ReadFile(state) // what a kill in this moment leaves
				if err != nil {
					t.Error(err)
				}
				left = string(text)
			}
			run := func(run string, out *recorded) error {
				t.Helper()
				r, err := New(Options{State: state, MaxProcesses: 1, Idle: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Stop()
				r.kinds = map[string]kind{"scout": {title: "Scout", start: s.start}}
				return r.Execute(t.Context(), Agent{ID: "scout", AgentConfig: AgentConfig{Kind: "scout"}}, Job{Run: run, Generation: 1, Conversation: "lab", Prompt: "Do it: please"}, out)
			}
			s.prompted = func() { keep("prompt") }
			if err := run("run_1", &recorded{heard: keep}); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(state, []byte(left), 0o600); err != nil {
				t.Fatal(err)
			}
			s.log, s.prompted = nil, nil
			next, got := &recorded{choices: c.choice}, ""
			if err := run(c.run, next); err != nil {
				got = err.Error()
			}
			if got != c.err {
				t.Errorf("the error is %q, want %q", got, c.err)
			}
			if diff := cmp.Diff(c.log, s.log); diff != "" {
				t.Errorf("what the agent has seen (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.lines, next.lines); diff != "" {
				t.Errorf("what was reported (-want +got):\n%s", diff)
			}
		})
	}
}
