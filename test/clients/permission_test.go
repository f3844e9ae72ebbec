package clients_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
)

// openActions returns the pending actions that the operator may answer.
func (d *desk) openActions() (all []shoal.PendingAction) {
	d.t.Helper()
	for p, err := range d.at.PendingActions(d.t.Context(), client.PendingOptions{}) {
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// asks has the model run a command, and returns the pending action that the dialog about it has opened.
func (x *terminal) asks(command string) shoal.PendingAction {
	x.t.Helper()
	x.types("order: run " + command)
	action := until(x.t, "the pending action", x.screen, func() (shoal.PendingAction, bool) {
		all := x.openActions()
		if len(all) != 1 {
			return shoal.PendingAction{}, false
		}
		return all[0], strings.Contains(string(all[0].Args), command)
	})
	if action.AgentID != x.agent || action.RunID != "" || action.ToolName != "Bash" {
		x.t.Errorf("the action is %+v", action)
	}
	until(x.t, "the dialog", x.screen, func() (bool, bool) { return true, x.isAsked() })
	return action
}

// choices finds the answers of a dialog, with what marks the chosen one.
var choices = regexp.MustCompile(`(?m)^ (❯| ) (\d)\. (Yes|No)$`)

// chooses answers a dialog in the terminal. A key that comes too early is lost, or only moves the mark.
func (x *terminal) chooses(answer string) {
	x.t.Helper()
	looks := 0
	until(x.t, "the end of the dialog", x.screen, func() (bool, bool) {
		for _, found := range choices.FindAllStringSubmatch(x.screen(), -1) {
			if found[3] != answer {
				continue
			}
			if looks%25 == 0 && found[1] == " " {
				x.press(found[2])
			} else if looks%25 == 0 {
				x.press("Enter")
			}
			looks++
		}
		return true, !x.isAsked()
	})
}

func (x *terminal) isAsked() bool { return strings.Contains(x.screen(), "Do you want to proceed?") }

// decides answers an action on the server, and waits until the dialog is closed.
func (x *terminal) decides(action shoal.PendingAction, answer shoal.PendingAnswer) {
	x.t.Helper()
	if _, err := x.at.AnswerPending(x.t.Context(), action.ID, answer); err != nil {
		x.t.Fatal(err)
	}
	until(x.t, "the end of the dialog", x.screen, func() (bool, bool) { return true, !x.isAsked() })
}

// untilWithdrawn waits until an action is not open any more, and proves that it cannot be answered.
func (x *terminal) untilWithdrawn(action shoal.PendingAction) {
	x.t.Helper()
	until(x.t, "the end of the action", func() string { return fmt.Sprintf("open are %+v\n%s", x.openActions(), x.screen()) }, func() (bool, bool) {
		return true, len(x.openActions()) == 0
	})
	yes := true
	if _, err := x.at.AnswerPending(x.t.Context(), action.ID, shoal.PendingAnswer{Approved: &yes}); !errors.Is(err, shoal.Expired) {
		x.t.Errorf("an approval after the answer in the terminal: %v, want expired", err)
	}
}

// What Claude Code asks in a terminal is asked on the server, too, and the first answer counts: a denial closes
// the dialog and the model reads why, an approval runs the command, and an answer in the terminal withdraws
// the action. Where nothing can be asked on the server, the terminal asks as always.
func TestCodingAgentsAskForPermissions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	x := d.openWith("asking", "mcp__shoal")
	yes, no, reason := true, false, "ok, but later"

	denied := x.asks("touch one-denied")
	x.decides(denied, shoal.PendingAnswer{Approved: &no, Reason: &reason, ArgsHash: &denied.ArgsHash})
	until(t, "the reason in the terminal", x.screen, func() (bool, bool) {
		return true, strings.Contains(x.screen(), "It came to this") && most(t, "Permission denied by operator on Shoal. The call was not executed. Reason: ok, but later") > 0
	})
	if x.exists("one-denied") {
		t.Error("a command that was denied has run")
	}

	approved := x.asks("touch two-approved")
	stale := denied.ArgsHash
	if _, err := x.at.AnswerPending(t.Context(), approved.ID, shoal.PendingAnswer{Approved: &yes, ArgsHash: &stale}); !errors.Is(err, shoal.ArgsChanged) || !x.isAsked() {
		t.Errorf("an approval of other arguments: %v", err)
	}
	x.decides(approved, shoal.PendingAnswer{Approved: &yes, ArgsHash: &approved.ArgsHash})
	until(t, "the command that was approved", x.screen, func() (bool, bool) { return true, x.exists("two-approved") })

	permitted := x.asks("touch three-permitted")
	x.chooses("Yes")
	until(t, "the command that was permitted", x.screen, func() (bool, bool) { return true, x.exists("three-permitted") })
	x.untilWithdrawn(permitted)

	failed := x.asks("touch four-failed; false")
	x.chooses("Yes")
	x.untilWithdrawn(failed)

	// No space is left that could show it: the terminal alone asks.
	if _, err := d.at.RemoveMember(t.Context(), app.Welcome, d.agent); err != nil {
		t.Fatal(err)
	}
	x.types("order: run touch five-alone")
	until(t, "the dialog", x.screen, func() (bool, bool) { return true, x.isAsked() })
	until(t, "the end of the hook", x.screen, func() (bool, bool) {
		hooks := slices.DeleteFunc(processesOf(x.home), func(p process) bool { return !strings.Contains(p.command, "\x00wake-hook\x00") })
		return true, len(hooks) == 1 // the one that waits for mentions
	})
	if !x.isAsked() || x.exists("five-alone") || len(x.openActions()) > 0 {
		t.Errorf("the terminal does not ask alone:\n%s", x.screen())
	}
	t.Logf("without the server the terminal shows:\n%s", x.screen())
	x.chooses("Yes")
	until(t, "the command that was permitted", x.screen, func() (bool, bool) { return true, x.exists("five-alone") })

	if _, err := d.at.AddMember(t.Context(), app.Welcome, d.agent); err != nil {
		t.Fatal(err)
	}
	refused := x.asks("touch six-refused")
	x.chooses("No")
	x.untilWithdrawn(refused)
	if x.exists("six-refused") || x.isAsked() {
		t.Errorf("a command that was refused has run, or is asked for:\n%s", x.screen())
	}
}
