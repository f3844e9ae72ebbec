package core

import (
	"fmt"

	"github.com/shoal-dev/shoal"
)

// Each entity may create and store a limited amount in its session, so that no entity fills
// the server for the others. Admins have no limit: what they create for an entity counts
// toward the entity's quota, but is never rejected.

// CheckSpaceQuota fails with Conflict if the caller has created as many spaces as it may.
func (c *Core) CheckSpaceQuota(tx Tx, caller shoal.Principal, session shoal.SessionID) error {
	if caller.Admin() || caller.EntityID == "" {
		return nil
	}
	n, err := tx.CountCreated(session, caller.EntityID, c.maxSpaces)
	if err != nil || n < c.maxSpaces {
		return err
	}
	return shoal.E("", shoal.Conflict, fmt.Sprintf(
		"You have created %d spaces, as many as one entity may. Use one that you have, or ask an admin to create it or to raise --max-spaces-each.", n))
}

// CheckFileQuota fails with Conflict if the caller would store more bytes of files than it
// may with a file of this size. The services of a session share one quota.
func (c *Core) CheckFileQuota(tx Tx, session shoal.SessionID, caller shoal.Principal, size int64) error {
	if caller.Admin() {
		return nil
	}
	stored, err := tx.StoredBytes(session, caller.EntityID)
	if err != nil || stored+size <= c.maxBytes {
		return err
	}
	return shoal.E("", shoal.Conflict, fmt.Sprintf(
		"You have stored %d bytes of files, and with these %d it would be more than the %d that one entity may. Delete files that are not needed, or ask an admin to raise --max-file-mib-each.", stored, size, c.maxBytes))
}
