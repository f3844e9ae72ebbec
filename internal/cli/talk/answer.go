package talk

import (
	"context"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/runs"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// answerWait is a wait for the next message of somebody.
type answerWait struct {
	shell   *cli.Shell
	session *client.Session
	posted  shoal.Message    // what is answered; none before it is posted
	from    []shoal.EntityID // who may answer
	timeline    timeline
	live    liveMessage
	finished    []shoal.EntityID // who might have answered, and has ended without a word
}

// waitForAnswer posts, and prints the next message behind that by somebody whom it
// mentions, or who acts on it, when it is whole. A run that fails at once cannot be missed: the space
// is followed before the message is posted.
func (c *SendCommand) waitForAnswer(ctx context.Context, sh *cli.Shell, session *client.Session, post func(context.Context) (shoal.Message, error)) error {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, errNoAnswer)
		defer cancel()
	}
	w := &answerWait{shell: sh, session: session, timeline: newTimeline(session), live: liveMessage{out: sh.Output}}
	for event, err := range session.Follow(ctx, client.FollowOptions{Space: c.Space}) {
		if err != nil {
			return err
		}
		if w.posted.ID == "" {
			if w.posted, err = post(ctx); err != nil {
				return err
			}
			if err := w.findAnswerers(ctx, session, len(c.Mention) > 0); err != nil {
				return err
			}
			sh.Output.Note("posted as %s; waiting for %s", w.posted.ID, cli.JoinIDs(w.from, "", " or "))
			continue
		}
		if done, err := w.handle(ctx, event); done || err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// findAnswerers finds out who may answer what was posted.
func (w *answerWait) findAnswerers(ctx context.Context, session *client.Session, mentions bool) error {
	w.timeline.last[w.posted.SpaceID] = w.posted.Seq
	if w.from = w.posted.Mentions; !mentions {
		for r, err := range session.Runs(ctx, client.RunsOptions{Space: w.posted.SpaceID}) {
			if err != nil {
				return err
			}
			if r.Trigger.MessageID == w.posted.ID {
				w.from = append(w.from, r.AgentID)
			}
			if r.CreatedAt.Before(w.posted.CreatedAt.Time) {
				break // the newest come first
			}
		}
	}
	if w.live.from = w.from; len(w.from) > 0 {
		return nil
	}
	why := "nobody was mentioned who could answer"
	if !mentions {
		why = "no agent acts on it; mention somebody with -m"
	}
	return shoal.E("", shoal.NotFound, "the message was posted as "+string(w.posted.ID)+", but "+why)
}

// handle reports whether the event is the end of the wait.
func (w *answerWait) handle(ctx context.Context, e shoal.Event) (done bool, err error) {
	messages, _, err := w.timeline.newMessages(ctx, e)
	if err != nil {
		return true, err
	}
	shown := false
	if o := w.shell.Output; o.Terminal && !o.JSON {
		if shown, err = w.live.show(e); err != nil {
			return true, err
		}
	}
	for _, m := range messages {
		if slices.Contains(w.from, m.EntityID) {
			return true, w.printAnswer(ctx, m, shown)
		}
	}
	switch e.Type {
	case shoal.EventSpaceClosed:
		return true, shoal.E("", shoal.SpaceClosed, "the space was closed before anybody answered")
	case shoal.EventPendingOpened:
		if err := w.live.endLine(); err != nil {
			return true, err
		}
		return false, view.NotePending(w.shell.Output, e)
	case shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled:
		return w.handleRunEnd(e)
	}
	return false, nil
}

// printAnswer prints the answer, unless it was shown as it came, and says how it ended.
func (w *answerWait) printAnswer(ctx context.Context, m shoal.Message, shown bool) error {
	switch o := w.shell.Output; {
	case o.JSON:
		if err := o.PrintObject(m); err != nil {
			return err
		}
	case !shown:
		if err := o.PrintText(view.MessageText(m)); err != nil {
			return err
		}
	}
	if m.Status == shoal.MessageFailed || m.Status == shoal.MessageCanceled {
		return shoal.E("", cli.KindRunFailed, fmt.Sprintf("the answer of %s is not whole: it %s", m.EntityID, m.Status))
	}
	for _, p := range m.Parts {
		if p.Status == shoal.PartDenied && p.AnsweredBy != "" {
			return shoal.E("", cli.KindRejected, fmt.Sprintf("%s said no to what %s wanted to do", p.AnsweredBy, m.EntityID))
		}
	}
	return w.checkRun(ctx, m)
}

// checkRun looks at what the run of an answer did in other spaces, if it has ended:
// there, too, somebody may have said no.
func (w *answerWait) checkRun(ctx context.Context, m shoal.Message) error {
	if m.RunID == nil {
		return nil
	}
	watch := &runs.Watch{Session: w.session, Run: *m.RunID}
	run, err := watch.Current(ctx)
	if err != nil || !run.Status.Ended() {
		return err
	}
	return watch.Verdict(run)
}

// handleRunEnd takes the end of a run that the message has started: when all who might
// answer have ended without a word, nobody answers any more.
func (w *answerWait) handleRunEnd(e shoal.Event) (done bool, err error) {
	data, err := view.Decode[shoal.RunData](e)
	if err != nil || data.Run.Trigger.MessageID != w.posted.ID {
		return err != nil, err
	}
	w.finished = append(w.finished, data.Run.AgentID)
	if slices.ContainsFunc(w.from, func(id shoal.EntityID) bool { return !slices.Contains(w.finished, id) }) {
		return false, nil
	}
	if err := runs.Failure(data.Run); err != nil {
		return true, err
	}
	return true, shoal.E("", cli.KindNoAnswer, fmt.Sprintf("%s of %s has ended without an answer in this space", data.Run.ID, data.Run.AgentID))
}
