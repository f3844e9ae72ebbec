package clients_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// desk is a machine at which a person runs coding agents in terminals, and the operator of its server.
type desk struct {
	*machine
	agent  shoal.EntityID
	at     *client.Session // of the operator
	socket string          // of tmux
}

// claudeHooks are the settings of the person before Shoal writes its hooks.
const claudeHooks = `{
  "includeCoAuthoredBy": false,
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]
  }
}
`

// newDesk starts a server, and connects Claude Code so that a mention wakes it.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := newEmptyDesk(t, "claude")
	trusted, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": map[string]any{"approved": []string{"none"}},
		"projects": map[string]any{d.project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.keeps(".claude.json", string(trusted))
	d.keeps(".claude/settings.json", claudeHooks)
	d.runs("shoal", "connect", "claude-code", "--wake", "--yes")
	return d
}

// newEmptyDesk starts a server, and has a terminal in which nothing runs.
func newEmptyDesk(t *testing.T, agent shoal.EntityID) *desk {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatalf("%v; run `make setup`", err)
	}
	data := t.TempDir()
	server, key := apptest.Run(t, app.Config{Data: data})
	d := &desk{
		machine: newMachine(t, server.URL(), data), agent: agent,
		at: clientOf(t, client.Options{URL: server.URL(), Key: key, As: shoal.Operator}).Session(shoal.DefaultSession),
	}
	for i, pair := range d.env {
		d.env[i] = strings.ReplaceAll(pair, model.URL, orderly.URL)
	}
	d.env = append(d.env, "TERM=xterm-256color")
	dir, err := os.MkdirTemp("", "tmux-") // a path of t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	d.socket = filepath.Join(dir, "s")
	t.Cleanup(func() {
		_ = d.tmux("kill-server").Run() // it ends with its last terminal, too
		until(t, "the end of all programs", func() string { return fmt.Sprint(processesOf(d.home)) }, func() (bool, bool) {
			left := processesOf(d.home)
			for _, p := range left {
				_ = syscall.Kill(p.pid, syscall.SIGKILL) // they write files while they end; it may have ended
			}
			return true, len(left) == 0
		})
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *desk) tmux(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", d.socket, "-f", os.DevNull}, args...)...)
	cmd.Dir, cmd.Env = d.project, d.env
	return cmd
}

// terminal is one with Claude Code in it.
type terminal struct {
	*desk
	name string
	pid  int // of Claude Code
}

// open starts Claude Code in a terminal of its own, and waits until a mention wakes it.
func (d *desk) open(name string) *terminal {
	d.t.Helper()
	return d.openWith(name, "mcp__shoal", "Bash")
}

// openWith starts Claude Code with tools that it may use without asking.
func (d *desk) openWith(name string, tools ...string) *terminal {
	d.t.Helper()
	x := d.start(name, "claude", append([]string{"--model", "claude-opus-4-6", "--permission-mode", "default", "--allowedTools"}, tools...)...)
	until(d.t, "the hook of "+name, x.screen, func() (int, bool) {
		hook := x.hook()
		return hook, hook != 0
	})
	x.untilReach(shoal.ReachWakeable)
	return x
}

// start starts a program in a terminal of its own.
func (d *desk) start(name, program string, args ...string) *terminal {
	d.t.Helper()
	x := &terminal{desk: d, name: name}
	out, err := d.tmux(append([]string{
		"set-option", "-g", "remain-on-exit", "on", ";", "new-session", "-d", "-s", name, "-x", "150", "-y", "50", "-P", "-F", "#{pane_pid}", filepath.Join(programs, program),
	}, args...)...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	if x.pid, err = strconv.Atoi(strings.TrimSpace(string(out))); err != nil {
		d.t.Fatalf("%v in %s", err, out)
	}
	d.t.Cleanup(func() {
		if d.t.Failed() {
			d.t.Logf("the terminal %s shows:\n%s", name, x.screen())
		}
	})
	return x
}

func (x *terminal) screen() string {
	out, err := x.tmux("capture-pane", "-p", "-t", x.name).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// types types a line into the terminal.
func (x *terminal) types(line string) {
	x.t.Helper()
	for _, keys := range [][]string{{"-l", line}, {"Enter"}} {
		if out, err := x.tmux(append([]string{"send-keys", "-t", x.name}, keys...)...).CombinedOutput(); err != nil {
			x.t.Fatalf("%v: %s", err, out)
		}
		until(x.t, "the line in the terminal", x.screen, func() (bool, bool) { return true, strings.Contains(x.screen(), line[:20]) })
	}
}

// hook returns the process of the hook that waits for the terminal, 0 if there is none.
func (x *terminal) hook() int {
	for _, p := range processesOf(x.home) {
		if strings.Contains(p.command, "\x00wake-hook\x00claude\x00") && strings.Contains(p.environ, "CLAUDE_PID="+strconv.Itoa(x.pid)+"\x00") {
			return p.pid
		}
	}
	return 0
}

// process is a program that runs, with its words and its variables, each ended by a zero byte.
type process struct {
	pid              int
	command, environ string
}

// processesOf returns the processes whose home directory is that of a test.
func processesOf(home string) (all []process) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range files {
		dir := filepath.Dir(file)
		environ, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(environ), "\x00HOME="+home+"\x00") {
			continue // it has ended, or is another's
		}
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(dir)) // as the pattern says
		all = append(all, process{pid, string(command), string(environ)})
	}
	return all
}

func (d *desk) say(text string) shoal.Message {
	d.t.Helper()
	m, err := d.at.Post(d.t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{d.agent}})
	if err != nil {
		d.t.Fatal(err)
	}
	return m
}

// untilReceipt waits until a mention has got as far as a state.
func (d *desk) untilReceipt(m shoal.Message, state shoal.ReceiptState) shoal.Receipt {
	d.t.Helper()
	return until(d.t, fmt.Sprintf("%s of %q", state, m.Text()), func() string { return fmt.Sprintf("its receipt: %+v", d.receipt(m)) }, func() (shoal.Receipt, bool) {
		r := d.receipt(m)
		return r, r.State == state || r.State == shoal.ReceiptAnswered && state == shoal.ReceiptResumed
	})
}

func (d *desk) receipt(m shoal.Message) shoal.Receipt {
	d.t.Helper()
	all, err := d.at.Receipts(d.t.Context(), m.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	if len(all) != 1 {
		d.t.Fatalf("there are %d receipts", len(all))
	}
	return all[0]
}

func (d *desk) untilReach(state shoal.ReachState) {
	d.t.Helper()
	until(d.t, "the state "+string(state), func() string { return fmt.Sprintf("it is %+v", d.wake()) }, func() (bool, bool) { return true, d.wake().State == state })
}

func (d *desk) wake() shoal.Wake {
	d.t.Helper()
	who, err := d.at.Entity(d.t.Context(), d.agent)
	if err != nil {
		d.t.Fatal(err)
	}
	if who.Wake == nil {
		return shoal.Wake{}
	}
	return *who.Wake
}

// A mention starts a turn of the Claude Code that a person has left open in a terminal. Its model reads who
// speaks and how to answer, and answers. Taking the hooks out restores the settings.
func TestAMentionWakesATerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	x := d.open("idle")
	m := d.say("order: answer I am awake.")
	if r := m.Reach; len(r) != 1 || r[0].State != shoal.ReachWakeable || r[0].Via == nil || *r[0].Via != "claude-hook" {
		t.Errorf("the sender reads %+v", r)
	}
	r := d.untilReceipt(m, shoal.ReceiptAnswered)
	answer, err := d.at.Message(t.Context(), *r.AnsweredBy)
	if err != nil || answer.Text() != "I am awake." || answer.EntityID != "claude" {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
	t.Logf("after the post: delivered %v, resumed %v, answered %v", r.DeliveredAt.Sub(m.CreatedAt.Time), r.ResumedAt.Sub(m.CreatedAt.Time), r.AnsweredAt.Sub(m.CreatedAt.Time))
	if n := most(t, `<message id="`+string(m.ID)+`"`); n != 1 {
		t.Errorf("the model was sent the message %d times, want once", n)
	}
	x.untilReach(shoal.ReachWakeable)

	d.runs("shoal", "connect", "claude-code", "--undo", "--yes")
	if diff := cmp.Diff(claudeHooks, d.file(".claude/settings.json")); diff != "" {
		t.Errorf("the settings are not what they were (-want +got):\n%s", diff)
	}
}

// A mention that comes while the model works is delivered at once, and has reached the model when that
// says so. Several in a row are seen once each.
func TestCodingAgentsInATerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	x := d.open("busy")
	x.types("order: run touch begun; while ! test -e go; do :; done")
	until(t, "the command", x.screen, func() (bool, bool) { return true, x.exists("begun") })
	x.untilReach(shoal.ReachBusy)
	m := d.say("order: answer I have read it.")
	if r := d.untilReceipt(m, shoal.ReceiptDelivered); r.ResumedAt != nil {
		t.Errorf("while the model works on something else, the receipt is %+v", r)
	}
	until(t, "the end of the hook", x.screen, func() (bool, bool) { return true, x.hook() == 0 })
	if r := d.receipt(m); r.State != shoal.ReceiptDelivered {
		t.Errorf("when the hook has ended, the receipt is %+v", r)
	}
	if err := os.WriteFile(filepath.Join(x.project, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.untilReceipt(m, shoal.ReceiptAnswered)
	x.untilReach(shoal.ReachWakeable)

	var row []shoal.Message
	for i := range 20 {
		row = append(row, d.say(fmt.Sprintf("order: say Number %d.", i)))
	}
	for _, m := range row {
		d.untilReceipt(m, shoal.ReceiptResumed)
	}
	last := d.say("order: answer That is all.")
	d.untilReceipt(last, shoal.ReceiptAnswered)
	for _, m := range append(row, m, last) {
		if n := most(t, `<message id="`+string(m.ID)+`"`); n != 1 {
			t.Errorf("the model was sent %q %d times, want once", m.Text(), n)
		}
	}
}

// A model that writes its answer in the terminal only is asked once to send it. One that says nothing
// then is left alone.
func TestCodingAgentsForgetToAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	x := d.open("forgetful")
	m := d.say("order: forget Here it is.")
	r := d.untilReceipt(m, shoal.ReceiptAnswered)
	answer, err := d.at.Message(t.Context(), *r.AnsweredBy)
	if err != nil || answer.Text() != "Here it is." || answer.EntityID != d.agent {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
	named := func(m shoal.Message) int { return most(t, `replyTo "`+string(m.ID)+`"`) } // by its prompt, and by a reminder
	x.untilReach(shoal.ReachWakeable)
	silent := d.say("order: say I keep this to myself.")
	d.untilReceipt(silent, shoal.ReceiptResumed)
	until(t, "the second reminder", x.screen, func() (bool, bool) { return true, named(silent) == 2 })
	last := d.say("order: answer That is all.")
	d.untilReceipt(last, shoal.ReceiptAnswered)
	for _, m := range []shoal.Message{m, silent} {
		if n := named(m); n != 2 {
			t.Errorf("%q was named to the model %d times, want twice", m.Text(), n)
		}
	}
	if n := named(last); n != 1 {
		t.Errorf("the mention that was answered was named to the model %d times, want once", n)
	}
}

// exists reports whether a file is in the project.
func (d *desk) exists(name string) bool {
	_, err := os.Stat(filepath.Join(d.project, name))
	return err == nil
}

// Claude Code that is killed leaves no hook that takes a mention: the sender reads that nobody is
// there, and the next one that is started reads the mention.
func TestCodingAgentsKilledInATerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	x := d.open("first")
	hook := x.hook()
	if err := syscall.Kill(x.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	until(t, "the end of the hook", func() string { return fmt.Sprintf("it is process %d", hook) }, func() (bool, bool) {
		_, err := os.Stat(fmt.Sprintf("/proc/%d/cmdline", hook))
		return true, os.IsNotExist(err)
	})
	d.untilReach(shoal.ReachAsleep)
	t.Logf("asleep %v after the kill: %+v", time.Since(killed), d.wake())
	m := d.say("order: answer I am the second one.")
	if r := m.Reach; len(r) != 1 || r[0].State != shoal.ReachAsleep {
		t.Errorf("the sender reads %+v", r)
	}
	if r := d.receipt(m); r.State != shoal.ReceiptSent {
		t.Errorf("without a terminal, the receipt is %+v", r)
	}
	d.open("second")
	d.untilReceipt(m, shoal.ReceiptAnswered)
}

// Of two terminals of one agent, one gets a mention.
func TestCodingAgentsInTwoTerminals(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.open("left")
	d.open("right")
	var row []shoal.Message
	for i := range 6 {
		m := d.say(fmt.Sprintf("order: answer Number %d of %s.", i, t.Name()))
		row = append(row, m)
		d.untilReceipt(m, shoal.ReceiptAnswered)
	}
	for _, m := range row {
		answers := 0
		for a, err := range d.at.Timeline(t.Context(), app.Welcome, m.Seq) {
			if err != nil {
				t.Fatal(err)
			}
			if a.ReplyTo != nil && *a.ReplyTo == m.ID {
				answers++
			}
		}
		if answers != 1 {
			t.Errorf("%q has %d answers, want 1", m.Text(), answers)
		}
	}
}
