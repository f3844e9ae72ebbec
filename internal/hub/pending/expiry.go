package pending

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// maxExpiryDelay is the longest time between two reads of the due rows without a
	// notification.
	maxExpiryDelay = 30 * time.Second
	// expiryBatchSize is how many rows are settled in one transaction.
	expiryBatchSize = 100
)

// runExpiry settles due rows until ctx ends: expired actions, and waits that time out. Each
// row is settled once, by whichever server is first.
func (p *Pending) runExpiry(ctx context.Context) {
	sub := p.core.Bus.Subscribe()
	defer sub.Close()
	sub.Add(core.DueTopic)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Ready():
			sub.Take()
		case <-timer.C:
		}
		next, err := p.expireDue(ctx)
		if err != nil && ctx.Err() == nil {
			p.core.Log.Error("settling due pending actions failed and will be repeated", "error", err)
			next = time.Second
		}
		timer.Reset(next)
	}
}

// expireDue settles the due rows and returns the time until the next read.
func (p *Pending) expireDue(ctx context.Context) (time.Duration, error) {
	for {
		var due []shoal.SessionID
		next := maxExpiryDelay
		err := p.core.Store.View(ctx, func(tx storage.Tx) error {
			now, err := tx.Now()
			if err != nil {
				return err
			}
			rows, err := tx.DuePending(now, expiryBatchSize)
			for _, row := range rows {
				due = append(due, row.Session)
			}
			if err != nil || len(due) > 0 {
				return err
			}
			at, err := tx.NextDue()
			if err == nil && at != nil {
				next = min(maxExpiryDelay, max(at.Sub(now.Time), time.Millisecond))
			}
			return err
		})
		if err != nil || len(due) == 0 {
			return next, err
		}
		for at := range storage.Batches(due) {
			if err := p.expireIn(ctx, at); err != nil {
				return next, err
			}
		}
	}
}

// expireIn settles the due rows of some sessions.
func (p *Pending) expireIn(ctx context.Context, at storage.At) error {
	return p.core.Change(ctx, "hub.Pending.expireDue", at, func(ch *core.Change) error {
		now, err := ch.Now()
		if err != nil {
			return err
		}
		rows, err := ch.DuePending(now, expiryBatchSize)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !at.Includes(row.Session) {
				continue
			}
			if err := expireRow(ch, row, "Nobody answered in time."); err != nil {
				return err
			}
		}
		return nil
	})
}

// Start starts the background tasks, which settle due actions and erase expired remembered
// decisions.
func (p *Pending) Start() {
	p.core.Go(p.runExpiry)
	p.core.Go(func(ctx context.Context) {
		p.core.Repeat(ctx, time.Hour, "remembered decisions", p.dropExpiredDecisions)
	})
}
