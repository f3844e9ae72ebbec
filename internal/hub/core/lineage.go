package core

import (
	"github.com/shoal-dev/shoal"
)

// Descends reports whether a position that was known in an epoch still belongs to the same
// event. If it does not, the follower needs a snapshot, and the position acknowledges
// nothing.
func (c *Core) Descends(tx Tx, session shoal.SessionID, epoch string, place int64) (bool, error) {
	if epoch == c.Store.Epoch() {
		return true, nil
	}
	return tx.Descends(session, epoch, place)
}
