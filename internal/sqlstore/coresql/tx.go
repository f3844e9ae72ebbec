// Package coresql is the SQL of sessions, participants, spaces, messages, inboxes, events and
// files. Every file contains one noun.
package coresql

import (
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/rowcache"
	"github.com/shoal-dev/shoal/internal/sqlstore/searchsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Tx reads and changes these nouns in the current transaction of a connection.
type Tx struct {
	c      *sqlconn.Conn
	cache  *rowcache.Cache // nil on a connection for reading
	search *searchsql.Tx
	row    messagerow.Codec
	placed placed // the message that was inserted last, until it is delivered
}

// New returns the Tx of a connection. cache is that of the connection, or nil.
func New(c *sqlconn.Conn, cache *rowcache.Cache, search *searchsql.Tx) *Tx {
	return &Tx{c: c, cache: cache, search: search}
}
