// Package ratelimit keeps the calls of models below the limits of a provider's account.
//
//	account := ratelimit.New(ratelimit.Limits{Requests: 500, Tokens: 200_000})
//	fast := account.Model(openai.Chat("gpt-5-mini"))
//	good := account.Model(openai.Chat("gpt-5"))
//
// All models that share a [Limiter] share its limits, whichever agents call them: make one
// Limiter for each key, or for each model if the provider counts by model. A call waits
// until it is within the limits. Calls begin in the order in which they asked, so that no
// agent starves. The time spent waiting counts towards Options.TurnTimeout, and not towards
// Options.AttemptTimeout.
//
// # Guarantees
//
//   - In no period, wherever it begins, more than Limits.Requests calls begin.
//   - In no period the calls use more than Limits.Tokens, as far as their tokens are
//     known: a call reserves an estimate, which is replaced by what the provider reports.
//     The estimate follows from the size of the request and from the provider's reports
//     about earlier ones, plus Settings.MaxOutputTokens for the answer, or the length of
//     recent answers if it is not set. A call that alone exceeds the limit is made when no
//     other call is counted.
//   - When the provider refuses a call ([agent.ClassRateLimited]) and says how long to
//     wait, no call begins before that. The agent repeats the refused one.
//   - Nothing is shared between processes: divide the account's limits among them.
package ratelimit

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// Limits are the most calls and tokens of a period. 0 means no limit.
type Limits struct {
	Requests int
	// Tokens are those of requests and answers together.
	Tokens int64
	// Period is the time that the limits refer to. Default 1 minute.
	Period time.Duration
}

// Limiter admits calls within [Limits]. It is safe for concurrent use.
type Limiter struct {
	limits Limits

	mu       sync.Mutex
	calls    []*call // of the last period, oldest first
	tokens   int64   // of calls
	waiting  []*waiter
	paused   time.Time // the provider refuses calls until then
	timer    *time.Timer
	estimate estimate
}

// call is a call that was admitted.
type call struct {
	began   time.Time
	tokens  int64
	expired bool
}

// waiter is a call that waits.
type waiter struct {
	size     requestSize
	admitted chan *call
}

// New returns a limiter. It panics if a limit is negative.
func New(limits Limits) *Limiter {
	if limits.Requests < 0 || limits.Tokens < 0 || limits.Period < 0 {
		panic("ratelimit.New: a limit is negative")
	}
	if limits.Period == 0 {
		limits.Period = time.Minute
	}
	return &Limiter{limits: limits, estimate: newEstimate()}
}

// Model returns m, with its calls limited by l. In an [agent.Fallback], wrap each model,
// not the Fallback: otherwise its calls count as one.
func (l *Limiter) Model(m agent.Model) agent.Model { return &model{Model: m, limiter: l} }

// Waiting returns how many calls wait now.
func (l *Limiter) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// model is an [agent.Admitter].
type model struct {
	agent.Model
	limiter *Limiter
}

// Admit implements [agent.Admitter].
func (m *model) Admit(ctx context.Context, req *agent.Request) (agent.ModelFunc, error) {
	size := sizeOf(req)
	admitted, err := m.limiter.admit(ctx, size)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
		return m.limiter.observed(m.Model.Stream(ctx, req), admitted, size)
	}, nil
}

// Stream waits and calls the model.
func (m *model) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		stream, err := m.Admit(ctx, req)
		if err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		stream(ctx, req)(yield)
	}
}

// admit waits until a call of the given size may begin. The error is the cause of ctx.
func (l *Limiter) admit(ctx context.Context, size requestSize) (*call, error) {
	w := &waiter{size: size, admitted: make(chan *call, 1)}
	l.mu.Lock()
	l.waiting = append(l.waiting, w)
	l.advance()
	l.mu.Unlock()
	select {
	case c := <-w.admitted:
		return c, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case c := <-w.admitted: // at the same moment; the call is not made
		l.change(c, 0)
	default:
		l.waiting = slices.DeleteFunc(l.waiting, func(other *waiter) bool { return other == w })
	}
	l.advance()
	return nil, context.Cause(ctx)
}

// advance admits the calls that may begin now, in order, and sets the timer for the next.
func (l *Limiter) advance() {
	now := time.Now()
	for len(l.calls) > 0 && !now.Before(l.calls[0].began.Add(l.limits.Period)) {
		l.calls[0].expired = true
		l.tokens -= l.calls[0].tokens
		l.calls = l.calls[1:]
	}
	for len(l.waiting) > 0 {
		tokens := l.estimate.of(l.waiting[0].size)
		if at := l.next(now, tokens); at.After(now) {
			l.wakeAt(at)
			return
		}
		c := &call{began: now, tokens: tokens}
		l.calls, l.tokens = append(l.calls, c), l.tokens+tokens
		l.waiting[0].admitted <- c
		l.waiting = l.waiting[1:]
	}
}

// next returns when a call can begin, now at the earliest, or when to try again.
func (l *Limiter) next(now time.Time, tokens int64) time.Time {
	requests := l.limits.Requests > 0 && len(l.calls) >= l.limits.Requests
	many := l.limits.Tokens > 0 && l.tokens > 0 && l.tokens+tokens > l.limits.Tokens
	switch {
	case l.paused.After(now):
		return l.paused
	case requests || many:
		return l.calls[0].began.Add(l.limits.Period)
	}
	return now
}

func (l *Limiter) wakeAt(at time.Time) {
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Until(at), func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.advance()
		})
		return
	}
	l.timer.Reset(time.Until(at))
}

// change replaces the tokens of a call.
func (l *Limiter) change(c *call, tokens int64) {
	if !c.expired {
		l.tokens += tokens - c.tokens
	}
	c.tokens = tokens
}

// observed passes on an answer and learns from it what the call has used.
func (l *Limiter) observed(answer iter.Seq2[agent.Chunk, error], c *call, size requestSize) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		var used *agent.Usage
		var failed error
		defer func() { l.ended(c, size, used, failed) }()
		for chunk, err := range answer {
			if chunk.Kind == agent.ChunkUsage && chunk.Usage != nil {
				used = chunk.Usage
			}
			if err != nil {
				failed = err
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// ended counts what a call has used.
func (l *Limiter) ended(c *call, size requestSize, used *agent.Usage, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var refused *agent.ModelError
	switch limited := errors.As(err, &refused) && refused.Class == agent.ClassRateLimited; {
	case limited:
		l.change(c, 0)
		if until := time.Now().Add(refused.RetryAfter); until.After(l.paused) {
			l.paused = until
		}
	case used != nil && err == nil:
		l.estimate.learn(size, *used)
		l.change(c, used.InputTokens+used.OutputTokens)
	}
	l.advance()
}
