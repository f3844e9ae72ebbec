// Package audit defines the records of the audit log and the hash chain that connects them.
//
// Each session has a chain, and the server has one for what belongs to no session. A record
// contains the hash of the record before it, so that changing or removing one breaks the chain at
// that place, and the head of a chain, stored apart from the records, shows that the last ones were
// removed. A program that can write to the database can also compute a new chain: compare a head that
// was noted elsewhere ([Head.String]) to find that out.
//
// The package is pure: internal/hub decides what is recorded, and internal/sqlstore stores it.
package audit
