package run

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub"
)

// spending keeps a run below the limits of its session: what a model call may use is
// reserved before it, and corrected when it has ended by what it used. A call that this
// server does not see the end of, because it dies, counts as what was reserved.
type spending struct {
	mu   sync.Mutex
	more hub.Spending // what ended calls used beyond what was reserved, and is not booked yet
}

// Estimates of what a call uses. Where the output has no bound of its own, so much is
// reserved for it.
const (
	bytesPerToken  = 3
	tokensPerFile  = 2000
	tokensPerReply = 8192
)

// limitError is the cause that ends a run whose next model call does not fit into the
// limits of its session.
type limitError struct {
	limits shoal.Limits
	spent  hub.Spending
}

func (e *limitError) Error() string {
	return fmt.Sprintf("What this message set off has used %s, and the next call of a model would exceed the limits of the session (%s).",
		amounts(e.spent.Cost, e.spent.Tokens), amounts(e.limits.MaxCostPerRequest, e.limits.MaxTokensPerRequest))
}

// amounts names what there is of costs and tokens.
func amounts(cost float64, tokens int64) string {
	switch {
	case cost <= 0:
		return fmt.Sprintf("%d tokens", tokens)
	case tokens <= 0:
		return fmt.Sprintf("%.2f USD", cost)
	}
	return fmt.Sprintf("%.2f USD and %d tokens", cost, tokens)
}

// limited is the middleware that reserves what each call of a model may use.
func (x *execution) limited(model agent.ModelInfo, price func(agent.ModelInfo, agent.Usage) float64) agent.Middleware {
	of := func(u agent.Usage) hub.Spending {
		return hub.Spending{Cost: price(model, u), Tokens: u.InputTokens + u.OutputTokens}
	}
	return agent.Middleware{Name: "limits", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			return func(yield func(agent.Chunk, error) bool) {
				reserved := of(estimate(req))
				noted, err := x.reserve(reserved)
				if err != nil {
					yield(agent.Chunk{}, err)
					return
				}
				used := hub.Spending{} // of a call that was refused at once
				if noted {
					defer func() { x.spending.ended(used.Minus(reserved)) }()
				}
				for chunk, err := range next(ctx, req) {
					switch {
					case err != nil:
					case chunk.Kind == agent.ChunkUsage && chunk.Usage != nil:
						used = of(*chunk.Usage)
					case used == hub.Spending{}:
						used = reserved // until the provider says
					}
					if !yield(chunk, err) {
						return
					}
				}
			}
		}
	}}
}

// reserve reserves what a call may use. noted says that it is: the session has limits.
func (x *execution) reserve(call hub.Spending) (noted bool, err error) {
	if x.unlimited.Load() {
		return false, nil
	}
	var over *limitError
	err = x.write(x.ctx, func(c *hub.RunChange) error {
		limits, spent, exceeds, err := c.Reserve(call)
		noted, over = limits != shoal.Limits{}, nil
		if exceeds {
			over = &limitError{limits, spent}
		}
		return err
	})
	switch {
	case err != nil:
		err = &brokenError{err}
	case over != nil:
		err = over
	default:
		return noted, nil
	}
	x.cancel(err)
	return false, err
}

// estimate is what a call may use: the tokens of the request by its bytes, and as many of
// the answer as it may have.
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

// ended notes that a call has ended that used more, or less, than was reserved.
func (s *spending) ended(more hub.Spending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more = s.more.Plus(more)
}

// take returns what is to be booked now.
func (s *spending) take() (more hub.Spending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	more, s.more = s.more, more
	return more
}
