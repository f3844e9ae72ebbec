// Package sqlite is a connection to an SQLite database, over SQLite's C interface
// as modernc.org/sqlite/lib has it in Go.
//
// The driver of that module for database/sql is right for nearly everybody. Here it
// is in the way: it makes two values on the heap of every text that is read, asks for
// the names of all columns with each query and for those of all parameters with each
// statement, copies every argument into memory of its own, and takes a lock around
// each of these calls (docs/decisions/0026). This package does none of that, and
// nothing else: no pool, no transactions, no contexts.
//
//	c, err := sqlite.Open("/var/lib/shoal/shoal.db")
//	insert, err := c.Prepare("INSERT INTO words (word, count) VALUES ($1, $2)")
//	err = insert.Bind([]any{"shoal", int64(1)})
//	_, err = insert.Step()
//	insert.Reset()
//
// A connection and its statements belong to one goroutine at a time: SQLite's own
// locks for threads are off. Different connections, also to one file, may be used
// at once. No Go memory is handed to SQLite, and none of SQLite's leaves the package.
package sqlite
