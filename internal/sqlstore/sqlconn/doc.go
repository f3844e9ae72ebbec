// Package sqlconn is what all SQL of the store runs on: connections to SQLite and PostgreSQL
// with their prepared statements and transactions, arguments, rows, errors, and the
// differences between the two databases.
//
//	c := sqlconn.NewReader(dialect)
//	if err := c.Begin(); err != nil { … }
//	defer c.Rollback()
//	names, err := sqlconn.List(c, func(r *sqlconn.Rows) string { return r.Text(0) },
//		`SELECT name FROM spaces WHERE session_id = $1`, session)
//
// One SQL text serves both databases wherever they agree; where they do not, [Dialect] has
// the difference.
package sqlconn
