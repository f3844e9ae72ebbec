// Package keysql is the SQL of keys, sign-ins, invitations and runners.
package keysql

import "github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"

// Tx reads and changes these nouns in the current transaction of a connection.
type Tx struct{ c *sqlconn.Conn }

// New returns the Tx of a connection.
func New(c *sqlconn.Conn) *Tx { return &Tx{c} }
