package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// forgetful is a store whose second look fails: the one right after the beginning.
type forgetful struct {
	agent.Store
	looks int
}

func (f *forgetful) Load(ctx context.Context, id string) (agent.Record, error) {
	if f.looks++; f.looks == 2 {
		return agent.Record{}, errDisk
	}
	return f.Store.Load(ctx, id)
}

// Run has a result beside its error as soon as a turn began, and a typed error before.
func TestRunReturnsAResultAfterTurnStart(t *testing.T) {
	a := newAgent(t, "say fine", agent.Options{})
	c := agent.OpenConversation(&forgetful{Store: agent.NewMemory()}, "c")
	var failed *agent.BeginError
	r, err := a.Run(t.Context(), c, agent.Say("hello"))
	if !errors.As(err, &failed) || !errors.Is(err, errDisk) || r == nil || failed.TurnID == "" || r.TurnID != failed.TurnID || r.Outcome != agent.Failed {
		t.Errorf("a turn that began and could not be read again: %+v, %v", r, err)
	}
	if r, err = a.Run(t.Context(), c); err != nil || r.Text() != "fine" {
		t.Errorf("it does not go on: %+v, %v", r, err)
	}
	r, err = a.Run(t.Context(), agent.NewConversation())
	if !errors.As(err, &failed) || failed.TurnID != "" || r != nil || agent.KindOf(err) != agent.ErrInvalidArgument || strings.Contains(err.Error(), "begin") {
		t.Errorf("nothing to say: %+v, %v", r, err)
	}
}

// A turn whose time is over is a deadline that was exceeded, for its caller and for the
// tools that it interrupts.
func TestATurnTimeoutIsADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen error
		slow := agent.Func("slow", "", func(ctx context.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			seen = context.Cause(ctx)
			return "", seen
		})
		a := newAgent(t, "call slow {}", agent.Options{Tools: []agent.Tool{slow}, TurnTimeout: time.Second, ToolTimeout: -1})
		r, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go"))
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || r.Reason != agent.ReasonTimeout {
			t.Errorf("the turn ends with %v, %s", err, r.Reason)
		}
		if !errors.Is(seen, context.DeadlineExceeded) {
			t.Errorf("the tool ends with %v", seen)
		}
	})
}
