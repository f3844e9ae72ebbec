package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/budget"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/vendor"
)

// errCanceled is the cause with which a canceled run ends.
var errCanceled = errors.New("the run was canceled")

// delegatedError is the cause that ends a run that delegated its work to another agent.
type delegatedError struct{ to shoal.RunID }

func (e *delegatedError) Error() string { return "the work was delegated to the run " + string(e.to) }

// timeoutError is the cause that ends a run at the limit of its running time.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return "the run took longer than " + e.limit.String() }

// brokenError is the cause that ends a run whose effects could not be stored.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return "an effect could not be stored: " + e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// unreadableError reports stored data that this server cannot decode, or a fault of its
// own. Retrying does not help.
type unreadableError struct {
	what string
	err  error
}

func (e *unreadableError) Error() string { return fmt.Sprintf("run: %s: %v", e.what, e.err) }
func (e *unreadableError) Unwrap() error { return e.err }

func canceledEnd(message string) agent.TurnEnd {
	return agent.TurnEnd{Outcome: agent.Canceled, Reason: agent.ReasonCanceled, Message: message, At: time.Now()}
}

// buildFailure is the end of a run whose agent cannot be built.
func buildFailure(err error) agent.TurnEnd {
	end := agent.TurnEnd{Outcome: agent.Failed, Reason: agent.ReasonInternal, Message: publicSentence(err, "The agent cannot be made from its configuration.")}
	var key *vendor.MissingKeyError
	if errors.As(err, &key) {
		end.Reason, end.Message = agent.ReasonProviderAuth, key.Error()
	}
	return end
}

// storageFailure is the message of a run that ended because the store refused a write for
// good; a busy or full one makes the run wait.
const storageFailure = "The server's database refused what the run did. Start the run again; if it fails again, ask the operator to read the server's log."

// endOfRun returns the end of the run for the end of its turn: a turn that the executor
// canceled is not always a canceled run.
func (x *execution) endOfRun(end agent.TurnEnd) agent.TurnEnd {
	if end.Reason == agent.ReasonStorage {
		end.Message = storageFailure
	}
	if end.Outcome != agent.Canceled {
		return end
	}
	var handed *delegatedError
	var today *budget.DayError
	var limit *budget.LimitError
	var broken *brokenError
	var late *timeoutError
	switch cause := context.Cause(x.ctx); {
	case errors.As(cause, &today):
		end.Outcome, end.Reason, end.Message = agent.Failed, agent.ReasonBudget, today.Error()
	case errors.As(cause, &limit):
		end.Outcome, end.Reason, end.Message = agent.Failed, agent.ReasonBudget, limit.Error()
	case errors.As(cause, &late):
		end.Outcome, end.Reason, end.Message = agent.Failed, agent.ReasonTimeout, fmt.Sprintf("The run took longer than %s.", late.limit)
	case errors.As(cause, &broken):
		end.Outcome, end.Reason, end.Message = agent.Failed, agent.ReasonStorage, storageFailure
	case errors.As(cause, &handed):
		end.Message = fmt.Sprintf("The work was delegated to the run %s.", handed.to)
	case errors.Is(cause, errCanceled):
		end.Message = "The run was canceled."
	}
	return end
}

// endRun ends a run whose turn has ended already.
func (x *execution) endRun(end agent.TurnEnd) error {
	if err := x.postReply(end); err != nil {
		return err
	}
	return x.finishRun(x.composer.End(end.Outcome), end)
}

// finishRun performs the last effects and ends the run, in one transaction.
func (x *execution) finishRun(effects []compose.Effect, end agent.TurnEnd) error {
	status, failure := agenterror.EndOfRun(end)
	return x.perform(effects, func(c *runs.RunChange) error {
		if c.Run.Began != 0 {
			position, err := c.NextPosition()
			if err != nil {
				return err
			}
			c.Run.Ended = position
		}
		c.Run.LimitReached = agenterror.LimitOf(end)
		return c.Finish(status, failure)
	})
}

// endWaiting ends a run whose turn is not running: it is suspended, or was interrupted. The
// results of its tools remain in the conversation.
func (x *execution) endWaiting(end agent.TurnEnd) error {
	effects := x.composer.End(end.Outcome)
	if x.store.hasOpenTurn() {
		if err := x.openConversation(); err != nil {
			return err
		}
		if err := agent.OpenConversation(x.store, string(x.run.ID)).Discard(context.WithoutCancel(x.ctx)); err != nil {
			return agenterror.Convert(err)
		}
	}
	return x.finishRun(effects, end)
}

// openConversation reads the conversation into the store.
func (x *execution) openConversation() error {
	return x.read(context.WithoutCancel(x.ctx), x.store.openConversation)
}

// abort ends a run that could not continue because of err. It loads the run again first,
// because the error does not say how much was stored.
func (x *execution) abort(err error) error {
	end := agent.TurnEnd{Outcome: agent.Failed, Reason: agent.ReasonInternal, Message: publicSentence(err, "The run could not continue because of a fault in the server.")}
	switch {
	case x.ctx.Err() != nil && errors.Is(err, context.Canceled):
		end = x.endOfRun(canceledEnd("The run was canceled."))
	case isStorageError(err):
		end.Reason, end.Message = agent.ReasonStorage, storageFailure
	}
	if end.Outcome == agent.Failed {
		x.log.Error("the run cannot continue", "error", err)
	}
	if err := x.load(); err != nil {
		if isStorageError(err) {
			return err
		}
		end.Reason, end.Message = agent.ReasonInternal, publicSentence(err, end.Message)
		return x.forceEnd(end)
	}
	if err := x.restoreMessages(); err != nil {
		return err
	}
	if x.store.ended != nil {
		return x.endRun(*x.store.ended)
	}
	return x.endWaiting(end)
}

// forceEnd ends a run whose composed messages cannot be decoded: they remain as members of
// the space see them.
func (x *execution) forceEnd(end agent.TurnEnd) error {
	status, failure := agenterror.EndOfRun(end)
	return x.write(x.ctx, func(c *runs.RunChange) error {
		composed, err := c.Composed(x.run.SessionID, x.run.ID)
		if err != nil {
			return err
		}
		for _, m := range composed {
			if m.Status != shoal.MessageStreaming {
				continue
			}
			m.Status = shoal.MessageFailed
			if err := c.CloseMessage(m.Message, m.State); err != nil {
				return err
			}
		}
		return c.Finish(status, failure)
	})
}

// isStorageError reports whether err is a failure of the store.
func isStorageError(err error) bool {
	var broken *brokenError
	var unreadable *unreadableError
	if errors.As(err, &unreadable) {
		return false
	}
	if errors.As(err, &broken) {
		return true
	}
	kind := shoal.KindOf(err)
	return kind == shoal.Busy || kind == shoal.StorageFull || kind == shoal.Internal
}

// publicSentence returns the text of err that people may read, or otherwise.
func publicSentence(err error, otherwise string) string {
	var e *shoal.Error
	if errors.As(err, &e) && e.Msg != "" && e.Kind != shoal.Internal {
		return e.Msg
	}
	return otherwise
}
