// Package sqlite is a connection to an SQLite database, over SQLite's C interface as
// translated to Go by modernc.org/sqlite/lib.
//
// The database/sql driver of that module is right for most programs. Here it costs too much:
// it allocates two values for every text that is read, requests the names of all columns
// with each query and of all parameters with each statement, copies every argument into
// memory of its own, and takes a lock around each of these calls (docs/decisions/0026). This
// package avoids all of that. It has no pool, no transactions and no contexts.
//
//	c, err := sqlite.Open("/var/lib/shoal/shoal.db")
//	insert, err := c.Prepare("INSERT INTO words (word, count) VALUES ($1, $2)")
//	err = insert.Bind([]any{"shoal", int64(1)})
//	_, err = insert.Step()
//	insert.Reset()
//
// A connection and its statements must be used by one goroutine at a time: SQLite's own
// locks for threads are off. Different connections, also to the same file, may be used
// concurrently. No Go memory is passed to SQLite, and no memory of SQLite leaves the package.
package sqlite
