package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/bench/search"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/load"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

const (
	pageLength = 50
	pagesEach  = 200
	largeSpace = shoal.SpaceID("large")

	bareRow  = "SQLite, plain query"
	storeRow = "Shoal, store call"
)

var pageText = strings.Repeat("what people and agents write to each other ", 6)[:250]

// createLargeSpace creates the data directory with the large space, once in a run. It
// writes the messages through the store, many in each transaction.
func (r *run) createLargeSpace(ctx context.Context) (err error) {
	if r.large != "" {
		return nil
	}
	data := r.NewPath("large")
	p, err := r.StartShoal(ctx, data)
	if err != nil {
		return err
	}
	admin, _, err := driver.AdminClient(p)
	if err == nil {
		session := admin.Session(shoal.DefaultSession)
		_, err = session.CreateSpace(ctx, shoal.NewSpace{ID: largeSpace, Name: "Large", Members: []shoal.EntityID{shoal.Operator}})
	}
	p.Stop()
	if err != nil {
		return err
	}
	store, err := openStore(ctx, data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	const group = 2000
	for done := 0; done < r.messages; done += group {
		err := store.Update(ctx, storage.Global, func(tx storage.Tx) error {
			for seq := done + 1; seq <= min(done+group, r.messages); seq++ {
				if err := tx.InsertMessage(search.StoredMessage(largeSpace, int64(seq), strconv.Itoa(seq)+" "+pageText), storage.PostKey{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	// A server that is still indexing would distort the measurements.
	if err := search.AwaitIndex(ctx, urlOf(data)); err != nil {
		return err
	}
	r.large = data
	return nil
}

func urlOf(data string) string { return "sqlite://" + filepath.Join(data, "shoal.db") }

func openStore(ctx context.Context, data string) (*sqlstore.Store, error) {
	return sqlstore.Open(ctx, sqlstore.Options{
		URL: urlOf(data), Log: slog.New(slog.DiscardHandler), Fatal: func(error) {},
	})
}

// pager reads a page of messages before a seq and returns their number.
type pager struct {
	name string
	read func(ctx context.Context, before int64) (int, error)
}

// pages measures reading a page of 50 messages at three positions of a large space.
func (r *run) pages(ctx context.Context) (err error) {
	if err := r.createLargeSpace(ctx); err != nil {
		return err
	}
	p, err := r.StartShoal(ctx, r.large)
	if err != nil {
		return err
	}
	defer p.Stop()
	bare, err := r.bareTable(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	store, err := openStore(ctx, r.large)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	rest, err := restPager(p)
	if err != nil {
		return err
	}
	return r.pageTables(ctx, []pager{barePager(bare), storePager(store), rest})
}

func (r *run) pageTables(ctx context.Context, pagers []pager) error {
	last := int64(r.messages)
	slowest, fastest := 0.0, 0.0
	for _, place := range []struct {
		name   string
		before func() int64
	}{
		{"newest", func() int64 { return last + 1 }},
		{"random", func() int64 { return pageLength + 1 + rand.Int64N(last-pageLength) }},
		{"oldest", func() int64 { return pageLength + 1 }},
	} {
		t := r.Report.Add(&report.Table{
			Title:  fmt.Sprintf("Page of %d of %s messages, %s", pageLength, report.Thousands(r.messages), place.name),
			Note:   "The plain query reads four columns of a table with nothing else in it; REST is the complete call over a persistent connection.",
			Ratios: []report.Ratio{{Metric: report.P50, Base: bareRow, Heading: "p50 ÷ plain query"}}, Shown: []string{report.P50, report.P99},
		})
		for round := range r.Rounds + 1 {
			for _, pg := range pagers {
				latencies, err := pg.round(ctx, place.before)
				if err != nil {
					return fmt.Errorf("%s: %w", pg.name, err)
				}
				if round > 0 {
					t.Row(pg.name).AddLatencies(latencies)
				}
			}
		}
		r.Report.AtMost(2, "× plain query", t.Ratio(report.P50, storeRow, bareRow), t.Title+", store call, p50").WithTarget(1.5)
		r.Report.AtMost(1000, "µs", t.Row(restRow).Value(report.P50), t.Title+", REST, p50")
		r.Report.AtMost(20e3, "µs", t.Row(restRow).Value(report.P99), t.Title+", REST, p99")
		took := t.Row(storeRow).Value(report.P50)
		slowest = max(slowest, took)
		if fastest == 0 || took < fastest {
			fastest = took
		}
	}
	r.Report.AtMost(1.5, "× fastest position", slowest/fastest, "Page of 50, slowest position, store call, p50")
	return nil
}

func (p pager) round(ctx context.Context, before func() int64) ([]float64, error) {
	var latencies []float64
	for range pagesEach {
		at, began := before(), time.Now()
		n, err := p.read(ctx, at)
		if err != nil {
			return nil, err
		}
		if n != pageLength {
			return nil, fmt.Errorf("the page before %d has %d messages, want %d", at, n, pageLength)
		}
		latencies = append(latencies, float64(time.Since(began).Nanoseconds())/1e3)
	}
	return latencies, nil
}

func storePager(store storage.Store) pager {
	return pager{storeRow, func(ctx context.Context, before int64) (n int, err error) {
		err = store.View(ctx, func(tx storage.Tx) error {
			page, err := tx.Messages(shoal.DefaultSession, largeSpace, storage.Page{Before: before, Limit: pageLength})
			n = len(page)
			return err
		})
		return n, err
	}}
}

func restPager(p *process.Process) (pager, error) {
	w := load.NewWire(p.URL())
	_, key, err := driver.AdminClient(p)
	return pager{restRow, func(ctx context.Context, before int64) (int, error) {
		path := sessionPath + "/spaces/" + string(largeSpace) + "/messages?limit=" + strconv.Itoa(pageLength) + "&before=" + strconv.FormatInt(before, 10)
		page, _, err := w.Do(ctx, http.MethodGet, path, load.Header(key), nil)
		return strings.Count(string(page), `"seq":`), err
	}}, err
}

// bareTable stores the same messages in a table with nothing else in it.
func (r *run) bareTable(ctx context.Context) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+r.NewPath("bare")+".db?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err = db.ExecContext(ctx, `CREATE TABLE message (
		space INTEGER, seq INTEGER, sender TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (space, seq)) WITHOUT ROWID`); err != nil {
		return db, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return db, err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO message VALUES (1, ?, 'agent', ?, ?)")
	if err != nil {
		return db, err
	}
	defer func() { _ = insert.Close() }() // only released
	for seq := 1; seq <= r.messages; seq++ {
		if _, err := insert.ExecContext(ctx, seq, time.Now().UnixMicro(), pageText); err != nil {
			return db, err
		}
	}
	return db, tx.Commit()
}

func barePager(db *sql.DB) pager {
	query, err := db.Prepare("SELECT seq, sender, at, body FROM message WHERE space = 1 AND seq < ? ORDER BY seq DESC LIMIT ?")
	type message struct {
		seq, at      int64
		sender, body string
	}
	return pager{bareRow, func(_ context.Context, before int64) (int, error) {
		if err != nil {
			return 0, err
		}
		rows, err := query.Query(before, pageLength)
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		page := make([]message, 0, pageLength)
		for rows.Next() {
			var m message
			if err := rows.Scan(&m.seq, &m.sender, &m.at, &m.body); err != nil {
				return 0, err
			}
			page = append(page, m)
		}
		return len(page), rows.Err()
	}}
}
