package core

import (
	"fmt"

	"github.com/shoal-dev/shoal"
)

// What one entity creates and stores in its session has a bound, so that none fills the
// server for the others. Admins have none: what they create for an entity counts among
// the entity's own, but is never refused.

// CheckSpaceQuota refuses an entity another space when it has created as many as it may.
func (c *Core) CheckSpaceQuota(tx Tx, who shoal.Principal, session shoal.SessionID) error {
	if who.Admin() || who.EntityID == "" {
		return nil
	}
	n, err := tx.CountCreated(session, who.EntityID, c.maxSpaces)
	if err != nil || n < c.maxSpaces {
		return err
	}
	return shoal.E("", shoal.Conflict, fmt.Sprintf(
		"You have created %d spaces, as many as one entity may. Use one that you have, or ask an admin to create it or to raise --max-spaces-each.", n))
}

// CheckFileQuota refuses an entity, or all services of the session together, a file when it
// would store more than it may.
func (c *Core) CheckFileQuota(tx Tx, session shoal.SessionID, who shoal.Principal, size int64) error {
	if who.Admin() {
		return nil
	}
	stored, err := tx.StoredBytes(session, who.EntityID)
	if err != nil || stored+size <= c.maxBytes {
		return err
	}
	return shoal.E("", shoal.Conflict, fmt.Sprintf(
		"You have stored %d bytes of files, and with these %d it would be more than the %d that one entity may. Delete files that are not needed, or ask an admin to raise --max-file-mib-each.", stored, size, c.maxBytes))
}
