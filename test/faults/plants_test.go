package faults

import (
	"fmt"
	"slices"
	"time"
)

// named is a point at which the program can be killed, or a planted bug.
type named struct{ name, note string }

func names(of []named) (out []string) {
	for _, n := range of {
		out = append(out, n.name)
	}
	return out
}

// points are the places at which the program can kill itself while it serves.
var points = []named{
	{"before a commit", "everything is written, nothing is committed"},
	{"after a commit", "the change is durable, no caller knows"},
	{"before the notifications", "callers may know, no waiter was notified"},
	{"before a response is written", "the call is complete, the caller gets no response"},
	{"in the middle of a response", "the caller has received half of it"},
	{"before a wait counts as written", "the caller has received it, the server does not know"},
	{"in the middle of an event", "a reader has received half of the event"},
	{"before a step is stored", "a model or a tool has finished, its result is not stored"},
	{"after a write of a run", "between two writes of a run's journal and messages"},
	{"while the index is updated", "the words are stored, the progress of the index is not"},
	{"after a checkpoint", "the log was copied into the database"},
}

// migrationPoints are the points that a server passes only during its start.
var migrationPoints = []named{
	{"before a migration", "the migration is known, nothing is done"},
	{"in a migration", "the tables are changed, the migration is not recorded"},
	{"before a migration is committed", "both are written, nothing is committed"},
	{"after a migration", "one migration is complete, the others are not"},
}

// dieAt returns the environment variable that makes a process kill itself at the n-th
// passing of a point, after a pause.
func dieAt(point string, n int64, pause time.Duration) string {
	return fmt.Sprintf("RIG_POINT=%s@%d@%s", point, n, pause)
}

// bugs are defects of the kinds that these tests are meant to find. note describes their
// effect.
var bugs = append([]named{
	{"synchronous is NORMAL", "commits do not wait for the disk"},
	{"acknowledged before the commit", "callers get their response too early"},
	{"published before the commit", "woken waiters find nothing and keep sleeping"},
	{"a failed commit counts as successful", "the error is swallowed"},
	{"the inbox cursor moves when a batch is sent", "delivery acknowledges the batch"},
	{"read before subscribed", "a message within the 3 ms in between wakes no waiter"},
	{"the idempotency key is ignored", "a retry stores the message again"},
	{"the key is stored after the message", "in a transaction of its own"},
	{"the generation of a lease is not checked", "a stopped server overwrites the changes of the new one"},
	{"a replay is off by one", "a reader that resumes misses an event"},
	{"a required snapshot is missing", "a reader whose position no longer exists receives nothing"},
	{"a cursor without lineage", "a position is accepted regardless of the lineage of its cursor"},
	{"the checksum of a message is ignored", "whatever the disk returns is served"},
	{"the session lock is not taken", "two transactions change one session at the same time"},
	{"the indexer skips a later commit", "the index passes the number of a message that is not committed yet"},
	{"the output of a failed attempt remains", "the text of a retried model call appears twice"},
}, slices.Concat(leakBugs, inboxBugs, streamBugs, coderBugs, auditBugs, terminalBugs, agentBugs)...)

func plants() []plant {
	return append(slices.Concat(leakPlants(), inboxPlants(), streamPlants(), coderPlants(), auditPlants(), terminalPlants(), agentPlants()), []plant{
		{
			"internal/sqlstore/writer.go",
			"\twritten := time.Now()\n\terr := l.conn.Commit()\n",
			`	if rigHas("acknowledged before the commit") {
		l.store.finish(l.batch, nil)
	}
	rigPoint("before a commit")
	written := time.Now()
	err := l.conn.Commit()
`,
		},
		{"internal/sqlstore/writer.go", "\t\tclose(u.done)\n", "\t\trigClose(u.done)\n"},
		{
			"internal/sqlstore/writer.go",
			"\t\tl.store.finish(l.batch, err)\n\t\tl.store.stopIfFinal(err)",
			`		if err == nil {
			if rigHas("the key is stored after the message") {
				rigStoreKeys(l.conn.Conn)
			}
			rigPoint("after a commit")
		}
		l.store.finish(l.batch, err)
		l.store.stopIfFinal(err)`,
		},
		{
			"internal/sqlstore/checkpoint.go",
			"PRAGMA wal_checkpoint(PASSIVE)`)\n\treturn err\n",
			"PRAGMA wal_checkpoint(PASSIVE)`)\n\trigPoint(\"after a checkpoint\")\n\treturn err\n",
		},
		{
			"internal/sqlstore/sqlconn/transaction.go",
			"\tc.Rollback()\n\tif !unknown {\n",
			`	c.Rollback()
	if rigHas("a failed commit counts as successful") {
		return nil
	}
	if !unknown {
`,
		},
		{"internal/sqlstore/sqlconn/sqlite.go", `"synchronous(FULL)"`, `rigEither("synchronous(NORMAL)", "synchronous(FULL)", rigHas("synchronous is NORMAL"))`},
		{
			"internal/sqlstore/coresql/messages.go",
			"\tif post.Key != \"\" {\n\t\tscope, key, hash",
			`	if post.Key != "" && rigHas("the key is stored after the message") {
		rigLater(m.SessionID, m.SpaceID, m.Seq, post.Scope, post.Key, post.Hash)
	} else if post.Key != "" {
		scope, key, hash`,
		},
		{"internal/sqlstore/messagerow/checksum.go", "\tif r.Null(i) {\n", "\tif r.Null(i) || rigHas(\"the checksum of a message is ignored\") {\n"},
		{"internal/sqlstore/searchsql/index.go", "\t_, err = t.c.Exec(`UPDATE store SET indexed", "\trigPoint(\"while the index is updated\")\n\t_, err = t.c.Exec(`UPDATE store SET indexed"},
		{
			"internal/sqlstore/sqlconn/postgreslock.go",
			"\t\tif _, err := conn.Prepare(c.ctx, s.name, s.text); err != nil {",
			`		if rigHas("the session lock is not taken") {
			s.text = strings.TrimSuffix(strings.TrimSuffix(s.text, " SKIP LOCKED"), " FOR UPDATE OF s")
		}
		if _, err := conn.Prepare(c.ctx, s.name, s.text); err != nil {`,
		},
		{
			"internal/sqlstore/indexer.go",
			"\tif s.dialect.Writing == \"\" {\n",
			"\tif s.dialect.Writing == \"\" || rigHas(\"the indexer skips a later commit\") {\n",
		},
		{
			"internal/sqlstore/migrate.go",
			"\tfiles, err := fs.Glob(steps, \"*.sql\") // sorted\n",
			"\tsteps = rigSteps(steps)\n\tfiles, err := fs.Glob(steps, \"*.sql\")\n\trigPoint(\"before a migration\")\n",
		},
		{"internal/sqlstore/migrate.go", "\t_, err = c.Exec(`INSERT INTO migrations", "\trigPoint(\"in a migration\")\n\t_, err = c.Exec(`INSERT INTO migrations"},
		{"internal/sqlstore/migrate.go", "\treturn false, c.Commit()\n", "\trigPoint(\"before a migration is committed\")\n\treturn false, c.Commit()\n"},
		{"internal/sqlstore/migrate.go", "\t\tif done || err != nil {\n", "\t\trigPoint(\"after a migration\")\n\t\tif done || err != nil {\n"},
		{
			"internal/hub/core/change.go",
			"\t\tnotifications = ch.notifications\n",
			`		notifications = ch.notifications
		if rigHas("published before the commit") {
			for _, n := range notifications {
				c.Bus.Publish(n)
			}
			notifications, ch.arrivals = nil, nil
		}
`,
		},
		{"internal/hub/core/change.go", "\tlast.runEndFuncs(err == nil)\n", "\tlast.runEndFuncs(err == nil)\n\trigPoint(\"before the notifications\")\n"},
		{"internal/hub/spaces/messages.go", "\tif idempotencyKey == \"\" {\n\t\tkey = storage.PostKey{}", "\tif idempotencyKey == \"\" || rigHas(\"the idempotency key is ignored\") {\n\t\tkey = storage.PostKey{}"},
		{
			"internal/hub/inbox/wait.go",
			"\t\td.batch = w.box.recordBatch(w.caller.KeyID, w.filter, upTo)\n",
			`		d.batch = w.box.recordBatch(w.caller.KeyID, w.filter, upTo)
		if rigHas("the inbox cursor moves when a batch is sent") {
			_ = w.inbox.core.Store.Update(context.Background(), storage.Global, func(tx storage.Tx) error {
				_, err := tx.Acknowledge(w.req.Session, w.box.key.ID, w.filter, upTo, nil)
				return err
			})
		}
`,
		},
		{
			"internal/hub/inbox/mailbox.go",
			"\t// The subscription exists: every later commit sends a notification.\n",
			`	if rigHas("read before subscribed") {
		if found, end := m.readFor(task{waits: []*wait{&w.wait}, clear: []int64{w.clear}}); len(found[0].entries) == 0 {
			w.clear = end
		}
		<-time.After(3 * time.Millisecond)
		m.mu.Lock()
		if m.sub == nil {
			m.sub = m.inbox.core.Bus.Subscribe()
			m.sub.Add(core.InboxTopic(m.key.Session, m.key.ID))
		}
		w.sub, w.seen = m.sub, m.machine.notified
		m.mu.Unlock()
	}
`,
		},
		{"internal/hub/inbox/mailbox.go", "func (m *mailbox) subscribe(w *HeldWait) {\n", "func (m *mailbox) subscribe(w *HeldWait) {\n\tif rigHas(\"read before subscribed\") {\n\t\treturn\n\t}\n"},
		{"internal/hub/runs/work.go", "if r.Generation != lease.Generation ||", "if r.Generation != lease.Generation && !rigHas(\"the generation of a lease is not checked\") ||"},
		{"internal/hub/feed/follower.go", "\t\tposition := at.position\n", "\t\tposition := at.position\n\t\tif rigHas(\"a replay is off by one\") {\n\t\t\tposition++\n\t\t}\n"},
		{
			"internal/hub/feed/follower.go",
			"\t}\n\treturn f.takeSnapshots(tx)\n}",
			`	}
	if f.req.After != "" && rigHas("a required snapshot is missing") {
		var err error
		if f.after, err = tx.EventEnd(f.req.Session); err == nil {
			f.ahead = map[shoal.SpaceID]int64{}
			f.memberOf, err = currentSpaces(tx, f.key())
		}
		return err
	}
	return f.takeSnapshots(tx)
}`,
		},
		{
			"internal/sqlstore/coresql/lineage.go",
			"\tif err != nil || !found || next > 0 && place >= next {\n",
			"\tif rigHas(\"a cursor without lineage\") {\n\t\tfound, next = true, 0\n\t}\n\tif err != nil || !found || next > 0 && place >= next {\n",
		},
		{
			"internal/httpapi/call.go",
			"\tc.w.WriteHeader(status)\n\tif _, err := c.w.Write(body); err != nil {\n",
			`	rigPoint("before a response is written")
	c.w.WriteHeader(status)
	if rigDue("in the middle of a response") {
		_, _ = c.w.Write(body[:len(body)/2])
		_ = control.Flush()
		rigDie()
	}
	if _, err := c.w.Write(body); err != nil {
`,
		},
		{"internal/httpapi/inbox.go", "\td.Settle(err == nil)\n", "\trigPoint(\"before a wait counts as written\")\n\td.Settle(err == nil)\n"},
		{
			"internal/httpapi/stream.go",
			"\t_, err := s.w.Write(piece)\n",
			`	if rigDue("in the middle of an event") {
		_, _ = s.w.Write(piece[:len(piece)/2])
		_ = s.control.Flush()
		rigDie()
	}
	_, err := s.w.Write(piece)
`,
		},
		{"internal/run/store.go", "\tsent := s.x.requests.Unstored(ctx, step.Index)\n", "\trigPoint(\"before a step is stored\")\n\tsent := s.x.requests.Unstored(ctx, step.Index)\n"},
		{
			"internal/run/execution.go",
			"\tif err == nil && over {\n",
			"\trigPoint(\"after a write of a run\")\n\tif err == nil && over {\n",
		},
		{"internal/compose/restore.go", "\tr.withdrawUnknown()\n", "\tif !rigHas(\"the output of a failed attempt remains\") {\n\t\tr.withdrawUnknown()\n\t}\n"},
	}...)
}

// rigSource is added to every package that contains a point or a bug.
const rigSource = `
import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	rigBug    = os.Getenv("RIG_BUG")
	rigAt     = strings.Split(os.Getenv("RIG_POINT")+"@@", "@")
	rigPassed atomic.Int64
)

func rigHas(bug string) bool { return bug == rigBug }

func rigDue(point string) bool {
	if point != rigAt[0] {
		return false
	}
	n, _ := strconv.ParseInt(rigAt[1], 10, 64)
	return rigPassed.Add(1) == n
}

func rigDie() {
	pause, _ := time.ParseDuration(rigAt[2])
	<-time.After(pause)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func rigPoint(point string) {
	if rigDue(point) {
		rigDie()
	}
}

func rigEither[T any](yes, no T, which bool) T {
	if which {
		return yes
	}
	return no
}

var _ = []any{rigHas, rigDue, rigDie, rigPoint, rigEither[string]}
`

// rigExtra contains additional source files, by package.
var rigExtra = map[string]string{"httpapi": rigLeaks, "app": rigLease, "coresql": `package coresql

// RigKeys are the keys of messages that were stored without them. Only the writer uses them.
var RigKeys [][]any

func rigLater(values ...any) { RigKeys = append(RigKeys, values) }
`, "sqlstore": `package sqlstore

import (
	"io/fs"
	"os"
	"testing/fstest"

	"github.com/shoal-dev/shoal/internal/sqlstore/coresql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

func rigClose(done chan struct{}) {
	select {
	case <-done:
	default:
		close(done)
	}
}

func rigStoreKeys(c *sqlconn.Conn) {
	if len(coresql.RigKeys) == 0 || c.Begin() != nil {
		return
	}
	for _, k := range coresql.RigKeys {
		_, _ = c.Exec("UPDATE messages SET post_scope = $4, post_key = $5, post_hash = $6 WHERE session_id = $1 AND space_id = $2 AND seq = $3", k...)
	}
	_ = c.Commit()
	coresql.RigKeys = nil
}

// rigSteps adds the migration of RIG_MIGRATION, if it is set.
func rigSteps(steps fs.FS) fs.FS {
	text := os.Getenv("RIG_MIGRATION")
	if text == "" {
		return steps
	}
	all := fstest.MapFS{"9999_rig.sql": {Data: []byte(text)}}
	names, _ := fs.Glob(steps, "*.sql")
	for _, name := range names {
		data, _ := fs.ReadFile(steps, name)
		all[name] = &fstest.MapFile{Data: data}
	}
	return all
}
`}
