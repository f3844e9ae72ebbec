// Package archivesql is the SQL of exports and imports: the records of a session, one after
// the other.
package archivesql

import (
	"github.com/shoal-dev/shoal/internal/sqlstore/coresql"
	"github.com/shoal-dev/shoal/internal/sqlstore/searchsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Tx exports and imports in the current transaction of a connection.
type Tx struct {
	c      *sqlconn.Conn
	core   *coresql.Tx
	search *searchsql.Tx
}

// New returns the Tx of a connection.
func New(c *sqlconn.Conn, core *coresql.Tx, search *searchsql.Tx) *Tx {
	return &Tx{c: c, core: core, search: search}
}
