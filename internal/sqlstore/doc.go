// Package sqlstore is hub.Store over SQL, for SQLite and for PostgreSQL.
//
//	store, err := sqlstore.Open(ctx, sqlstore.Options{URL: "sqlite:///var/lib/shoal/shoal.db", Fatal: stop})
//	if err != nil { … }
//	defer store.Close()
//	err = store.Update(ctx, func(tx hub.Tx) error { return tx.InsertSpace(space) })
//
// Guarantees, beyond those of [hub.Store]:
//   - What Update acknowledged survives a killed process and, on storage that
//     honours flushes, a power cut: SQLite runs with synchronous=FULL,
//     PostgreSQL with synchronous_commit=on.
//   - One goroutine writes. It runs the Updates that wait, in order, in one
//     transaction and commits once; an Update that fails is undone alone. On
//     PostgreSQL a lock lets one process write at a time, so places become
//     visible in their order there too, and writers never deadlock.
//   - An error of the disk while writing ends all writing: Options.Fatal is
//     told once, and later Updates do nothing. A full disk does not; writing
//     goes on when there is room again.
//   - Several processes may open one database. It is migrated forward when it
//     is opened, by one of them; a database that is newer than the program is
//     refused.
//   - Text comes back byte for byte, and < on identifiers compares bytes.
//   - What the writer remembers between transactions (known.go) is what the
//     database holds, whoever changed it.
//   - Search is exact at once, though the index is fed a moment later: what the
//     index does not hold yet is read from the timeline.
//
// One SQL text serves both databases wherever they agree; where they do not,
// the text is in the dialect (sqlite.go, postgres.go). There are no foreign
// keys: the hub is the only writer, and it checks before it writes.
package sqlstore
