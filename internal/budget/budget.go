// Package budget accounts for what the model calls of one run use of the limits of its
// session. A call's estimated use is reserved before the call and corrected by its actual
// use after it. If the server dies during a call, the reservation counts.
package budget

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Estimates of what a call uses. Without a limit of its own output, a call reserves
// tokensPerReply.
const (
	bytesPerToken  = 3
	tokensPerFile  = 2000
	tokensPerReply = 8192
)

// LimitError says that the next model call of a run does not fit into the limits of its
// session.
type LimitError struct {
	Limits shoal.Limits
	Spent  storage.Spending
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("The runs of this message have used %s, and the next call of a model would exceed the limits of the session (%s).",
		amounts(e.Spent.Cost, e.Spent.Tokens), amounts(e.Limits.MaxCostPerRequest, e.Limits.MaxTokensPerRequest))
}

// amounts formats a cost and a number of tokens, without one that is zero.
func amounts(cost float64, tokens int64) string {
	switch {
	case cost <= 0:
		return fmt.Sprintf("%d tokens", tokens)
	case tokens <= 0:
		return fmt.Sprintf("%.2f USD", cost)
	}
	return fmt.Sprintf("%.2f USD and %d tokens", cost, tokens)
}

// Account holds the corrections of one run that are not booked yet. It is safe for
// concurrent use; its zero value is an empty account.
type Account struct {
	mu         sync.Mutex
	correction storage.Spending // what ended calls used in addition to their reservations
}

// Add adds to what has to be booked.
func (a *Account) Add(correction storage.Spending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.correction = a.correction.Plus(correction)
}

// Take returns what has to be booked, and empties the account.
func (a *Account) Take() (correction storage.Spending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	correction, a.correction = a.correction, correction
	return correction
}

// Middleware reserves what each call of the model may use. reserve stores a reservation
// and reports whether it counts, which it does not in a session without limits; its error
// prevents the call.
func (a *Account) Middleware(model agent.ModelInfo, price func(agent.ModelInfo, agent.Usage) float64, reserve func(storage.Spending) (counts bool, err error)) agent.Middleware {
	spending := func(u agent.Usage) storage.Spending {
		return storage.Spending{Cost: price(model, u), Tokens: u.InputTokens + u.OutputTokens}
	}
	return agent.Middleware{Name: "limits", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			return func(yield func(agent.Chunk, error) bool) {
				reserved := spending(estimate(req))
				counts, err := reserve(reserved)
				if err != nil {
					yield(agent.Chunk{}, err)
					return
				}
				used := storage.Spending{} // of a call that the provider refuses at once
				if counts {
					defer func() { a.Add(used.Minus(reserved)) }()
				}
				for chunk, err := range next(ctx, req) {
					switch {
					case err != nil:
					case chunk.Kind == agent.ChunkUsage && chunk.Usage != nil:
						used = spending(*chunk.Usage)
					case used == storage.Spending{}:
						used = reserved // until the provider reports the usage
					}
					if !yield(chunk, err) {
						return
					}
				}
			}
		}
	}}
}

// estimate returns what a call may use: the tokens of the request, estimated from its
// size, and the longest answer that the request allows.
func estimate(req *agent.Request) agent.Usage {
	n, files := len(req.Instructions), 0
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			switch {
			case p.File != nil:
				files++
			case p.Call != nil:
				n += len(p.Call.Name) + len(p.Call.Arguments)
			case p.Result != nil:
				n, files = n+len(p.Result.Text), files+len(p.Result.Files)
			}
		}
	}
	out := req.Settings.MaxOutputTokens
	if out <= 0 {
		out = tokensPerReply
	}
	return agent.Usage{InputTokens: int64(n/bytesPerToken + files*tokensPerFile), OutputTokens: int64(out)}
}
