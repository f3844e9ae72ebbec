package runs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/modeltexts"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// eraseBatchSize is how many requests or texts are erased in one transaction.
const eraseBatchSize = 500

// ForgetRequests erases the model requests of runs that ended before a time, and the texts
// that no request refers to any more. While a run of a session is in progress, none of the
// session's texts are erased; a later call that erases requests of the session checks them
// again. It uses several transactions, so other changes happen in between.
func (r *Runs) ForgetRequests(ctx context.Context, before shoal.Time) error {
	const op = "hub.Runs.ForgetRequests"
	affected := map[shoal.SessionID]bool{}
	for more := true; more; {
		var sessions []shoal.SessionID
		err := r.core.Change(ctx, op, storage.Global, func(ch *core.Change) (err error) {
			sessions, err = ch.DropRequests(before, eraseBatchSize)
			return err
		})
		if err != nil {
			return err
		}
		for _, session := range sessions {
			affected[session] = true
		}
		more = len(sessions) > 0
	}
	var failed error
	for session := range affected {
		failed = errors.Join(failed, core.Wrap(op, r.eraseUnusedTexts(ctx, session)))
	}
	return failed
}

// eraseOldRequests calls ForgetRequests for the requests whose retention has passed.
func (r *Runs) eraseOldRequests(ctx context.Context) error {
	return r.ForgetRequests(ctx, shoal.At(time.Now().Add(-r.keepRequests)))
}

// eraseUnusedTexts erases the texts of a session that no request refers to. A run in
// progress may be about to refer to any stored text, so nothing is erased while one is in
// progress, or if one was claimed since the texts were read.
func (r *Runs) eraseUnusedTexts(ctx context.Context, session shoal.SessionID) error {
	var claims int64
	var held bool
	var unused []string
	err := r.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		if claims, held, err = tx.Claims(session); err != nil || held {
			return err
		}
		unused, err = modeltexts.Unused(tx, session)
		return err
	})
	if err != nil || held {
		return err
	}
	for some := range slices.Chunk(unused, eraseBatchSize) {
		changed := false
		err := r.core.Store.Update(ctx, storage.In(session), func(tx storage.Tx) error {
			now, held, err := tx.Claims(session)
			if changed = held || now != claims; err != nil || changed {
				return err
			}
			return tx.DropTexts(session, some)
		})
		if err != nil || changed {
			return err
		}
	}
	return nil
}

// Start starts the task that erases model requests whose retention has passed.
func (r *Runs) Start() {
	if r.keepRequests > 0 {
		r.core.Go(func(ctx context.Context) { r.core.Repeat(ctx, time.Hour, "stored model requests", r.eraseOldRequests) })
	}
}
