package wakehook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// dialog is the event of a dialog about a command.
func dialog(command string) event {
	input, _ := json.Marshal(map[string]string{"command": command}) // texts can be encoded
	return event{Name: permissionRequest, Tool: "Bash", Input: input}
}

// asked is a hook that asks for a permission, and what it has printed when it has ended.
type asked struct {
	action shoal.PendingAction
	stop   context.CancelFunc // as the signal does
	ended  chan string
}

// asks starts a hook, and returns when its action is open.
func asks(t *testing.T, s *apptest.Server, h *hook, e event) asked {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	a := asked{stop: cancel, ended: make(chan string, 1)}
	go func() {
		var answers bytes.Buffer
		h := *h
		h.answers = &answers
		if woken, err := h.handle(ctx, e); woken || err != nil {
			t.Errorf("%v, %v", woken, err)
		}
		a.ended <- answers.String()
	}()
	until(t, "the action", func() bool {
		for _, p := range openOn(t, s) {
			if p.ArgsHash == e.call() {
				a.action = p
			}
		}
		return a.action.ID != ""
	})
	return a
}

// reads returns what the dialog reads from a hook that must end.
func (a asked) reads(t *testing.T) string {
	t.Helper()
	end := time.NewTimer(30 * time.Second)
	defer end.Stop()
	select {
	case text := <-a.ended:
		return text
	case <-end.C:
		t.Fatal("the hook does not end")
		return ""
	}
}

func openOn(t *testing.T, s *apptest.Server) (all []shoal.PendingAction) {
	t.Helper()
	for p, err := range s.Operator.PendingActions(t.Context(), client.PendingOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// What a person decides on the server is what the dialog reads, and nothing besides it.
func TestADialogReadsADecision(t *testing.T) {
	s := apptest.Start(t)
	h := hookOf(t, s, s.Agent("scout"), nil)
	yes, no, reason, question := true, false, "ok, but \x1b[2Jlater", "Why?"
	for name, test := range map[string]struct {
		answer shoal.PendingAnswer
		want   string
	}{
		"approved": {shoal.PendingAnswer{Approved: &yes, Reason: &reason}, `{"behavior":"allow"}`},
		"denied":   {shoal.PendingAnswer{Approved: &no}, `{"behavior":"deny","message":"Permission denied by operator on Shoal. The call was not executed."}`},
		"a reason": {shoal.PendingAnswer{Approved: &no, Reason: &reason}, `{"behavior":"deny","message":"Permission denied by operator on Shoal. The call was not executed. Reason: ok, but later"}`},
		"a question": {
			shoal.PendingAnswer{Approved: &no, Ask: &question},
			`{"behavior":"deny","message":"Sent back by operator on Shoal with a question. The call was not executed. Question: Why?"}`,
		},
	} {
		a := asks(t, s, h, dialog(name))
		if _, err := s.Operator.AnswerPending(t.Context(), a.action.ID, test.answer); err != nil {
			t.Fatal(err)
		}
		want := `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":` + test.want + "}}\n"
		if got := a.reads(t); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// An answer in the terminal withdraws the action, whatever shows it: the signal, the executed call, or the
// end of the turn. The dialog then reads nothing.
func TestATerminalThatAnswersWithdraws(t *testing.T) {
	s := apptest.Start(t)
	h := hookOf(t, s, s.Agent("scout"), &bytes.Buffer{})
	says := func(e event) func(asked) error {
		return func(asked) error {
			_, err := h.handle(ended(), e)
			return err
		}
	}
	shown := dialog("x")
	for name, test := range map[string]struct {
		answers func(asked) error
		ends    bool
	}{
		"a signal":             {func(a asked) error { a.stop(); return nil }, true},
		"the call was made":    {says(event{Name: "PostToolUse", Tool: "Bash", Input: json.RawMessage(`{ "command": "x" }`)}), true},
		"the call has failed":  {says(event{Name: "PostToolUseFailure", Tool: "Bash", Input: shown.Input}), true},
		"another call":         {says(event{Name: "PostToolUse", Tool: "Bash", Input: json.RawMessage(`{"command": "y"}`)}), false},
		"the turn has ended":   {says(event{Name: "Stop"}), true},
		"a new prompt":         {says(event{Name: "UserPromptSubmit", Prompt: "stop"}), true},
		"another conversation": {says(event{Name: "SessionStart"}), true},
	} {
		a := asks(t, s, h, shown)
		if err := test.answers(a); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", name, err)
		}
		if !test.ends {
			if left := openOn(t, s); len(left) != 1 {
				t.Errorf("%s: %d actions are open", name, len(left))
			}
			a.stop()
		}
		if got := a.reads(t); got != "" {
			t.Errorf("%s: the dialog reads %s", name, got)
		}
		if left := openOn(t, s); len(left) != 0 {
			t.Errorf("%s: open are %+v", name, left)
		}
	}
}

// A request that the server has canceled, because it could not be reached for too long, is opened again.
func TestARequestIsOpenedAgain(t *testing.T) {
	s := apptest.Start(t)
	h := hookOf(t, s, s.Agent("scout"), nil)
	a := asks(t, s, h, dialog("x"))
	me := h.server.Session(shoal.DefaultSession)
	if _, err := me.AskPermission(t.Context(), "scout", client.PermissionRequest{ID: a.action.ID, Withdrawn: true}); err != nil {
		t.Fatal(err)
	}
	until(t, "another action", func() bool {
		left := openOn(t, s)
		return len(left) == 1 && left[0].ID != a.action.ID
	})
	a.stop()
	if got := a.reads(t); got != "" {
		t.Errorf("the dialog reads %s", got)
	}
}

// Only the terminal asks if the server is away or refuses, and in dialogs that ask for more than yes or no.
func TestADialogIsLeftAlone(t *testing.T) {
	s := apptest.Start(t)
	here := hookOf(t, s, s.Agent("scout"), nil)
	nowhere := hookOf(t, s, s.Agent("scout"), nil)
	var err error
	if nowhere.server, err = client.New(client.Options{URL: "http://127.0.0.1:1", Key: "shoal_x", RetryFor: -1}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		hook *hook
		e    event
	}{
		"a question":       {here, event{Name: permissionRequest, Tool: "AskUserQuestion", Input: json.RawMessage(`{}`)}},
		"a plan":           {here, event{Name: permissionRequest, Tool: "ExitPlanMode", Input: json.RawMessage(`{}`)}},
		"no tool":          {here, event{Name: permissionRequest}},
		"arguments":        {here, event{Name: permissionRequest, Tool: "Bash", Input: json.RawMessage(`[]`)}},
		"an absent server": {nowhere, dialog("x")},
	} {
		var answers bytes.Buffer
		test.hook.answers = &answers
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		woken, _ := test.hook.handle(ctx, test.e) // an error is for the log of Claude Code
		cancel()
		if left := openOn(t, s); woken || answers.Len() > 0 || len(left) > 0 {
			t.Errorf("%s: %v, %s, open are %+v", name, woken, &answers, left)
		}
	}
}

// A decision counts only for exactly the call that the dialog shows.
func TestADecisionIsAboutOneCall(t *testing.T) {
	t.Parallel()
	args := json.RawMessage(`{"command": "make", "n": 1}`)
	a := asking{tool: "Bash", args: args, hash: approval.ArgsHash("Bash", args)}
	decided := shoal.PendingAction{ToolName: "Bash", Args: json.RawMessage(`{"n":1,"command":"make"}`), ArgsHash: a.hash, Decision: &shoal.Decision{Approved: true}}
	if d, err := a.decisionIn(decided); err != nil || d == nil || !d.Approved {
		t.Errorf("the same call: %+v, %v", d, err)
	}
	for name, change := range map[string]func(*shoal.PendingAction){
		"no decision":      func(p *shoal.PendingAction) { p.Decision = nil },
		"another tool":     func(p *shoal.PendingAction) { p.ToolName = "Write" },
		"another hash":     func(p *shoal.PendingAction) { p.ArgsHash = approval.ArgsHash("Bash", nil) },
		"other arguments":  func(p *shoal.PendingAction) { p.Args = json.RawMessage(`{"command": "rm", "n": 1}`) },
		"edited arguments": func(p *shoal.PendingAction) { p.EditedArgs = args },
	} {
		p := decided
		change(&p)
		if d, err := a.decisionIn(p); d != nil || err == nil {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
