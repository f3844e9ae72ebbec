// Package search measures searches in both databases as calls of the store.
package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/load"
	"github.com/shoal-dev/shoal/internal/search"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

const (
	p95 = "p95 µs"

	// searchesEach is the number of searches of each kind in a round.
	searchesEach = 40
	// searchHits is the number of hits that a search requests.
	searchHits = 20
	// searchLimit is the limit for the slowest kind, in µs.
	searchLimit = 10_000

	searchSpaces  = 200
	searchSenders = 50
	vocabulary    = 30_000
	// fewSpacesReader is a member of every 40th space.
	fewSpacesReader = shoal.EntityID("few")
)

// searchKind is a kind of search: its query, its reader, and the minimum number of hits.
type searchKind struct {
	name   string
	query  func() string
	reader shoal.EntityID
	hits   int
}

// plainSearch returns a kind of search with a constant query.
func plainSearch(name, query string, hits int) searchKind {
	return searchKind{name: name, query: func() string { return query }, hits: hits}
}

// searches lists the kinds. The word half occurs in half of all messages, tenth in a
// tenth, thousandth in a thousandth; half of all messages contain both left and right,
// but only one in a thousand contains them as a phrase.
var searches = []searchKind{
	plainSearch("a word in half of the messages", "half ", searchHits),
	plainSearch("a word in a tenth", `"tenth"`, searchHits),
	plainSearch("a word in a thousandth", `"thousandth"`, searchHits),
	{"a rare word", func() string { return fmt.Sprintf(`"rare%d"`, rand.IntN(100)) }, "", 1},
	plainSearch("a word without hits", `"nowhere"`, 0),
	plainSearch("two words, half and tenth", `"half" "tenth"`, searchHits),
	plainSearch("two words, tenth and thousandth", `"tenth" "thousandth"`, 5),
	plainSearch("two words that never occur together", `"even" "odd"`, 0),
	plainSearch("a phrase of frequent words", `"left right"`, searchHits),
	plainSearch("a rare phrase of frequent words", `"right left"`, 0),
	plainSearch("a prefix, one letter", "w", searchHits),
	plainSearch("a prefix, frequent", "w12", searchHits),
	{"a prefix, rare", func() string { return fmt.Sprintf(`rare%d`, rand.IntN(10)) }, "", 1},
	plainSearch("a prefix after a word", `"tenth" w1`, searchHits),
	plainSearch("with an exclusion", `half -tenth`, searchHits),
	plainSearch("a sender, before a date", "from:e7 before:2025-07-01", searchHits),
	plainSearch("a date alone", "before:2025-02-01", searchHits),
	plainSearch("a sender and a word", `from:e7 "tenth"`, searchHits),
	plainSearch("a space and a word", `in:s7 "tenth"`, searchHits),
	{"few spaces: a word in half", func() string { return `"half"` }, fewSpacesReader, searchHits},
	{"few spaces: a word in a thousandth", func() string { return `"thousandth"` }, fewSpacesReader, 1},
	{"few spaces: a prefix", func() string { return "w12" }, fewSpacesReader, searchHits},
	{"few spaces: a rare word", func() string { return fmt.Sprintf(`"rare%d"`, rand.IntN(100)) }, fewSpacesReader, 0},
}

// searchText returns the text of the n-th message: the words that searches match, among
// others of which a few are frequent and most are rare.
func searchText(n int, source *rand.Rand, zipf *rand.Zipf) string {
	var b strings.Builder
	add := func(every int, word string) {
		if source.IntN(every) == 0 {
			b.WriteString(word + " ")
		}
	}
	add(2, "half")
	add(10, "tenth")
	add(1000, "thousandth")
	if n%1000 == 7 {
		fmt.Fprintf(&b, "rare%d ", n/1000%100)
	}
	b.WriteString([]string{"even ", "odd "}[n%2])
	if source.IntN(1000) == 0 {
		b.WriteString("left right ")
	} else if n%2 == 0 {
		b.WriteString("left ")
	}
	for range 35 {
		fmt.Fprintf(&b, "w%d ", zipf.Uint64())
	}
	if n%2 == 0 {
		b.WriteString("right ")
	}
	return b.String()
}

// Bench is one measurement.
type Bench struct {
	*driver.Run
	Messages int    // in the session
	Keep     string // the directory of databases that are kept between runs; "" keeps none
	// Postgres calls do with the URL of a PostgreSQL server, if one is installed.
	Postgres func(ctx context.Context, do func(url string) error) error
}

// Measure measures the searches and adds a table for each database to the report.
func (b *Bench) Measure(ctx context.Context) error {
	dir := b.Keep
	if dir == "" {
		dir = b.Dir
	}
	path := filepath.Join(dir, "search.db")
	if b.Wants("SQLite") {
		if err := b.searchIn(ctx, "SQLite", "sqlite://"+path, path); err != nil {
			return err
		}
	}
	if !b.Wants("PostgreSQL") {
		return nil
	}
	return b.Postgres(ctx, func(url string) error { return b.searchIn(ctx, "PostgreSQL", url, "") })
}

func (b *Bench) searchIn(ctx context.Context, name, url, file string) (err error) {
	began := time.Now()
	_, missing := os.Stat(file)
	store, err := sqlstore.Open(ctx, sqlstore.Options{URL: url, Log: slog.New(slog.DiscardHandler), Fatal: func(error) {}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if missing != nil {
		if err := b.fillSearchSession(ctx, store); err != nil {
			return err
		}
		b.Log.Printf("%s: %s messages stored after %.0f s", name, report.Thousands(b.Messages), time.Since(began).Seconds())
	}
	if err := AwaitIndex(ctx, url); err != nil {
		return err
	}
	b.Log.Printf("%s: indexed after %.0f s", name, time.Since(began).Seconds())
	t := b.Report.Add(&report.Table{
		Title: fmt.Sprintf("Search of %s messages, %s", report.Thousands(b.Messages), name),
		Note:  fmt.Sprintf("The store call alone, for the newest %d hits, in a session with %d spaces; the reader of few spaces is a member of %d. CPU is that of the calling process, without PostgreSQL's own.", searchHits, searchSpaces, searchSpaces/40),
		Shown: []string{report.P50, p95, report.CPUMicros},
	})
	for round := range b.Rounds + 1 {
		for _, s := range searches {
			used := process.OwnCPU()
			latencies, err := s.round(ctx, store)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, s.name, err)
			}
			if round > 0 {
				t.Row(s.name).Add(report.P50, load.Percentile(latencies, 50))
				t.Row(s.name).Add(p95, load.Percentile(latencies, 95))
				t.Row(s.name).AddCPU(process.OwnCPU()-used, searchesEach)
			}
		}
	}
	slowest := 0.0
	for _, row := range t.Rows {
		slowest = max(slowest, row.Value(p95))
	}
	b.Report.AtMost(searchLimit, "µs", slowest, t.Title+", slowest kind, p95")
	return nil
}

func (s searchKind) round(ctx context.Context, store storage.Store) (latencies []float64, err error) {
	for range searchesEach {
		query, err := search.Parse("query", s.query())
		if err != nil {
			return nil, err
		}
		var found storage.SearchResult
		began := time.Now()
		err = store.View(ctx, func(tx storage.Tx) (err error) {
			found, err = tx.Search(shoal.DefaultSession, storage.SearchQuery{Query: query, Reader: s.reader, Limit: searchHits})
			return err
		})
		if err != nil {
			return nil, err
		}
		latencies = append(latencies, float64(time.Since(began).Nanoseconds())/1e3)
		if len(found.Found) < s.hits && found.Next == 0 { // otherwise it has reached the work limit of a page
			return nil, fmt.Errorf("got %d hits, want at least %d", len(found.Found), s.hits)
		}
	}
	return latencies, nil
}

// fillSearchSession creates a session with messages spread over a year.
func (b *Bench) fillSearchSession(ctx context.Context, store storage.Store) error {
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	step := 365 * 24 * time.Hour / time.Duration(b.Messages)
	err := store.Update(ctx, storage.Global, func(tx storage.Tx) error { return createSearchSpaces(tx, at) })
	if err != nil {
		return err
	}
	source := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(source, 1.1, 3, vocabulary)
	seqs := [searchSpaces]int64{}
	const group = 2000
	for done := 0; done < b.Messages; done += group {
		first := seqs
		err := store.Update(ctx, storage.Global, func(tx storage.Tx) error {
			seqs = first
			for n := done; n < min(done+group, b.Messages); n++ {
				space := source.IntN(searchSpaces)
				seqs[space]++
				sender := shoal.EntityID(fmt.Sprintf("e%d", source.IntN(searchSenders)))
				m := StoredMessage(searchSpaceID(space), seqs[space], searchText(n, source, zipf))
				m.EntityID, m.CreatedAt = sender, shoal.At(at.Add(step*time.Duration(n)))
				if err := tx.InsertMessage(m, storage.PostKey{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func searchSpaceID(n int) shoal.SpaceID { return shoal.SpaceID(fmt.Sprintf("s%d", n)) }

// createSearchSpaces creates the spaces and their members.
func createSearchSpaces(tx storage.Tx, at time.Time) error {
	now := shoal.At(at)
	err := tx.InsertSession(shoal.Session{ID: shoal.DefaultSession, Status: shoal.SessionStatusOpen, CreatedAt: now})
	if err != nil && shoal.KindOf(err) != shoal.AlreadyExists {
		return err
	}
	members := []shoal.EntityID{fewSpacesReader}
	for i := range searchSenders {
		members = append(members, shoal.EntityID(fmt.Sprintf("e%d", i)))
	}
	for _, id := range members {
		if err := tx.InsertEntity(shoal.Entity{SessionID: shoal.DefaultSession, ID: id, Kind: shoal.Agent, Name: string(id), CreatedAt: now}); err != nil {
			return err
		}
	}
	for i := range searchSpaces {
		space := shoal.Space{SessionID: shoal.DefaultSession, ID: searchSpaceID(i), Name: "space", Status: shoal.SpaceStatusOpen, CreatedAt: now}
		if err := tx.InsertSpace(space); err != nil {
			return err
		}
		if i%40 != 0 {
			continue
		}
		if err := tx.InsertMember(shoal.DefaultSession, space.ID, shoal.Member{EntityID: fewSpacesReader, JoinedAt: now}); err != nil {
			return err
		}
	}
	return nil
}

// StoredMessage returns a message of the operator, as the store keeps it.
func StoredMessage(space shoal.SpaceID, seq int64, text string) shoal.Message {
	now, body := shoal.Now(), shoal.Text(text)
	body.ID = shoal.PrefixPart + "1"
	return shoal.Message{
		ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SessionID: shoal.DefaultSession, SpaceID: space, Seq: seq,
		EntityID: shoal.Operator, Status: shoal.MessageCompleted, CreatedAt: now, UpdatedAt: now,
		Mentions: []shoal.EntityID{}, DroppedMentions: []shoal.EntityID{}, OnBehalfOf: []shoal.EntityID{}, Reactions: []shoal.Reaction{}, Parts: []shoal.Part{body},
	}
}

// AwaitIndex waits until the search index contains every message.
func AwaitIndex(ctx context.Context, url string) (err error) {
	engine, name := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
		engine, name = "sqlite", "file:"+path+"?mode=ro"
	}
	db, err := sql.Open(engine, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for {
		left := 0
		err := db.QueryRowContext(ctx, `SELECT COALESCE((SELECT MAX(doc) FROM messages), 0) - indexed FROM store`).Scan(&left)
		if err != nil || left <= 0 {
			return err
		}
		if !load.Pause(ctx, 200*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}
