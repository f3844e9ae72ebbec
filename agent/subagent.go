package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SubAgent configures how an agent appears as a tool of another agent.
type SubAgent struct {
	// Name and Description are what the calling model sees. Defaults: the agent's.
	Name        string
	Description string
	// WithoutPermission allows calls without asking a person.
	WithoutPermission bool
	// WithHistory gives the sub-agent a copy of the caller's history before the present
	// turn; without it, the sub-agent sees only its input.
	WithHistory bool
}

var subAgentSchema = json.RawMessage(`{"type":"object","properties":{"input":{"type":"string",` +
	`"description":"The task, with everything that is needed to do it."}},"required":["input"]}`)

// AsTool returns a tool that runs an agent. The tool takes one input and returns the
// sub-agent's last text. Each call has a conversation of its own in the caller's store;
// its id is derived from the id of the call, and it is not deleted. The caller emits
// the sub-agent's events as [Nested] events and makes the sub-agent's requests. A
// sub-agent that waits makes the caller wait, and both resume together.
func AsTool(sub *Agent, s SubAgent) Tool {
	spec := ToolSpec{
		Name:               orElse(s.Name, sub.opts.Name),
		Description:        orElse(s.Description, sub.opts.Description),
		Schema:             subAgentSchema,
		RequiresPermission: !s.WithoutPermission,
		Idempotent:         true, // its conversation records how far it came
		Timeout:            -1,   // its own turn has one
	}
	return &subAgent{agent: sub, spec: spec, withHistory: s.WithHistory}
}

type subAgent struct {
	agent       *Agent
	spec        ToolSpec
	withHistory bool
}

func (s *subAgent) Spec() ToolSpec { return s.spec }

// graceOf returns the additional time that a tool may take to end: the turn of a
// sub-agent ends only after its own tools and its writes.
func graceOf(tool Tool) time.Duration {
	switch tool := tool.(type) {
	case *configured:
		return graceOf(tool.Tool)
	case *subAgent:
		return tool.agent.opts.Grace + writeTimeout
	}
	return 0
}

// maxNesting limits how deep calls of sub-agents nest.
const maxNesting = 8

func (s *subAgent) Call(ctx context.Context, call ToolCall) (Output, error) {
	var in struct{ Input string }
	if err := json.Unmarshal([]byte(call.Arguments), &in); err != nil {
		return Output{}, err
	}
	above, ok := ctx.Value(toolContextKey{}).(*toolContext)
	if !ok {
		return Output{}, fmt.Errorf("agent %s was called outside of a turn", s.agent.opts.Name)
	}
	if above.depth >= maxNesting {
		return Output{Text: fmt.Sprintf("Error: more than %d agents call each other.", maxNesting), Failed: true}, nil
	}
	conv, begun, done, err := s.conversation(ctx, above, call)
	if err != nil {
		return Output{}, err
	}
	if done != nil {
		return *done, nil
	}
	input := []Message{Say(in.Input)}
	if begun {
		input = nil
	}
	var end TurnFinished
	turnID, speaker := "", s.agent.opts.Name
	t := s.agent.run(ctx, conv, input, func(e Event, failed error) bool {
		if began, ok := e.(TurnStarted); ok {
			turnID, speaker = began.TurnID, began.Agent
		}
		if to, ok := e.(Transferred); ok {
			speaker = to.To
		}
		if failed != nil {
			err = failed
			return false
		}
		if done, ok := e.(TurnFinished); ok {
			end = done
		}
		// The end of ctx cancels the sub-agent's turn. Its open events are closed
		// nevertheless, because the caller's turn receives events until this call has
		// returned or is abandoned.
		above.emit(context.WithoutCancel(ctx), nest(above.agent, speaker, call.ID, turnID, e))
		return true
	})
	if err != nil || t == nil {
		return Output{}, err
	}
	return subOutput(t, end)
}

// nest wraps an event of a sub-agent for the caller's turn.
func nest(above, self, callID, turnID string, e Event) Nested {
	if n, ok := e.(Nested); ok {
		n.CallID, n.Chain = callID, append([]string{above}, n.Chain...)
		return n
	}
	return Nested{CallID: callID, TurnID: turnID, Chain: []string{above, self}, Event: e}
}

// subOutput converts the end of the sub-agent's turn to the result of the call.
func subOutput(t *turn, end TurnFinished) (Output, error) {
	switch end.Outcome {
	case Waiting:
		return Output{}, &suspendedError{pending: end.Pending}
	case Completed:
		if t.m.output != nil {
			return Output{Text: string(t.m.output)}, nil
		}
		r := Result{Messages: t.turnMessages()}
		return Output{Text: r.Text()}, nil
	case Canceled:
		return Output{}, context.Canceled
	}
	return Output{Text: fmt.Sprintf("Error: the agent %s failed: %s", t.agent.opts.Name, end.Message), Failed: true}, nil
}

// conversation opens the call's own conversation. done reports that it already has the
// answer, which happens after a crash before the caller's step was stored.
func (s *subAgent) conversation(ctx context.Context, above *toolContext, call ToolCall) (conv *Conversation, begun bool, done *Output, err error) {
	sum := sha256.Sum256([]byte(above.turnID + " " + call.ID))
	conv = OpenConversation(above.conv.store, above.conv.id+".sub."+hex.EncodeToString(sum[:6]))
	record, err := conv.store.Load(ctx, conv.id)
	if errors.Is(err, ErrNotFound) {
		fresh := Record{ID: conv.id, Parent: above.conv.id, DisplayName: s.agent.opts.Name, CreatedAt: time.Now(), LastActivity: time.Now()}
		if s.withHistory {
			fresh.Messages = above.history
		}
		fresh.Metadata = map[string]string{inherited: strconv.Itoa(len(fresh.Messages))}
		return conv, false, nil, conv.store.Replace(ctx, fresh)
	}
	if err != nil {
		return nil, false, nil, err
	}
	own, _ := strconv.Atoi(record.Metadata[inherited])
	begun = record.Open != nil || len(record.Messages) > own
	if begun && record.Open == nil {
		done = finalAnswer(record.Messages[own:])
	}
	return conv, begun, done, nil
}

// inherited is the metadata key that stores how many messages a sub-agent's
// conversation began with.
const inherited = "inheritedMessages"

// finalAnswer returns the result of a turn's messages, nil if they do not end
// with an answer.
func finalAnswer(messages []Message) *Output {
	for _, m := range slices.Backward(messages) {
		if m.Role != Assistant {
			continue
		}
		calls := m.Calls()
		if len(calls) == 0 && !m.Interrupted {
			return &Output{Text: m.Text()}
		}
		for _, c := range calls {
			if strings.HasPrefix(c.Name, returnPrefix) {
				return &Output{Text: c.Arguments}
			}
		}
		return nil
	}
	return nil
}

// suspendedError is the error of a tool that has to wait for answers itself.
type suspendedError struct{ pending []Pending }

func (e *suspendedError) Error() string {
	return fmt.Sprintf("waits for %d answers", len(e.pending))
}
