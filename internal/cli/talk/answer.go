package talk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/runs"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// answerWait waits for the answer to a message.
type answerWait struct {
	shell    *cli.Shell
	session  *client.Session
	posted   shoal.Message    // the message; its id is empty until it is posted
	from     []shoal.EntityID // the entities whose next message is the answer
	timeline timeline
	receipts *receiptNotes
	live     liveMessage
	finished []shoal.EntityID // the entities whose run ended without an answer
}

// waitForAnswer posts the message and prints the next message of an entity that it mentions,
// or of the agent that acts on it, once that is complete. It follows the space before it posts,
// so that it does not miss a run that fails at once.
func (c *SendCommand) waitForAnswer(ctx context.Context, sh *cli.Shell, session *client.Session, post func(context.Context) (shoal.Message, error)) error {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, errNoAnswer)
		defer cancel()
	}
	w := &answerWait{shell: sh, session: session, timeline: newTimeline(session), receipts: newReceiptNotes(sh.Output), live: liveMessage{out: sh.Output}}
	for event, err := range session.Follow(ctx, client.FollowOptions{Space: c.Space}) {
		if err != nil {
			return err
		}
		if w.posted.ID == "" {
			if w.posted, err = post(ctx); err != nil {
				return err
			}
			if err := c.checkReach(w.posted); err != nil {
				return err
			}
			if err := w.findAnswerers(ctx, session, len(c.Mention) > 0); err != nil {
				return err
			}
			sh.Output.Note("posted as %s; waiting for %s", w.posted.ID, cli.JoinIDs(w.from, "", " or "))
			for _, r := range w.posted.Reach {
				if !r.Missed() {
					sh.Output.Note("%s: %s", r.EntityID, reachText(r))
				}
			}
			continue
		}
		if done, err := w.handle(ctx, event); done || err != nil {
			return err
		}
	}
	if w.posted.ID != "" && errors.Is(context.Cause(ctx), errNoAnswer) {
		noteReceipts(sh.Output, lastReceipts(ctx, session, w.posted.ID))
	}
	return context.Cause(ctx)
}

// findAnswerers returns the entities that may answer the message: the mentioned entities, else the agents
// whose runs the message started.
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
				break // runs are listed newest first
			}
		}
	}
	if w.live.from = w.from; len(w.from) > 0 {
		return nil
	}
	why := "none of the mentioned entities can answer"
	if !mentions {
		why = "no agent acts on it; mention a member with -m"
	}
	return shoal.E("", shoal.NotFound, "the message was posted as "+string(w.posted.ID)+", but "+why)
}

// handle processes an event and reports whether the wait is over.
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
	case shoal.EventDeliveryUpdated:
		data, err := view.Decode[shoal.DeliveryData](e)
		if err == nil && data.MessageID == w.posted.ID {
			w.receipts.show(data.Deliveries)
		}
		return err != nil, err
	case shoal.EventSpaceClosed:
		return true, shoal.E("", shoal.SpaceClosed, "the space was closed before an answer arrived")
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

// printAnswer prints the answer, unless it was printed as it streamed, and returns an error if
// the answer is incomplete or a person denied one of its calls.
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
		return shoal.E("", cli.KindRunFailed, fmt.Sprintf("the answer of %s is incomplete: its status is %s", m.EntityID, m.Status))
	}
	for _, p := range m.Parts {
		if p.Status == shoal.PartDenied && p.AnsweredBy != "" {
			return shoal.E("", cli.KindRejected, fmt.Sprintf("A request was denied by %s; it was from %s", p.AnsweredBy, m.EntityID))
		}
	}
	return w.checkRun(ctx, m)
}

// checkRun returns the verdict on the run of the answer, if it has ended: a person may have
// denied a request in another space.
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

// handleRunEnd processes the end of a run. The wait fails when the runs of all entities that
// may answer have ended without an answer.
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
	return true, shoal.E("", cli.KindNoAnswer, fmt.Sprintf("%s of %s ended without an answer in this space", data.Run.ID, data.Run.AgentID))
}
