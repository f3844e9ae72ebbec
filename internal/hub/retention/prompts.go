package retention

import (
	"context"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/modeltexts"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// textBatch is how many model requests or texts are erased in one transaction.
const textBatch = 500

// eraseUnusedTexts erases the texts of a session that no request refers to. A run in
// progress may be about to refer to any stored text, so nothing is erased while one is in
// progress, or if one was claimed since the texts were read.
func (r *Retention) eraseUnusedTexts(ctx context.Context, session shoal.SessionID) error {
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
	for some := range slices.Chunk(unused, textBatch) {
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
