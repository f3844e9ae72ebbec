package exchange

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
)

// Client is the client that an exchange is shown to.
type Client interface {
	// Flush sends what the view has shown since the last call.
	Flush() error
	// Over reports whether there is nothing more to wait for, and sends the end if that is so.
	Over(ctx context.Context) (bool, error)
	// Beat checks whether the client may go on, and keeps its connection open.
	Beat() error
}

// Play shows the exchange to its client, in the form of v, until it is over. Call it once, after Find. It
// fails with the first error of the client, and as Begin and Next do.
func (x *Exchange) Play(ctx context.Context, v View, c Client) error {
	if err := x.Begin(v); err != nil {
		return err
	}
	for moved := true; ; {
		if err := c.Flush(); err != nil {
			return err
		}
		if moved {
			if err := x.agree(ctx, v); err != nil {
				return err
			}
			if over, err := c.Over(ctx); over || err != nil {
				return err
			}
		}
		var beat bool
		var err error
		if moved, beat, err = x.Next(ctx, v); err != nil {
			return err
		}
		if beat {
			if err := c.Beat(); err != nil {
				return err
			}
		}
	}
}

// Failure returns why the run has failed in this exchange, nil if it has not.
func (r *Run) Failure() *shoal.RunError {
	switch {
	case r.Status != shoal.RunFailed || r.Past:
		return nil
	case r.Error == nil:
		return &shoal.RunError{Code: string(shoal.Internal), Message: "The agent's run failed."}
	}
	return r.Error
}

// Usage returns what the runs have used that did not end before the exchange.
func (x *Exchange) Usage() (sum shoal.Usage) {
	for _, run := range x.Runs {
		if !run.Past {
			sum = sum.Add(run.Usage)
		}
	}
	return sum
}

// CancelRunning cancels the runs that are running and act for the caller, because the client has disconnected:
// ctx may have ended. Runs that wait for somebody go on waiting.
func (x *Exchange) CancelRunning(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	var all []error
	for id, run := range x.Runs {
		if run.Status.Ended() || run.Status.Suspended() || !x.actsForCaller(run.Run) {
			continue
		}
		if _, err := x.Hub.Runs.Cancel(ctx, x.Who, x.Session, id); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// actsForCaller reports whether a run acts for the caller.
func (x *Exchange) actsForCaller(run shoal.Run) bool {
	return slices.Contains(run.ActingFor, x.Who.EntityID)
}

// AnswerQuestion gives the text of a draft to the first question in the space that a run asks which acts for
// the caller: one of this agent, or of any agent if it is empty. Without such a question, or without text, it
// does nothing.
func (x *Exchange) AnswerQuestion(ctx context.Context, agent shoal.EntityID, d shoal.Draft) (answered bool, err error) {
	text := (shoal.Message{Parts: d.Parts}).Text()
	waiting, err := x.Waiting(ctx)
	if err != nil || text == "" {
		return false, err
	}
	for _, w := range waiting {
		if w.Kind != shoal.PendingQuestion || agent != "" && w.AgentID != agent {
			continue
		}
		run, err := x.Hub.Runs.Get(ctx, x.Who, x.Session, w.RunID)
		if err != nil {
			return false, err
		}
		if !x.actsForCaller(run) {
			continue
		}
		if _, err := x.Hub.Pending.Answer(ctx, x.Who, x.Session, w.ID, shoal.PendingAnswer{Answer: &text}); err != nil {
			return false, err
		}
		return true, x.Want(ctx, w.RunID)
	}
	return false, nil
}
