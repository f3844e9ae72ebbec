// Package resume kills a process in the middle of a turn, between every pair of its writes
// and inside its tools, and checks that another process completes the turn as if nothing had
// happened.
package resume_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// The killed process is this test binary with childEnv set to the directory of its store and
// the point at which it dies.
const (
	childEnv = "SHOAL_RESUME_DIR"
	pointEnv = "SHOAL_RESUME_POINT"
	harmEnv  = "SHOAL_RESUME_NOT_IDEMPOTENT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" && os.Getenv(steerEnv) != "" {
		if err := steeredChild(dir, os.Getenv(pointEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	} else if dir != "" && os.Getenv(closingEnv) != "" {
		if err := closingChild(dir, os.Getenv(pointEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	} else if dir != "" && os.Getenv(handoffEnv) != "" {
		if err := handoffChild(dir, os.Getenv(pointEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	} else if dir != "" && os.Getenv(mixedEnv) != "" {
		if err := mixedChild(dir, os.Getenv(pointEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	} else if dir != "" {
		if err := child(dir, os.Getenv(pointEnv), os.Getenv(harmEnv) == ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fiveSteps is the script of the model: four steps with tools, one of them with two calls,
// and an answer.
const fiveSteps = `
say  First.
call add#c1 {"n":1}
---
call add#c2 {"n":2}
---
think Two at once.
call add#c3 {"n":3}
call add#c4 {"n":4}
---
call add#c5 {"n":5}
---
say  The sum is 15.
`

// child runs or resumes the turn, and dies at the point.
func child(dir, point string, idempotent bool) error {
	store, _, err := openStore(dir)
	if err != nil {
		return err
	}
	answers, err := script.Parse(fiveSteps)
	if err != nil {
		return err
	}
	d := &death{at: point}
	a, err := agent.New(script.PerTurn(answers...), agent.Options{Tools: []agent.Tool{adder(dir, d, idempotent)}, MaxParallelTools: 1})
	if err != nil {
		return err
	}
	c := agent.OpenConversation(&mortal{Store: store, death: d}, "sum")
	input := []agent.Message{agent.Say("add up")}
	record, err := c.Load(context.Background())
	switch {
	case err != nil:
		return err
	case record.Open != nil:
		input = nil
	case len(record.Messages) > 0:
		return nil // the turn had ended before the process died
	}
	_, err = a.Run(context.Background(), c, input...)
	return err
}

// death kills the process at its point.
type death struct {
	at     string
	writes int
}

func (d *death) comes(point string) {
	if d.at == point {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// mortal is a store whose process can die after each write.
type mortal struct {
	agent.Store
	death *death
}

func (m *mortal) wrote(err error) error {
	if err == nil {
		m.death.writes++
		m.death.comes(fmt.Sprint("write ", m.death.writes))
	}
	return err
}

func (m *mortal) Begin(ctx context.Context, id string, t agent.Turn) error {
	return m.wrote(m.Store.Begin(ctx, id, t))
}

func (m *mortal) Commit(ctx context.Context, id string, ref agent.TurnRef, s agent.Step) error {
	return m.wrote(m.Store.Commit(ctx, id, ref, s))
}

func (m *mortal) End(ctx context.Context, id string, ref agent.TurnRef, e agent.TurnEnd) error {
	return m.wrote(m.Store.End(ctx, id, ref, e))
}

// adder is a tool with an effect: a line in the ledger for each execution.
func adder(dir string, d *death, idempotent bool) agent.Tool {
	add := agent.Func("add", "Adds a number.", func(_ context.Context, in struct {
		N int `json:"n"`
	},
	) (string, error) {
		f, err := os.OpenFile(filepath.Join(dir, "ledger"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		d.comes(fmt.Sprint("before effect ", in.N))
		if _, err := fmt.Fprintf(f, "c%d\n", in.N); err != nil {
			return "", err
		}
		d.comes(fmt.Sprint("after effect ", in.N))
		return fmt.Sprint("added ", in.N), nil
	})
	return agent.Configure(add, func(s *agent.ToolSpec) { s.Idempotent = idempotent })
}

// life runs the child until it dies or has finished.
func life(t *testing.T, dir, point string, env ...string) (died bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childEnv+"="+dir, pointEnv+"="+point)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("at %q: %v\n%s", point, err, &said)
	}
	return false
}

// state reads the store and the ledger of the dead process.
func state(t *testing.T, dir string) (history, finished []string, ledger map[string]int) {
	t.Helper()
	// A process that another test starts meanwhile would also hold the store's lock,
	// between its fork and its exec.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	store, closed, err := openStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closed() }() // it was only read
	record, err := store.Load(t.Context(), "sum")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range record.Messages {
		line := string(m.Role) + ": " + m.Text()
		for _, c := range m.Calls() {
			line += "[" + c.ID + " " + c.Name + " " + c.Arguments + "]"
		}
		for _, r := range m.Results() {
			line += "[" + r.CallID + " " + string(r.Status) + " " + r.Text + "]"
			finished = append(finished, r.CallID)
		}
		history = append(history, line)
	}
	if record.Open != nil {
		for _, s := range record.Open.Steps {
			for _, r := range s.Results {
				if !slices.Contains(finished, r.CallID) {
					finished = append(finished, r.CallID)
				}
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	ledger = map[string]int{}
	for id := range strings.FieldsSeq(string(text)) {
		ledger[id]++
	}
	return history, finished, ledger
}

// want is the conversation of a turn without a kill.
var want = []string{
	"user: add up",
	`assistant: First.[c1 add {"n":1}]`, "tool: [c1 ok added 1]",
	`assistant: [c2 add {"n":2}]`, "tool: [c2 ok added 2]",
	`assistant: [c3 add {"n":3}][c4 add {"n":4}]`, "tool: [c3 ok added 3][c4 ok added 4]",
	`assistant: [c5 add {"n":5}]`, "tool: [c5 ok added 5]",
	"assistant: The sum is 15.",
}

// A turn of five steps makes twelve writes: the input; for each step with tools, its answer
// and the complete step; one more between the two calls of a step; the last step; and the
// end.
const writes = 12

func TestKilledBetweenEveryPairOfWrites(t *testing.T) {
	for name, place := range places {
		t.Run(name, func(t *testing.T) { killedBetweenEveryPair(t, place) })
	}
}

func killedBetweenEveryPair(t *testing.T, place func(*testing.T) string) {
	whole := place(t)
	if life(t, whole, fmt.Sprint("write ", writes+1)) {
		t.Fatalf("a turn makes more than %d writes", writes)
	}
	if !life(t, place(t), fmt.Sprint("write ", writes)) {
		t.Fatalf("a turn makes fewer than %d writes", writes)
	}
	history, _, ledger := state(t, whole)
	if d := cmp.Diff(want, history); d != "" {
		t.Fatalf("without a kill:\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"c1": 1, "c2": 1, "c3": 1, "c4": 1, "c5": 1}, ledger); d != "" {
		t.Fatalf("without a kill:\n%s", d)
	}
	for n := 1; n < writes; n++ {
		t.Run(fmt.Sprint("write ", n), func(t *testing.T) { diesAt(t, place, fmt.Sprint("write ", n)) })
	}
	for n := 1; n <= 5; n++ {
		t.Run(fmt.Sprint("before effect ", n), func(t *testing.T) { diesAt(t, place, fmt.Sprint("before effect ", n)) })
		t.Run(fmt.Sprint("after effect ", n), func(t *testing.T) { diesAt(t, place, fmt.Sprint("after effect ", n)) })
	}
}

// diesAt kills the process at the point, and resumes the turn in another one.
func diesAt(t *testing.T, place func(*testing.T) string, point string) {
	t.Parallel()
	dir := place(t)
	if !life(t, dir, point) {
		t.Fatal("the process did not die at the point")
	}
	_, finished, before := state(t, dir)
	if life(t, dir, "") {
		t.Fatal("the second process died, too")
	}
	history, _, after := state(t, dir)
	if d := cmp.Diff(want, history); d != "" {
		t.Errorf("the conversation differs:\n%s", d)
	}
	for _, id := range finished {
		if after[id] != before[id] || before[id] != 1 {
			t.Errorf("the finished call %s has %d effects, then %d", id, before[id], after[id])
		}
	}
	for id, n := range after {
		if n > 2 || n > 1 && !strings.HasPrefix(point, "after effect") {
			t.Errorf("%s has %d effects", id, n)
		}
	}
}

// A turn that is killed repeatedly still ends.
func TestKilledAtEveryWriteInOneTurn(t *testing.T) {
	dir := t.TempDir()
	deaths := 0
	for life(t, dir, "write 2") { // the first write takes over the turn
		if deaths++; deaths > 2*writes {
			t.Fatal("the turn makes no progress")
		}
	}
	history, _, ledger := state(t, dir)
	if d := cmp.Diff(want, history); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int{"c1": 1, "c2": 1, "c3": 1, "c4": 1, "c5": 1}, ledger); d != "" {
		t.Errorf("after %d kills:\n%s", deaths, d)
	}
}

// A tool that must not be executed twice is not repeated, and the model sees an error.
func TestKilledInsideOfAHarmfulTool(t *testing.T) {
	for _, point := range []string{"before effect 2", "after effect 2"} {
		dir := t.TempDir()
		if !life(t, dir, point, harmEnv+"=1") || life(t, dir, "", harmEnv+"=1") {
			t.Fatal("want exactly one kill")
		}
		history, _, ledger := state(t, dir)
		if got := history[4]; got != "tool: [c2 interrupted Error: interrupted, effect unknown.]" {
			t.Errorf("%s: %s", point, got)
		}
		if n := ledger["c2"]; n != strings.Count(point, "after") {
			t.Errorf("%s: %d effects", point, n)
		}
		if history[len(history)-1] != "assistant: The sum is 15." {
			t.Errorf("%s: got last message %s", point, history[len(history)-1])
		}
	}
}
