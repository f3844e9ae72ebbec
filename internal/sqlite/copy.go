package sqlite

import (
	"errors"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// CopyTo replaces what the database to holds with what this one holds, page by page and
// in one transaction of to: a process that ends on the way leaves to as it was. Neither
// connection may be in a transaction. What others write here meanwhile is in the copy or
// begins it anew.
func (c *Conn) CopyTo(to *Conn) (err error) {
	name, err := libc.CString("main")
	if err != nil {
		return &Error{Code: NoMem, Message: "out of memory"}
	}
	defer libc.Xfree(c.tls, name)
	backup := sqlite3.Xsqlite3_backup_init(to.tls, to.db, name, c.db, name)
	if backup == 0 {
		return to.failure(sqlite3.Xsqlite3_errcode(to.tls, to.db))
	}
	const allPages = -1
	if rc := sqlite3.Xsqlite3_backup_step(to.tls, backup, allPages); rc != sqlite3.SQLITE_DONE {
		err = to.failure(rc)
	}
	if rc := sqlite3.Xsqlite3_backup_finish(to.tls, backup); rc != sqlite3.SQLITE_OK && err == nil {
		err = errors.Join(err, to.failure(rc))
	}
	return err
}
