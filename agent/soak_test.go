package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// soakAgent is one agent for all turns: text, two calls at once, more text.
func soakAgent(t *testing.T) *agent.Agent {
	t.Helper()
	text := "say Let me look.\ncall echo {\"a\":\"1\"}\ncall busy {}\n---\nsay one two three four five"
	return newAgentOn(t, script.PerTurn(parse(t, text)...), agent.Options{Tools: storyTools()})
}

// A thousand turns at once on one agent and one store: each is whole, and nothing
// is left.
func TestThousandConcurrentTurns(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, store := soakAgent(t), agent.NewMemory()
	var group sync.WaitGroup
	for i := range repeats(1000, 100) {
		group.Go(func() {
			c := agent.OpenConversation(store, fmt.Sprint(i))
			var events []agent.Event
			for e, err := range a.Stream(t.Context(), c, agent.Say("go")) {
				if err != nil {
					t.Errorf("turn %d: %v", i, err)
					return
				}
				events = append(events, e)
			}
			if end := finished(t, events); end.Outcome != agent.Completed || end.Steps != 2 {
				t.Errorf("turn %d ends as %s %s: %v", i, end.Outcome, end.Reason, end.Err)
			}
			checkBalance(t, events)
			checkResults(t, c)
			if got, err := c.Count(t.Context()); got != 4 || err != nil {
				t.Errorf("turn %d has %d messages, %v", i, got, err)
			}
		})
	}
	group.Wait()
}

// A storm of cancellations: each turn is canceled, or left, at some event. Every
// conversation takes the next input, and nothing is left.
func TestManyConcurrentCancellations(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, store := soakAgent(t), agent.NewMemory()
	var group sync.WaitGroup
	for i := range repeats(1000, 100) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			c := agent.OpenConversation(store, fmt.Sprint(i))
			for round := range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				if one(r, 30) { // at any time, not only at events
					defer time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel).Stop()
				}
				at, n, leaves := r.IntN(40), 0, one(r, 30)
				for _, err := range a.Stream(ctx, c, agent.Say("go")) {
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("turn %d of %d: %v", round, i, err)
					}
					if n++; n == at {
						cancel()
						if leaves {
							break
						}
					}
				}
				cancel()
				checkResults(t, c)
				if r, err := c.Load(t.Context()); err != nil || r.Open != nil {
					t.Errorf("turn %d of %d is open: %v", round, i, err)
				}
			}
			if _, err := a.Run(t.Context(), c, agent.Say("go")); err != nil {
				t.Errorf("%d takes no input any more: %v", i, err)
			}
		})
	}
	group.Wait()
}
