package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Options configure a store.
type Options struct {
	// URL is sqlite://PATH, where PATH is taken literally and a missing file is created,
	// or the postgres:// URL of a database with the encoding UTF8.
	URL string
	// Log receives what happens in the background; nil means [slog.Default].
	Log *slog.Logger
	// Fatal is called once, from the goroutine that writes, when the disk fails during a
	// write: the content of the disk is unknown from then on, so the process should end
	// and recover by starting again. It must not call the store. nil is allowed.
	Fatal func(error)
	// MaxQueued is how many Updates may wait to be written, 4096 if zero. Further Updates
	// fail with Busy at once, and so do those that would wait longer than MaxDelay, 5 s if
	// zero, according to the duration of the last ones.
	MaxQueued int
	MaxDelay  time.Duration
	// Alone excludes other servers from the database: Open waits ten seconds for one that
	// uses it, and then fails with InvalidArgument. Stores without Alone can be opened
	// meanwhile, by tools that need the database briefly.
	Alone bool
	// Cluster excludes only the servers that are Alone, in the same way, so that several
	// servers use the database together. It is for PostgreSQL.
	Cluster bool
	// Metrics receives the metrics of the store; nil is allowed.
	Metrics *metrics.Set
}

// Store is a [hub.Store] over one database. It is safe for concurrent use.
type Store struct {
	dialect *sqlconn.Dialect
	log     *slog.Logger
	fatal   func(error)

	main    *lane   // writes everything that no other lane does
	lanes   []*lane // each writes some of the sessions; none if the database has one writer
	moved   movedSessions
	readers *readers
	first   *readers    // the one connection of ViewFirst
	queued  *limit.Open // the Updates of all callers that wait or are being written
	failed  atomic.Bool // the disk failed
	metrics *storeMetrics

	checkpoints *checkpoints  // nil for PostgreSQL
	indexable   chan struct{} // contains a value when there is something to index

	maxDelay time.Duration

	mu      sync.RWMutex // held shared to send to the queue of a lane
	closed  bool
	closing chan struct{}
	running sync.WaitGroup
}

var _ storage.Store = (*Store)(nil)

// Queued returns the limit of the Updates of all callers that wait or are being written.
func (s *Store) Queued() *limit.Open { return s.queued }

// Open opens the database, creates or migrates its tables, and starts the store. ctx limits
// the opening only. The Msg of the error says what an operator can do about it.
func Open(ctx context.Context, o Options) (*Store, error) {
	d, err := sqlconn.NewDialect(o.URL)
	if err != nil {
		return nil, err
	}
	s := &Store{
		dialect: d, log: o.Log, fatal: o.Fatal,
		queued: limit.NewOpen(0, cmp.Or(o.MaxQueued, queueLength)+maxBatch), maxDelay: cmp.Or(o.MaxDelay, queueDelay), indexable: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	d.Cluster = o.Cluster
	s.main = newLane(s, newWriter(d, o.Alone || o.Cluster), cmp.Or(o.MaxQueued, queueLength))
	reader := func() *connection { return newReader(s.main.conn) }
	s.readers, s.first = newReaders(d.Readers, reader), newReaders(1, reader)
	for range d.Lanes {
		s.lanes = append(s.lanes, newLane(s, newSibling(s.main.conn), cmp.Or(o.MaxQueued, queueLength)))
	}
	if d.IsSQLite() {
		s.checkpoints = &checkpoints{restartAt: restartAfter}
	}
	s.metrics = newMetrics(o.Metrics, s)
	if s.log == nil {
		s.log = slog.Default()
	}
	if err := s.prepare(ctx); err != nil {
		s.closeWriters()
		return nil, fmt.Errorf("sqlstore.Open: %w", d.Explain(err))
	}
	s.indexable <- struct{}{} // an earlier process may have left something to index
	for l := range s.allLanes() {
		s.running.Go(l.run)
	}
	s.running.Go(s.runIndexer)
	return s, nil
}

// Explain adds to an error of the server's start what an operator can do about it, such as
// about a damaged file, which it names. The result is not for users.
func (s *Store) Explain(err error) error { return s.dialect.Explain(err) }

// prepare makes the database usable for this program.
func (s *Store) prepare(ctx context.Context) (err error) {
	c := s.main.conn
	c.SetOpening(true)
	defer c.SetOpening(false)
	if err := c.Open(ctx); err != nil {
		return err
	}
	if err := s.dialect.Check(c.Conn); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	return c.BeginBoot()
}

// migrate migrates the tables to the version of this program.
func (s *Store) migrate(ctx context.Context) error {
	migrations := migrationsOf(s.dialect)
	files, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return err
	}
	s.dialect.Program = int64(len(files))
	finish, err := s.prepareMigration(ctx, len(files))
	if err != nil {
		return err
	}
	err = migrate(s.main.conn.Conn, migrations)
	finish()
	if err != nil {
		return err
	}
	if s.main.conn.Alone() && s.dialect.IsSQLite() {
		if err := removeOldBackups(s.dialect.Path, time.Now()); err != nil {
			s.log.Warn("an old copy of the database cannot be removed", "error", err)
		}
	}
	return s.main.conn.Open(ctx)
}

// Close refuses further calls, waits for the Updates and Views that have begun, fails the
// queued ones with Busy, and returns when no goroutine of the store runs any more. It may be
// called again.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.running.Wait()
		return nil
	}
	s.closed = true
	close(s.closing)
	s.mu.Unlock()
	s.running.Wait()
	for _, r := range []*readers{s.readers, s.first} {
		for range r.count() {
			<-r.free
			r.take().Close()
		}
	}
	// The writers are closed last: in SQLite the last connection that closes cleans the log
	// up. The last Update may still be checking the log.
	for l := range s.allLanes() {
		l.writing.Lock()
		defer l.writing.Unlock()
	}
	s.closeWriters()
	return nil
}

// closeWriters closes the connections that write and releases their lock.
func (s *Store) closeWriters() {
	for l := range s.allLanes() {
		l.conn.Close()
	}
	s.dialect.Unlock()
}

// Epoch implements [hub.Store].
func (s *Store) Epoch() string { return s.main.conn.Boot() }

// View implements [hub.Store]. While every connection for reading is in use it waits for
// one, at most until ctx ends; fn itself is not interrupted.
func (s *Store) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.viewOn(ctx, s.readers, fn)
}

// ViewFirst implements [hub.Store].
func (s *Store) ViewFirst(ctx context.Context, fn func(storage.Tx) error) error {
	return s.viewOn(ctx, s.first, fn)
}

func (s *Store) viewOn(ctx context.Context, readers *readers, fn func(storage.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-s.closing:
		return errClosed
	default:
	}
	select {
	case <-readers.free:
		c := readers.take()
		defer func() {
			c.Rollback()
			readers.put(c)
		}()
		if err := c.Begin(); err != nil {
			s.stopIfFinal(err)
			return err
		}
		return c.run(fn)
	case <-s.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reachable returns why the database cannot be used now, or nil. Like a View it waits for a
// connection until ctx ends, and for the database as long as any transaction.
func (s *Store) Reachable(ctx context.Context) error {
	if err := s.refusal(); err != nil {
		return err
	}
	return s.View(ctx, func(tx storage.Tx) error {
		_, err := tx.Now()
		return err
	})
}

// pauseViews waits until no View runs, and lets none begin before resume is called. It gives
// up after patience.
func (s *Store) pauseViews(patience time.Duration) (resume func(), ok bool) {
	taken := make([]*connection, 0, s.readers.count())
	resume = func() {
		for _, c := range taken {
			s.readers.put(c)
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for len(taken) < s.readers.count() {
		select {
		case <-s.readers.free:
			taken = append(taken, s.readers.take())
		case <-timer.C:
			resume()
			return nil, false
		}
	}
	return resume, true
}

// ErrOutdated ends a store whose database a newer program has migrated in a way that this one does
// not fit.
var ErrOutdated = sqlconn.ErrOutdated

// ErrTimeline ends a store whose database continues from another point of its history, as
// when a standby takes over: Options.Fatal is called with it.
var ErrTimeline = sqlconn.ErrTimeline

var errClosed = shoal.E("sqlstore", shoal.Busy, "The server is stopping; nothing was done. Try again when it is back.")
