package spaces

import (
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const noActingRun = "no run acts on it"

// fillHosted fills in the receipt of an agent that the server runs, from the run that acts on
// the message.
func fillHosted(tx receiptTx, r *shoal.Receipt, m shoal.Message) error {
	run, since, err := actingRun(tx, m, r.EntityID)
	if err != nil {
		return err
	}
	if run == nil {
		r.Text = noActingRun
		return nil
	}
	if run.PartOf != nil {
		return fillTakenIn(tx, r, *run, m)
	}
	via := shoal.ViaHosted
	r.RunID, r.Via, r.DeliveredAt = &run.ID, &via, since
	if r.DeliveredAt != nil {
		r.State = shoal.ReceiptDelivered
		if r.ResumedAt, err = firstStep(tx, *run, *since); err != nil {
			return err
		}
	}
	if r.ResumedAt != nil {
		r.State = shoal.ReceiptResumed
	}
	if err := findAnswer(tx, r, *run, m); err != nil {
		return err
	}
	return finishHosted(tx, r, *run)
}

// finishHosted fills in a failure of the run, or what the agent waits for.
func finishHosted(tx receiptTx, r *shoal.Receipt, run storage.Run) (err error) {
	if run.Status == shoal.RunFailed || run.Status == shoal.RunCanceled {
		code := string(run.Status)
		if run.Error != nil {
			code, r.Text = run.Error.Code, run.Error.Message
		}
		r.State, r.FailedReason = shoal.ReceiptFailed, &code
	}
	if r.Final() {
		return nil
	}
	r.Text, err = explainRun(tx, run)
	return err
}

// fillTakenIn fills in the receipt of a message that the model of another run has read in the
// middle of its turn. Its answer is what that run completes from then on.
func fillTakenIn(tx receiptTx, r *shoal.Receipt, taken storage.Run, m shoal.Message) error {
	run, err := tx.Run(m.SessionID, *taken.PartOf)
	if errors.Is(err, shoal.NotFound) { // it is older than its session keeps runs
		r.Text = noActingRun
		return nil
	}
	if err != nil {
		return err
	}
	via := shoal.ViaHosted
	r.State, r.RunID, r.Via, r.DeliveredAt, r.ResumedAt = shoal.ReceiptResumed, &run.ID, &via, taken.StartedAt, taken.StartedAt
	composed, err := tx.Composed(m.SessionID, run.ID)
	if err != nil {
		return err
	}
	for _, c := range composed {
		if c.SpaceID == m.SpaceID && c.Status == shoal.MessageCompleted && c.DeletedAt == nil && !c.UpdatedAt.Before(taken.StartedAt.Time) {
			r.State, r.AnsweredBy, r.AnsweredAt = shoal.ReceiptAnswered, &c.ID, &c.UpdatedAt
			break
		}
	}
	return finishHosted(tx, r, run)
}

// explainRun says what an agent that has not answered waits for.
func explainRun(tx receiptTx, r storage.Run) (string, error) {
	switch r.Status {
	case shoal.RunQueued:
		before, err := runs.FindBlockingRun(tx, r.SessionID, r.AgentID, r.Space)
		if err != nil || before == nil || before.ID == r.ID || r.Awake {
			return "its run is about to start", err
		}
		return "its run waits for the end of " + string(before.ID), nil
	case shoal.RunRunning:
		if r.StalledSince != nil {
			return "its run gives no sign of life since " + r.StalledSince.UTC().Format(time.TimeOnly) + "; it can be canceled", nil
		}
		return "its run is at work", nil
	case shoal.RunWaitingTool:
		return "its run waits for an approval, a result or a time", nil
	case shoal.RunWaitingReply:
		return "its run waits for a reply", nil
	}
	return "its run has ended without a message here", nil
}

// actingRun returns the run of an agent that acts on a message, or nil, and since when it
// does, nil if it has not started.
func actingRun(tx receiptTx, m shoal.Message, agent shoal.EntityID) (r *storage.Run, since *shoal.Time, err error) {
	if r, err = startedRun(tx, m, agent); err != nil || r != nil {
		return r, startOf(r), err
	}
	return continuedRun(tx, m, agent)
}

func startOf(r *storage.Run) *shoal.Time {
	if r == nil {
		return nil
	}
	return r.StartedAt
}

// triggeredUntil returns a time before which a message has started runs.
func triggeredUntil(m shoal.Message) shoal.Time {
	if m.RunID != nil { // its mentions count when it is complete
		return shoal.At(m.UpdatedAt.Add(time.Second))
	}
	return shoal.At(m.CreatedAt.Add(time.Millisecond))
}

// startedRun returns the run that a message has started, the last one if it was started
// again, or nil.
func startedRun(tx receiptTx, m shoal.Message, agent shoal.EntityID) (*storage.Run, error) {
	until := triggeredUntil(m)
	filter := storage.RunFilter{Agent: agent, Trigger: shoal.SpaceMessageTrigger, Since: &m.CreatedAt, Until: &until, Limit: shoal.MaxPage}
	ofMessage := func(r storage.Run) bool { return r.Trigger.MessageID == m.ID }
	for {
		page, err := tx.Runs(m.SessionID, filter)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(page, ofMessage); i >= 0 {
			first := &page[i]
			if !first.Status.Ended() {
				return first, nil
			}
			again, err := tx.Runs(m.SessionID, storage.RunFilter{Agent: agent, Trigger: shoal.SpaceMessageTrigger, Since: &first.CreatedAt, Limit: shoal.MaxPage})
			if i := slices.IndexFunc(again, ofMessage); i >= 0 {
				first = &again[i]
			}
			return first, err
		}
		if len(page) < filter.Limit {
			return nil, nil
		}
		filter.Before = page[len(page)-1].ID
	}
}

// earlierRuns is the number of runs before a message that may continue with it.
const earlierRuns = 32

// continuedRun returns the run from before a message that acts on it as well: one that waited
// for more messages before it started, or for this reply.
func continuedRun(tx receiptTx, m shoal.Message, agent shoal.EntityID) (*storage.Run, *shoal.Time, error) {
	until := triggeredUntil(m)
	earlier, err := tx.Runs(m.SessionID, storage.RunFilter{Agent: agent, Until: &until, Limit: earlierRuns})
	if err != nil {
		return nil, nil, err
	}
	for i, r := range earlier {
		if r.Trigger.Type == shoal.SpaceMessageTrigger && r.Space == m.SpaceID && (r.StartedAt == nil || !r.StartedAt.Before(m.CreatedAt.Time)) {
			trigger, err := tx.MessageByID(m.SessionID, r.Trigger.MessageID)
			if err != nil && !errors.Is(err, shoal.NotFound) {
				return nil, nil, err
			}
			if err == nil && trigger.Seq >= m.Seq {
				return &earlier[i], r.StartedAt, nil
			}
		}
		if r.EndedAt != nil && r.EndedAt.Before(m.CreatedAt.Time) {
			continue
		}
		at, err := repliedAt(tx, r, m)
		if err != nil || at != nil {
			return &earlier[i], at, err
		}
	}
	return nil, nil, nil
}

// repliedAt returns when a message was the reply that a run waited for, or nil.
func repliedAt(tx receiptTx, r storage.Run, m shoal.Message) (*shoal.Time, error) {
	rows, err := tx.PendingOf(m.SessionID, r.ID)
	if err != nil {
		return nil, err
	}
	for _, p := range rows {
		if p.Kind != storage.PendingReply || p.AnsweredAt == nil || p.Reply == nil || p.Reply.Space != m.SpaceID || p.AnsweredBy == nil || *p.AnsweredBy != m.EntityID {
			continue
		}
		if p.AnsweredAt.Before(m.CreatedAt.Time) || p.AnsweredAt.After(m.UpdatedAt.Add(time.Millisecond)) {
			continue
		}
		return p.AnsweredAt, nil
	}
	return nil, nil
}

// firstStep returns when the first step of a run began that is not earlier than a time.
func firstStep(tx receiptTx, r storage.Run, since shoal.Time) (*shoal.Time, error) {
	steps, err := tx.RunSteps(r.SessionID, r.ID)
	for _, s := range steps {
		if !s.StartedAt.Before(since.Time) {
			return &s.StartedAt, err
		}
	}
	return nil, err
}

// findAnswer fills in the first complete message of a run in the space of a message, and
// after it.
func findAnswer(tx receiptTx, r *shoal.Receipt, run storage.Run, m shoal.Message) error {
	composed, err := tx.Composed(m.SessionID, run.ID)
	if err != nil {
		return err
	}
	for _, c := range composed {
		if c.SpaceID != m.SpaceID || c.Seq < m.Seq || c.Status != shoal.MessageCompleted || c.DeletedAt != nil {
			continue
		}
		r.State, r.AnsweredBy, r.AnsweredAt = shoal.ReceiptAnswered, &c.ID, &c.CreatedAt
		if r.ResumedAt == nil || r.ResumedAt.After(r.AnsweredAt.Time) { // the step was begun again
			r.ResumedAt = r.AnsweredAt
		}
		return nil
	}
	return nil
}
