package resume_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

const mixedEnv = "SHOAL_RESUME_MIXED"

// mixedChild runs or resumes a turn of which one call of three needs permission, gives the
// permission when the turn waits, and runs it to its end. No tool may run twice.
func mixedChild(dir, point string) error {
	store, _, err := openStore(dir)
	if err != nil {
		return err
	}
	answers, err := script.Parse("call add#c1 {\"n\":1}\ncall pay#c2 {\"n\":2}\ncall add#c3 {\"n\":3}\n---\nsay done")
	if err != nil {
		return err
	}
	d := &death{at: point}
	add := adder(dir, d, false)
	pay := agent.Configure(add, func(s *agent.ToolSpec) { s.Name, s.RequiresPermission = "pay", true })
	a, err := agent.New(script.PerTurn(answers...), agent.Options{Tools: []agent.Tool{add, pay}, MaxParallelTools: 1})
	if err != nil {
		return err
	}
	ctx := context.Background()
	c := agent.OpenConversation(&mortal{Store: store, death: d}, "sum")
	record, err := c.Load(ctx)
	if err != nil {
		return err
	}
	var input []agent.Message
	if record.Revision == 0 {
		input = append(input, agent.Say("pay"))
	} else if record.Open == nil {
		return nil // the turn had ended before the process died
	}
	for {
		result, err := a.Run(ctx, c, input...)
		if err != nil || result.Outcome != agent.Waiting {
			return err
		}
		for _, p := range result.Pending {
			if p.Answer == nil {
				if err := c.Answer(ctx, agent.Answer{PendingID: p.ID, Approved: true}); err != nil {
					return err
				}
			}
		}
		input = nil
	}
}

// The process is killed between every pair of writes of a step of which one call waits for a
// permission, and inside its tools. The other calls run before the permission is given, and
// no call runs twice.
func TestKilledWhileOneCallWaits(t *testing.T) {
	mixed := mixedEnv + "=1"
	points := []string{}
	for n := 1; n <= 3; n++ {
		points = append(points, fmt.Sprint("before effect ", n), fmt.Sprint("after effect ", n))
	}
	writes := 0
	for ; ; writes++ {
		point := fmt.Sprint("write ", writes+1)
		if !life(t, t.TempDir(), point, mixed) {
			break
		}
		points = append(points, point)
	}
	// The input; the answer with its request; two results; the end; the permission; the turn
	// again; the start of the call; the whole step; the last step; the end.
	if writes != 11 {
		t.Errorf("the turn makes %d writes", writes)
	}
	for name, place := range places {
		for _, point := range points {
			t.Run(name+" "+point, func(t *testing.T) {
				t.Parallel()
				dir := place(t)
				if !life(t, dir, point, mixed) || life(t, dir, "", mixed) {
					t.Fatal("want exactly one kill")
				}
				history, _, ledger := state(t, dir)
				want := map[string]int{"c1": 1, "c2": 1, "c3": 1}
				switch point { // c1 and c3 are stored as started together
				case "before effect 1":
					want = map[string]int{"c2": 1}
				case "after effect 1":
					delete(want, "c3")
				case "before effect 2", "before effect 3":
					delete(want, "c"+point[len(point)-1:])
				}
				for id, n := range ledger {
					if n != 1 {
						t.Errorf("%s has %d effects", id, n)
					}
				}
				if d := cmp.Diff(want, ledger); d != "" && !strings.HasPrefix(point, "write") {
					t.Error(d)
				}
				if len(history) != 4 || history[3] != "assistant: done" {
					t.Errorf("the history is %q", history)
				}
			})
		}
	}
}
