package sqlconn

import (
	"errors"
	"fmt"
)

// ErrOutdated ends a store whose database was changed by a newer program in a way that this one
// does not fit: what it would write could be wrong there.
var ErrOutdated = errors.New("a newer program has migrated the database")

// checkProgram reads which program the database requires, and fails with ErrOutdated if this one is
// older.
func (c *Conn) checkProgram() error {
	oldest, err := Number(c, `SELECT oldest_program FROM store`)
	if err != nil {
		return err
	}
	if failed := c.dialect.checkProgram(oldest); failed != nil {
		return failed
	}
	return nil
}

// checkProgram returns a failure if the database requires a program that knows the migration
// oldest, and this one does not.
func (d *Dialect) checkProgram(oldest int64) *Failure {
	if d.Program == 0 || oldest <= d.Program {
		return nil
	}
	return NewFailure(FaultOutdated, "lock sessions", fmt.Errorf("%w to a version that needs a program of version %d; this one knows versions up to %d", ErrOutdated, oldest, d.Program))
}
