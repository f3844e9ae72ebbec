// Package storage declares what the hub needs from a database: the [Store], the methods of
// its transactions grouped by resource, and the records that they take and return. It has
// no code that depends on a database; internal/sqlstore implements it for SQLite and
// PostgreSQL, and the conformance suite in internal/shoaltest checks both.
//
// The records of an export (see [RecordTypes]) are declared here too, because a store reads
// and writes them row by row.
package storage
