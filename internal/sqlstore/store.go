package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Options say which database to open and whom to tell.
type Options struct {
	// URL is sqlite://PATH, where PATH is taken literally and the file is made
	// if it is missing, or a postgres:// URL of a database with the encoding
	// UTF8.
	URL string
	// Log takes what happens in the background; nil is [slog.Default].
	Log *slog.Logger
	// Fatal is called once, from the goroutine that wrote, when the disk failed
	// meanwhile: what is on it is unknown from then on, so the process should
	// end and recover by starting again. It must not call the store. nil is
	// allowed.
	Fatal func(error)
	// MaxQueued is how many Updates may wait to be written, 4096 if zero; further
	// ones are told Busy at once, as are those that would wait longer than
	// MaxDelay, 5 s if zero, by what the last ones took.
	MaxQueued int
	MaxDelay  time.Duration
	// Alone says that no other server may use the database: Open waits ten seconds for
	// one that does, and fails then with InvalidArgument. Stores without it are opened
	// beside it all the same, by tools that need the database for a moment.
	Alone bool
	// Metrics counts what is written; nil is allowed.
	Metrics *metrics.Set
}

// Store is a [hub.Store] over one database. It is safe for concurrent use.
type Store struct {
	dialect *dialect
	log     *slog.Logger
	fatal   func(error)
	epoch   string

	writing sync.Mutex // held to use writer and batch
	writer  *conn
	batch   []*update // under way
	readers *readers
	first   *readers // the one connection of ViewFirst
	queue   chan *update
	queued  *limit.Open   // what waits or is being written, of all callers
	more    chan struct{} // holds a value when the writer's goroutine is to look around
	posted  chan struct{} // holds a value when there is something to index
	failed  atomic.Bool   // the disk failed
	figures *figures

	maxDelay time.Duration
	pace     atomic.Int64 // what a batch took lately, in nanoseconds
	begun    atomic.Int64 // when the one that is being written was begun; 0: there is none

	mu      sync.RWMutex // held shared to send to queue
	closed  bool
	closing chan struct{}
	running sync.WaitGroup
}

var _ hub.Store = (*Store)(nil)

// Queued is what bounds the Updates of all callers that wait or are being written.
func (s *Store) Queued() *limit.Open { return s.queued }

// Open opens the database, makes or migrates its tables where needed, and starts
// the store. ctx bounds the opening only. The error says in Msg what an operator
// can do about it.
func Open(ctx context.Context, o Options) (*Store, error) {
	d, err := dialectOf(o.URL)
	if err != nil {
		return nil, err
	}
	s := &Store{
		dialect: d, log: o.Log, fatal: o.Fatal,
		writer: &conn{dialect: d, known: newKnown(), alone: o.Alone}, readers: newReaders(d.readers, func() *conn { return &conn{dialect: d, reads: true} }), first: newReaders(1, func() *conn { return &conn{dialect: d, reads: true} }),
		queue: make(chan *update, cmp.Or(o.MaxQueued, queueLength)), queued: limit.NewOpen(0, cmp.Or(o.MaxQueued, queueLength)+maxBatch), maxDelay: cmp.Or(o.MaxDelay, queueDelay), more: make(chan struct{}, 1), posted: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	s.figures = newFigures(o.Metrics, s)
	if s.log == nil {
		s.log = slog.Default()
	}
	if err := s.prepare(ctx); err != nil {
		s.dropWriter()
		err = notAlone(err)
		if d.explain != nil {
			err = d.explain(err)
		}
		return nil, fmt.Errorf("sqlstore.Open: %w", err)
	}
	s.posted <- struct{}{} // an earlier process may have left something to index
	s.running.Add(2)
	go s.write()
	go s.index()
	return s, nil
}

// dialectOf chooses the dialect of a URL.
func dialectOf(url string) (*dialect, error) {
	scheme, rest, _ := strings.Cut(url, "://")
	switch {
	case scheme == "sqlite" && rest != "":
		return sqliteDialect(rest)
	case scheme == "postgres" || scheme == "postgresql":
		return postgresDialect(url)
	}
	return nil, shoal.E("sqlstore.Open", shoal.InvalidArgument,
		"The database must be sqlite://PATH or postgres://USER:PASSWORD@HOST/NAME.")
}

// prepare brings the database to where this program can use it.
func (s *Store) prepare(ctx context.Context) error {
	c := s.writer
	c.opening = true
	defer func() { c.opening = false }()
	if err := c.open(ctx); err != nil {
		return err
	}
	if err := s.dialect.check(c); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	b, err := c.beginBoot()
	c.boot, s.epoch = b, b.name
	return err
}

// migrate brings the tables to the version of this program.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Glob(s.dialect.migrations, "*.sql")
	if err != nil {
		return err
	}
	finish, err := s.prepareMigration(ctx, len(files))
	if err != nil {
		return err
	}
	err = migrate(s.writer, s.dialect.migrations)
	finish()
	if err != nil {
		return err
	}
	if s.writer.alone && s.dialect.dropBackups != nil {
		if err := s.dialect.dropBackups(); err != nil {
			s.log.Warn("an old copy of the database cannot be removed", "error", err)
		}
	}
	return s.writer.open(ctx)
}

// Close refuses further calls, lets the Updates and Views that have begun end,
// answers the queued ones with Busy, and returns when nothing of the store runs
// any more. It may be repeated.
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
		for range r.all() {
			<-r.free
			r.take().drop()
		}
	}
	// The writer last: in SQLite the last connection to close tidies the log up. Whoever
	// was answered last may still be looking at it.
	s.writing.Lock()
	defer s.writing.Unlock()
	s.dropWriter()
	return nil
}

// dropWriter ends the connection of the writer and what it has locked.
func (s *Store) dropWriter() {
	s.writer.drop()
	if s.dialect.unlock != nil {
		s.dialect.unlock()
	}
}

// Epoch implements [hub.Store].
func (s *Store) Epoch() string { return s.epoch }

// View implements [hub.Store]. While every connection for reading is in use it
// waits for one, at most as long as ctx; fn itself is not interrupted.
func (s *Store) View(ctx context.Context, fn func(hub.Tx) error) error {
	return s.viewOn(ctx, s.readers, fn)
}

// ViewFirst implements [hub.Store].
func (s *Store) ViewFirst(ctx context.Context, fn func(hub.Tx) error) error {
	return s.viewOn(ctx, s.first, fn)
}

func (s *Store) viewOn(ctx context.Context, readers *readers, fn func(hub.Tx) error) error {
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
			c.end()
			readers.put(c)
		}()
		if err := c.begin(s.dialect.beginView); err != nil {
			return err
		}
		return c.run(fn)
	case <-s.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reachable returns why the database cannot be used now, nil if it answers. Like a
// View it waits for a connection no longer than ctx, and for the database as long
// as the store's patience lasts.
func (s *Store) Reachable(ctx context.Context) error {
	if err := s.refusal(); err != nil {
		return err
	}
	return s.View(ctx, func(tx hub.Tx) error {
		_, err := tx.Now()
		return err
	})
}

// pauseViews waits until no View is under way, and lets none begin before resume
// is called. It gives up after patience.
func (s *Store) pauseViews(patience time.Duration) (resume func(), ok bool) {
	taken := make([]*conn, 0, s.readers.all())
	resume = func() {
		for _, c := range taken {
			s.readers.put(c)
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for len(taken) < s.readers.all() {
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

var errClosed = shoal.E("sqlstore", shoal.Busy, "The server is stopping; nothing was done. Try again when it is back.")
