package run

import (
	"context"
	"errors"
	"iter"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// arrange is the middleware that puts the messages of each request into the order in which the
// prompt sends them. A model that takes no more is called again with a shorter shared history;
// only without one is it the agent's turn to shorten its conversation.
func arrange(p *spacetool.Prompt, trigger func() string) agent.Middleware {
	return agent.Middleware{Name: "prompt", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			return func(yield func(agent.Chunk, error) bool) {
				again := true
				for again {
					sent := *req
					sent.Messages = p.Arrange(req.Messages, trigger())
					again = relayUnlessTooLong(next(ctx, &sent), p, yield)
				}
			}
		}
	}}
}

// relayUnlessTooLong relays an answer, unless it begins with the refusal of a request that is too
// long for the model and the prompt can be made shorter.
func relayUnlessTooLong(answer iter.Seq2[agent.Chunk, error], p *spacetool.Prompt, yield func(agent.Chunk, error) bool) (again bool) {
	began := false
	for chunk, err := range answer {
		var e *agent.ModelError
		if !began && errors.As(err, &e) && e.Class == agent.ClassContextOverflow && p.Shorten() {
			return true
		}
		began = true
		if !yield(chunk, err) {
			return false
		}
	}
	return false
}

// trigger returns the ID of the last message of the run's input.
func (s *store) trigger() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil || len(s.turn.Turn.Input) == 0 {
		return ""
	}
	return s.turn.Turn.Input[len(s.turn.Turn.Input)-1].ID
}
