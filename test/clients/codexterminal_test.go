package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shoal-dev/shoal"
)

// openCodex starts Codex in a terminal, trusts the hooks that `shoal connect` has written, and begins a
// conversation, as a person does.
func openCodex(t *testing.T) *terminal {
	t.Helper()
	d := newEmptyDesk(t, "codex")
	d.keeps(".codex/config.toml", strings.ReplaceAll(codexSettings, "OPENAI", orderly.URL+"/v1")+fmt.Sprintf("\n[projects.%q]\ntrust_level = \"trusted\"\n", d.project))
	d.runs("shoal", "connect", "codex", "--wake", "--yes")
	d.keeps(".codex/config.toml", strings.Replace(d.file(".codex/config.toml"), "tool_timeout_sec", "default_tools_approval_mode = \"approve\"\ntool_timeout_sec", 1))
	x := d.start("codex", "codex")
	x.trustHooks()
	x.types("order: say I am ready.")
	until(t, "the answer", x.screen, func() (bool, bool) { return true, strings.Contains(x.screen(), "• I am ready.") })
	x.untilReach(shoal.ReachWakeable)
	return x
}

// trustHooks answers the question of Codex whether it may start the three hooks. Codex does not always
// survive its own first start on a busy machine.
func (x *terminal) trustHooks() {
	x.t.Helper()
	looks, starts := 0, 0
	until(x.t, "the trust in the hooks", x.screen, func() (bool, bool) {
		now := x.screen()
		switch asked := strings.Contains(now, "Hooks need review"); {
		case strings.Contains(now, "Pane is dead") && starts < 3:
			x.t.Logf("Codex has ended at its start:\n%s", now)
			starts++
			if out, err := x.tmux("respawn-pane", "-k", "-t", x.name).CombinedOutput(); err != nil {
				x.t.Fatalf("%v: %s", err, out)
			}
		case asked && looks%50 == 0: // a key that comes too early is lost
			looks++
			if strings.Contains(now, "› 2.") {
				x.press("Enter")
			} else {
				x.press("2")
			}
		case asked:
			looks++
		default:
			return true, strings.Count(x.file(".codex/config.toml"), "trusted_hash") == 3 && strings.Contains(now, "› Ask Codex to do anything")
		}
		return false, false
	})
}

// press presses a key in the terminal.
func (x *terminal) press(key string) {
	x.t.Helper()
	if out, err := x.tmux("send-keys", "-t", x.name, key).CombinedOutput(); err != nil {
		x.t.Fatalf("%v: %s", err, out)
	}
}

// A mention starts a turn of the Codex that a person has left open in a terminal, also several in a row. When
// Codex has ended in whatever way, nothing waits for it any more.
func TestCodingAgentsCodexInATerminal(t *testing.T) {
	t.Parallel()
	x := openCodex(t)
	m := x.say("order: answer I am awake.")
	if r := m.Reach; len(r) != 1 || r[0].State != shoal.ReachWakeable || r[0].Via == nil || *r[0].Via != "codex-queue" {
		t.Errorf("the sender reads %+v", r)
	}
	r := x.untilReceipt(m, shoal.ReceiptAnswered)
	if answer, err := x.at.Message(t.Context(), *r.AnsweredBy); err != nil || answer.Text() != "I am awake." || answer.EntityID != "codex" {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
	t.Logf("after the post: delivered %v, resumed %v, answered %v", r.DeliveredAt.Sub(m.CreatedAt.Time), r.ResumedAt.Sub(m.CreatedAt.Time), r.AnsweredAt.Sub(m.CreatedAt.Time))

	row := []shoal.Message{m}
	for i := range 6 {
		row = append(row, x.say(fmt.Sprintf("order: say Number %d.", i)))
	}
	for _, m := range row {
		x.untilReceipt(m, shoal.ReceiptResumed)
	}
	last := x.say("order: answer That is all.")
	x.untilReceipt(last, shoal.ReceiptAnswered)
	for _, m := range append(row, last) {
		if n := most(t, `<message id="`+string(m.ID)+`"`); n != 1 {
			t.Errorf("the model was sent %q %d times, want once", m.Text(), n)
		}
	}

	waiting := func() (pid int) {
		for _, p := range processesOf(x.home) {
			if strings.Contains(p.command, "\x00wake-hook\x00codex\x00") {
				pid = p.pid
			}
		}
		return pid
	}
	if waiting() == 0 {
		t.Fatal("nothing waits")
	}
	for _, p := range processesOf(x.home) {
		if !strings.Contains(p.command, "wake-hook") {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may have ended with another one
		}
	}
	until(t, "the end of what waits", func() string { return fmt.Sprintf("it is process %d", waiting()) }, func() (bool, bool) { return true, waiting() == 0 })
	if w := until(t, "the end of the lease", x.screen, func() (shoal.Wake, bool) { return x.wake(), x.wake().Via == nil }); w.State == shoal.ReachWakeable {
		t.Errorf("without Codex, the agent is %+v", w)
	}
	if m := x.say("order: say Nobody reads this."); x.receipt(m).State != shoal.ReceiptSent {
		t.Errorf("without Codex, the receipt is %+v", x.receipt(m))
	}

	x.runs("shoal", "connect", "codex", "--undo", "--yes")
	if _, err := os.Stat(filepath.Join(x.home, ".codex", "hooks.json")); !os.IsNotExist(err) {
		t.Errorf("the hooks are still there: %v", err)
	}
}
