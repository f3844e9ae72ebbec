package compose_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/compose"
)

// hosted is a run of a real agent with the parts that a runner supplies.
type hosted struct {
	t        *testing.T
	composer *compose.Composer
	follow   *follower
	stored   []compose.Message
	started  []shoal.EntityID
	seen     []string // arguments that tools received
}

func hostedOptions() compose.Options {
	return compose.Options{Run: "r", Trigger: "shop", Tools: []compose.Tool{
		{Name: "sendSpaceMessage", Send: true}, {Name: "showProductCard", Display: true}, {Name: "search", Display: true},
	}}
}

func newHosted(t *testing.T) *hosted {
	return &hosted{t: t, composer: compose.New(hostedOptions()), follow: newFollower()}
}

func (h *hosted) perform(effects []compose.Effect) {
	for _, e := range effects {
		if err := h.follow.take(e); err != nil {
			h.t.Errorf("%s: %v", showEffect(e), err)
		}
		switch e := e.(type) {
		case compose.OpenMessage:
			h.stored = append(h.stored, e.Message)
		case compose.SaveMessage:
			h.store(e.Message)
		case compose.CloseMessage:
			h.store(e.Message)
		case compose.StartMention:
			h.started = append(h.started, e.Entity)
		case compose.AskSpace:
			membership := compose.Member
			if e.Space == "secret" {
				membership = compose.NotMember
			}
			defer func() { h.perform(h.composer.SetMembership(e.Space, e.Target, membership)) }()
		}
	}
}

func (h *hosted) store(m compose.Message) {
	h.stored[slices.IndexFunc(h.stored, func(o compose.Message) bool { return o.ID == m.ID })] = m
}

// restore continues the run as another process would.
func (h *hosted) restore(conv *agent.Conversation) {
	record, err := conv.Load(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	var effects []compose.Effect
	h.composer, effects = compose.Restore(hostedOptions(), h.stored, record.Open.Steps)
	h.perform(effects)
}

// turn runs the agent and composes its events; each is called for every event.
func (h *hosted) turn(ctx context.Context, conv *agent.Conversation, model string, each func(agent.Event), input ...agent.Message) {
	answers, err := script.Parse(model)
	if err != nil {
		h.t.Fatal(err)
	}
	tool := func(name string) agent.Tool {
		return agent.Dynamic(agent.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, call agent.ToolCall) (agent.Output, error) {
			return agent.Output{Text: "did " + call.ID}, nil
		})
	}
	a, err := agent.New(script.New(answers...), agent.Options{
		Tools: []agent.Tool{tool("sendSpaceMessage"), tool("search"), agent.External(agent.ToolSpec{Name: "showProductCard"})},
		Middleware: []agent.Middleware{{
			Name: "routing",
			BeforeTools: func(_ context.Context, batch *agent.Batch) error {
				for _, call := range batch.Calls {
					if r, ok := h.composer.Route(call.ID); ok && r.Refusal != "" {
						batch.Block(call.ID, agent.ResultFailed, string(r.Refusal))
					}
				}
				return nil
			},
			Tool: func(next agent.ToolFunc) agent.ToolFunc {
				return func(ctx context.Context, call agent.ToolCall) (agent.Output, error) {
					for _, t := range hostedOptions().Tools {
						if t.Name == call.Name {
							call.Arguments, _ = compose.Strip(t, call.Arguments)
						}
					}
					h.seen = append(h.seen, call.Arguments)
					return next(ctx, call)
				}
			},
		}},
		MaxParallelTools: 1,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	for e, err := range a.Stream(ctx, conv, input...) {
		if err != nil {
			h.t.Fatal(err)
		}
		h.perform(h.composer.Apply(e))
		if each != nil {
			each(e)
		}
	}
}

// shown returns all messages, one per line.
func (h *hosted) shown() string {
	var out strings.Builder
	for _, m := range h.stored {
		out.WriteString(string(m.Space) + " " + showMessage(m) + "\n")
	}
	return out.String()
}

// The seed's shopping run with a real agent: it waits for a card, continues in another
// process, and leaves one message in each space.
func TestAgentWaitsAndContinues(t *testing.T) {
	h, conv := newHosted(t), agent.NewConversation()
	h.turn(t.Context(), conv, `
		call sendSpaceMessage#c1 {"spaceId":"shop","text":"Here are some laptops:"}
		call showProductCard#c2 {"targetSpaceId":"shop","name":"MacBook Pro","price":1299}
		call sendSpaceMessage#c3 {"text":"Want one?","spaceId":"shop"}
		call search#c4 {"targetSpaceId":"ops","query":"laptop","mention":"stock"}
		call sendSpaceMessage#c5 {"spaceId":"secret","text":"Psst"}`, nil, agent.Say("laptops?"))
	if len(h.seen) != 3 || h.seen[2] != `{"query":"laptop"}` {
		t.Errorf("the tools saw %q", h.seen)
	}
	h.restore(conv)
	pending, err := conv.Pending(t.Context())
	if err != nil || len(pending) != 1 {
		t.Fatalf("%v, %v", pending, err)
	}
	if err := conv.Answer(t.Context(), agent.Answer{PendingID: pending[0].ID, Text: `{"selected":true}`, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	h.turn(t.Context(), conv, `
		call sendSpaceMessage#c6 {"spaceId":"shop","text":"In the cart.","mention":"bob"}
		---
		say Done.`, nil)
	want := `shop message msg_r.1 completed @bob: [done "Here are some laptops:"] [showProductCard done {"name":"MacBook Pro","price":1299} → {"selected":true}] [done "Want one?"] [done "In the cart."]
ops message msg_r.2 completed @stock: [search done {"query":"laptop"} → "did c4"]
`
	if got := h.shown(); got != want {
		t.Errorf("the spaces show\n%swant\n%s", got, want)
	}
	if !slices.Equal(h.started, []shoal.EntityID{"stock", "bob"}) {
		t.Errorf("started %v", h.started)
	}
}

// A model call that fails in the middle of its calls is repeated. The space shows the
// second attempt, once.
func TestAgentRepeatsModelCall(t *testing.T) {
	h := newHosted(t)
	h.turn(t.Context(), agent.NewConversation(), `
		call sendSpaceMessage#c1 {"spaceId":"shop","text":"Dead words","mention":"bob"}
		call search#c2 {"targetSpaceId":"shop","query":"x"}
		fail overloaded 1ms
		---
		call sendSpaceMessage#c1 {"spaceId":"shop","text":"Living words"}
		---
		say Done.`, nil, agent.Say("go"))
	if got := h.shown(); !strings.Contains(got, `shop message msg_r.1 completed: [done "Living words"]`) || strings.Contains(got, "Dead") || len(h.started) > 0 {
		t.Errorf("the spaces show\n%s, started %v", got, h.started)
	}
}

// When a run is canceled while a text is streaming, the shown text stays.
func TestAgentCanceledDuringText(t *testing.T) {
	h := newHosted(t)
	ctx, cancel := context.WithCancel(t.Context())
	deltas := 0
	h.turn(ctx, agent.NewConversation(), `
		call sendSpaceMessage#c1 {"spaceId":"shop","text":"These are quite a lot of words that never arrive as a whole","mention":"bob"}`, func(e agent.Event) {
		if _, ok := e.(agent.ToolArgsDelta); ok {
			if deltas++; deltas == 8 {
				cancel()
			}
		}
	}, agent.Say("go"))
	if got := h.shown(); !strings.HasPrefix(got, `shop message msg_r.1 canceled: [interrupted "The`) || strings.Contains(got, "whole") || len(h.started) > 0 {
		t.Errorf("the spaces show\n%s, started %v", got, h.started)
	}
}
