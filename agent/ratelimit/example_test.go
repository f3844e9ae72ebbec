package ratelimit_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/agent/ratelimit"
)

// Agents that use the same key share its limits.
func Example() {
	model := script.Func(func(*agent.Request) script.Answer { return script.Answer{Text: "Yes."} })
	account := ratelimit.New(ratelimit.Limits{Requests: 2, Tokens: 10_000, Period: 50 * time.Millisecond})
	began := time.Now()
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			a, err := agent.New(account.Model(model), agent.Options{})
			if err != nil {
				panic(err)
			}
			if _, err := a.Run(context.Background(), agent.NewConversation(), agent.Say("Well?")); err != nil {
				panic(err)
			}
		})
	}
	group.Wait()
	fmt.Println("five calls, two in a period:", time.Since(began) >= 100*time.Millisecond)
	// Output: five calls, two in a period: true
}
