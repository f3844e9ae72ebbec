// Package sqlstore is hub.Store over SQL, for SQLite and for PostgreSQL.
//
//	store, err := sqlstore.Open(ctx, sqlstore.Options{URL: "sqlite:///var/lib/shoal/shoal.db", Fatal: stop})
//	if err != nil { … }
//	defer store.Close()
//	err = store.Update(ctx, storage.In(session), func(tx storage.Tx) error { return tx.InsertSpace(space) })
//
// It guarantees, beyond [hub.Store]:
//   - Changes of an Update that returned nil survive a killed process and, on storage that
//     honours flushes, a power cut: SQLite runs with synchronous=FULL, PostgreSQL with
//     synchronous_commit=on.
//   - Queued Updates run in one transaction that commits once; an Update that fails is undone
//     alone. Sessions take turns in the queue, and so do the callers of a session, whose own
//     Updates keep their order. A caller with many Updates at once does not make a batch long.
//     SQLite has one such queue. On PostgreSQL a session has one, several
//     write at the same time, and locks let one transaction of all processes write in a session
//     at a time: positions become visible in their order there too, and writers never wait for
//     each other in a circle. An Update of [storage.Global] excludes all others.
//   - An error of the disk during a write ends all writing: Options.Fatal is called once, and
//     later Updates do nothing. A full disk does not end writing; Updates succeed again when
//     there is space.
//   - Several processes may open one database. One of them migrates it forward when it is
//     opened; a database that is newer than the program is refused.
//   - Text is returned byte for byte, and < on identifiers compares bytes.
//   - The cache of the writer (rowcache.Cache) is equal to the database, whichever process
//     changed it.
//   - Save copies a database of one moment while servers write, with all that was committed
//     before; Load puts such a copy in the place of a database that no server uses.
//   - Search is exact at once, although the index is updated later: messages that are not in
//     the index yet are read from the timeline.
//
// This package has the writer, the readers, migrations and backups. The packages below it
// have the SQL: coresql for sessions to files, runsql for hosted agents and runs,
// searchsql for the search index, and archivesql for export and import. They use
// sqlconn, which has connections, statements and the differences between the databases.
//
// There are no foreign keys: the hub is the only writer, and it checks before it writes.
package sqlstore
