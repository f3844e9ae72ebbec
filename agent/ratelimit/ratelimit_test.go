package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/agent/ratelimit"
)

// provider is an HTTP server that counts what it receives. Its connections are pipes, so
// that it works in virtual time.
type provider struct {
	mu     sync.Mutex
	at     []time.Time
	tokens []int64
	bodies []string
	refuse int // this request, counted from 1, is refused for 90 s
	conns  chan net.Conn
}

const (
	used   = 120 // tokens that the provider counts for each call
	answer = `data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":100}}` + "\n\ndata: [DONE]\n\n"
)

func (p *provider) Accept() (net.Conn, error) {
	conn, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p *provider) Close() error   { return nil }
func (p *provider) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.at, p.tokens, p.bodies = append(p.at, time.Now()), append(p.tokens, used), append(p.bodies, string(body))
	n := len(p.at)
	p.mu.Unlock()
	if n == p.refuse {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if _, err := io.WriteString(w, answer); err != nil {
		return
	}
}

// serve starts the provider and returns its model, in the bubble of t.
func (p *provider) serve(t *testing.T) agent.Model {
	p.conns = make(chan net.Conn)
	server := &http.Server{Handler: p}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(p); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case p.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		close(p.conns)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return openai.Chat("m", openai.Options{BaseURL: "http://provider/v1", APIKey: "k", HTTPClient: &http.Client{Transport: transport}})
}

// most returns the most of the given amounts that any period contains.
func most(at []time.Time, amounts []int64, period time.Duration) (max int64) {
	for i := range at {
		var sum int64
		for j := i; j < len(at) && at[j].Sub(at[i]) < period; j++ {
			sum += amounts[j]
		}
		if sum > max {
			max = sum
		}
	}
	return max
}

func ones(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// Fifty agents with one key stay within its limits, as the provider counts, and each of
// them gets its turn.
func TestFiftyAgentsKeepTheLimits(t *testing.T) {
	const agents, turns = 50, 4
	for name, c := range map[string]struct {
		limits         ratelimit.Limits
		requests, uses int64 // the most in a minute
		atLeast        time.Duration
		longest        time.Duration // that a call waits: all others have one before it
	}{
		"requests": {ratelimit.Limits{Requests: 30}, 30, 1 << 40, 6 * time.Minute, 2 * time.Minute},
		"tokens":   {ratelimit.Limits{Tokens: 6000}, 1 << 40, 6000, 3 * time.Minute, 2 * time.Minute},
		"both":     {ratelimit.Limits{Requests: 40, Tokens: 3000}, 40, 3000, 7 * time.Minute, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{}
				limiter := ratelimit.New(c.limits)
				m := limiter.Model(p.serve(t))
				began := time.Now()
				var group sync.WaitGroup
				for n := range agents {
					a, err := agent.New(m, agent.Options{TurnTimeout: -1, AttemptTimeout: time.Second, Settings: agent.Settings{MaxOutputTokens: 100}})
					if err != nil {
						t.Fatal(err)
					}
					group.Go(func() {
						for range turns {
							if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say(fmt.Sprintf("agent number %d", n))); err != nil {
								t.Error(err)
							}
						}
					})
				}
				group.Wait()
				if len(p.at) != agents*turns {
					t.Fatalf("%d requests, want %d", len(p.at), agents*turns)
				}
				if n := most(p.at, ones(len(p.at)), time.Minute); n > c.requests {
					t.Errorf("%d requests in a minute, at most %d are allowed", n, c.requests)
				}
				if n := most(p.at, p.tokens, time.Minute); n > c.uses {
					t.Errorf("%d tokens in a minute, at most %d are allowed", n, c.uses)
				}
				if took := time.Since(began); took < c.atLeast || took > 2*c.atLeast {
					t.Errorf("took %s; the limits allow it in little more than %s", took, c.atLeast)
				}
				if wait := longestWait(t, p, agents); wait > c.longest {
					t.Errorf("a call waited for %s, want at most %s", wait, c.longest)
				}
				if n := limiter.Waiting(); n != 0 {
					t.Errorf("%d calls wait at the end", n)
				}
			})
		})
	}
}

// longestWait returns the longest time between two calls of an agent.
func longestWait(t *testing.T, p *provider, agents int) (longest time.Duration) {
	t.Helper()
	last := make([]time.Time, agents)
	for i, body := range p.bodies {
		_, rest, _ := strings.Cut(body, "agent number ")
		var n int
		if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		if last[n].IsZero() {
			last[n] = p.at[0]
		}
		longest, last[n] = max(longest, p.at[i].Sub(last[n])), p.at[i]
	}
	return longest
}

// Calls begin in the order in which they asked.
func TestCallsWaitInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		limiter := ratelimit.New(ratelimit.Limits{Requests: 1, Period: time.Second})
		m := limiter.Model(script.Func(func(r *agent.Request) script.Answer {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, r.Messages[0].Text())
			return script.Answer{Text: "Yes."}
		}))
		a, err := agent.New(m, agent.Options{TurnTimeout: -1})
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		var want []string
		for n := range 50 {
			want = append(want, fmt.Sprint(n))
			group.Go(func() {
				if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say(fmt.Sprint(n))); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		group.Wait()
		if !slices.Equal(order, want) {
			t.Errorf("the order is %v", order)
		}
	})
}

// What the provider says about waiting holds for all calls.
func TestARefusalPausesAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{refuse: 2}
		limiter := ratelimit.New(ratelimit.Limits{Requests: 2, Period: time.Second})
		m := limiter.Model(p.serve(t))
		var group sync.WaitGroup
		for range 6 {
			a, err := agent.New(m, agent.Options{})
			if err != nil {
				t.Fatal(err)
			}
			group.Go(func() {
				if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if len(p.at) != 7 {
			t.Fatalf("%d requests, want 7", len(p.at))
		}
		for _, at := range p.at[2:] {
			if since := at.Sub(p.at[1]); since < 90*time.Second {
				t.Errorf("a call was made %s after the refusal", since)
			}
		}
	})
}

// A call that is canceled while it waits leaves its place to the others.
func TestAWaitingCallIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratelimit.New(ratelimit.Limits{Requests: 1})
		m := limiter.Model(script.Func(func(*agent.Request) script.Answer { return script.Answer{Text: "Yes."} }))
		a, err := agent.New(m, agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		run := func(ctx context.Context) *agent.Result {
			r, err := a.Run(ctx, agent.NewConversation(), agent.Say("go"))
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			return r
		}
		run(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if r := run(ctx); r.Outcome != agent.Canceled || r.Reason != agent.ReasonCanceled {
				t.Errorf("the canceled turn is %s, %s", r.Outcome, r.Reason)
			}
		})
		synctest.Wait()
		group.Go(func() { run(t.Context()) })
		synctest.Wait()
		if n := limiter.Waiting(); n != 2 {
			t.Errorf("%d wait", n)
		}
		cancel()
		group.Wait()
		if took := time.Since(began); took != time.Minute {
			t.Errorf("the other call waited for %s", took)
		}
	})
}

// A turn that waits for longer than its time ends with its own reason.
func TestWaitingCountsTowardsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := ratelimit.New(ratelimit.Limits{Requests: 1}).Model(script.Func(func(*agent.Request) script.Answer { return script.Answer{Text: "Yes."} }))
		a, err := agent.New(m, agent.Options{TurnTimeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); err != nil {
			t.Fatal(err)
		}
		if r, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); r.Reason != agent.ReasonTimeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, %v", r.Reason, err)
		}
	})
}

// Each model of a fallback has the limiter of its own key.
func TestTheModelThatAnswersIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := map[string]int{}
		model := func(name string, a script.Answer) agent.Model {
			return ratelimit.New(ratelimit.Limits{Requests: 1}).Model(script.Func(func(*agent.Request) script.Answer {
				calls[name]++
				return a
			}))
		}
		down := &agent.ModelError{Class: agent.ClassOverloaded}
		a, err := agent.New(agent.Fallback(model("first", script.Answer{Err: down}), model("second", script.Answer{Text: "Yes."})), agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 3 {
			if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 2*time.Minute || calls["first"] != 3 || calls["second"] != 3 {
			t.Errorf("%v took %s", calls, took)
		}
	})
}

// A request that is larger than the limit is made when nothing else is counted, and what
// the provider reports replaces what was reserved.
func TestTokensAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := ratelimit.New(ratelimit.Limits{Tokens: 1000}).Model(script.Func(func(*agent.Request) script.Answer {
			return script.Answer{Text: "Yes.", Usage: agent.Usage{InputTokens: 100, OutputTokens: 10}}
		}))
		call := func(bytes, output int) time.Duration {
			began := time.Now()
			for _, err := range m.Stream(t.Context(), &agent.Request{
				Messages: []agent.Message{agent.Say(strings.Repeat("x", bytes))}, Settings: agent.Settings{MaxOutputTokens: output},
			}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(began)
		}
		if took := call(100_000, 10); took != 0 {
			t.Errorf("a large request waited for %s", took)
		}
		if took := call(10, 800); took != 0 { // 110 of 1000 are used
			t.Errorf("a request that fits waited for %s", took)
		}
		if took := call(10, 900); took != time.Minute { // 220 are used
			t.Errorf("a request that does not fit waited for %s", took)
		}
	})
}

// failing yields an error before any chunk.
type failing struct{ agent.Model }

func (failing) Stream(context.Context, *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		yield(agent.Chunk{}, &agent.ModelError{Class: agent.ClassRateLimited, RetryAfter: time.Hour})
	}
}

// Stream, without an agent, reports the end of its context as models do.
func TestStreamWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := ratelimit.New(ratelimit.Limits{}).Model(failing{script.New()})
		cause := errors.New("enough")
		last := func(ctx context.Context) (err error) {
			for _, err = range m.Stream(ctx, &agent.Request{}) {
				continue
			}
			return err
		}
		if err := last(t.Context()); !errors.As(err, new(*agent.ModelError)) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
		defer cancel()
		if err := last(ctx); !errors.Is(err, cause) {
			t.Errorf("%v, want the cause of the context", err)
		}
		if m.Info().Name != "script" {
			t.Errorf("the model is %+v", m.Info())
		}
	})
}

func TestNewRefusesNegativeLimits(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a negative limit is accepted")
		}
	}()
	ratelimit.New(ratelimit.Limits{Requests: -1})
}
