// Package retention erases what sessions no longer keep: messages, runs, and what models were sent.
package retention

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// duty is the name of the lease that the servers take in turn, and lease for how long. With
	// retry, something begins once an hour, also if the server that did it last has died.
	duty  = "retention"
	lease = 50 * time.Minute
	retry = 10 * time.Minute

	// batch is how many messages or runs are erased in one transaction.
	batch = 50
)

// Retention erases what is older than its session keeps it. It is safe for concurrent use, also by
// several servers on one database.
type Retention struct {
	core   *core.Core
	server shoal.Retention
}

// New returns the retention of a hub. server is how long it keeps things at most, whatever a session
// says.
func New(c *core.Core, server shoal.Retention) *Retention { return &Retention{c, server} }

// Start starts the task that erases once an hour, on one of the servers, what is too old. It ends when
// the hub stops.
func (r *Retention) Start() {
	r.core.Go(func(ctx context.Context) { r.core.Repeat(ctx, retry, "retention", r.takeTurn) })
}

func (r *Retention) takeTurn(ctx context.Context) error {
	taken := false
	if err := r.core.Store.Update(ctx, storage.NoSession, func(tx storage.Tx) (err error) {
		taken, err = tx.TakeDuty(duty, lease)
		return err
	}); err != nil || !taken {
		return err
	}
	return r.Sweep(ctx, shoal.Now())
}

// Sweep erases what sessions no longer keep at a time: messages, then runs, then model requests.
// What an open run needs stays until the run has ended. It uses several transactions, so other changes
// happen in between; after a failure the next call does the rest.
func (r *Retention) Sweep(ctx context.Context, at shoal.Time) (failed error) {
	for after := shoal.SessionID(""); ; {
		var page []shoal.Session
		if err := r.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			page, err = tx.Sessions(after, shoal.MaxPage)
			return err
		}); err != nil {
			return errors.Join(failed, err)
		}
		for _, s := range page {
			after = s.ID
			failed = errors.Join(failed, core.Wrap("hub.Retention.Sweep", r.sweepSession(ctx, s, at)))
		}
		if len(page) < shoal.MaxPage || ctx.Err() != nil {
			return failed
		}
	}
}

func (r *Retention) sweepSession(ctx context.Context, s shoal.Session, at shoal.Time) (failed error) {
	keep := s.Retention.Within(r.server)
	since := func(ms int64) shoal.Time { return shoal.At(at.Add(-time.Duration(ms) * time.Millisecond)) }
	dropped := false
	if keep.MessagesForMs > 0 {
		failed = errors.Join(failed, r.eraseMessages(ctx, s.ID, since(keep.MessagesForMs)))
	}
	if keep.RunsForMs > 0 {
		some, err := r.inBatches(ctx, s.ID, func(tx storage.Tx) (int, error) { return tx.DropRuns(s.ID, since(keep.RunsForMs), batch) })
		dropped, failed = dropped || some, errors.Join(failed, err)
	}
	if keep.PromptsForMs > 0 {
		some, err := r.inBatches(ctx, s.ID, func(tx storage.Tx) (int, error) {
			return tx.DropRequests(s.ID, since(keep.PromptsForMs), textBatch)
		})
		dropped, failed = dropped || some, errors.Join(failed, err)
	}
	if dropped {
		failed = errors.Join(failed, r.eraseUnusedTexts(ctx, s.ID))
	}
	return failed
}

// inBatches drops something in one transaction after the other until nothing is left, and reports
// whether there was something.
func (r *Retention) inBatches(ctx context.Context, session shoal.SessionID, drop func(storage.Tx) (int, error)) (some bool, err error) {
	for more := true; more; some = some || more {
		if err := r.core.Store.Update(ctx, storage.In(session), func(tx storage.Tx) error {
			n, err := drop(tx)
			more = n > 0
			return err
		}); err != nil {
			return some, err
		}
	}
	return some, nil
}
