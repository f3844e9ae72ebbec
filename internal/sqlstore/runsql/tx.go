// Package runsql is the SQL of hosted agents, their runs and what runs store: steps,
// conversations, model requests, pending actions, schedules, notes and usage. Every file
// contains one noun.
package runsql

import (
	"github.com/shoal-dev/shoal/internal/sqlstore/coresql"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Tx reads and changes these nouns in the current transaction of a connection.
type Tx struct {
	c    *sqlconn.Conn
	core *coresql.Tx
}

// New returns the Tx of a connection.
func New(c *sqlconn.Conn, core *coresql.Tx) *Tx { return &Tx{c: c, core: core} }

// Conditions that exclude the rows of sessions that are being imported.
var (
	runNotImporting     = schema.NotImporting("r")
	pendingNotImporting = schema.NotImporting("p")
)
