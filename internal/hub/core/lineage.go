package core

import (
	"github.com/shoal-dev/shoal"
)

// Descends reports whether a place that was known in an epoch is still that of the same
// event. One that is not needs a snapshot, and acknowledges nothing.
func (c *Core) Descends(tx Tx, session shoal.SessionID, epoch string, place int64) (bool, error) {
	if epoch == c.Store.Epoch() {
		return true, nil
	}
	return tx.Descends(session, epoch, place)
}
