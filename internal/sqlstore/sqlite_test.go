package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// Only a power cut shows the difference from weaker settings, not a killed process.
func TestCommitsReachTheDisk(t *testing.T) {
	s := open(t, newSQLite(t))
	update(t, s, func(tx storage.Tx) error {
		level, err := sqlstore.Number(tx, `PRAGMA synchronous`)
		if level != 2 {
			t.Errorf("synchronous is %d, want 2, which is FULL", level)
		}
		if err != nil {
			return err
		}
		mode, err := sqlstore.Text(tx, `PRAGMA journal_mode`)
		if mode != "wal" {
			t.Errorf("the journal mode is %q", mode)
		}
		return err
	})

	url := postgrestest.Database(t)
	update(t, open(t, url), func(tx storage.Tx) error {
		return sqlstore.Exec(tx, `ALTER ROLE postgres SET synchronous_commit = 'off'`)
	})
	s = open(t, url)
	update(t, s, func(tx storage.Tx) error {
		level, err := sqlstore.Text(tx, `SHOW synchronous_commit`)
		if level != "on" {
			t.Errorf("synchronous_commit is %q", level)
		}
		if err != nil {
			return err
		}
		return sqlstore.Exec(tx, `ALTER ROLE postgres RESET synchronous_commit`)
	})
}

func TestOnlyTheOwnerReadsTheFiles(t *testing.T) {
	url := newSQLite(t)
	s := open(t, url)
	settle(t, s)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(fileOf(url) + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode(); mode != 0o600 {
			t.Errorf("shoal.db%s has the mode %v", suffix, mode)
		}
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"":                                     "sqlite://PATH or postgres://",
		"mysql://host/db":                      "sqlite://PATH or postgres://",
		"sqlite://":                            "sqlite://PATH or postgres://",
		"sqlite:///no/such/directory/shoal.db": "Check that its directory exists",
		"sqlite://" + text:                     "file is not a database",
		"postgres://user:secret@host:no/db":    "postgres://USER:PASSWORD@HOST",
		"postgres://user:secret@/db?host=/no":  "cannot be reached",
	} {
		_, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want %q in it", url, err, want)
		}
	}
}

// Here SQLite itself limits the size, and returns the error that it returns for a full disk.
func TestFullDiskLosesNothing(t *testing.T) {
	s := open(t, newSQLite(t))
	settle(t, s)
	update(t, s, func(tx storage.Tx) error {
		pages, err := sqlstore.Number(tx, `PRAGMA page_count`)
		if err != nil {
			return err
		}
		_, err = sqlstore.Number(tx, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+100))
		return err
	})
	outcome := map[shoal.MessageID]error{}
	var mu sync.Mutex
	var calls sync.WaitGroup
	for i := range 64 {
		calls.Go(func() {
			id := shoal.MessageID(fmt.Sprintf("msg_%d", i))
			err := s.Update(context.Background(), storage.Global, func(tx storage.Tx) error { return post(tx, id, strings.Repeat("long ", 2000)) })
			mu.Lock()
			defer mu.Unlock()
			outcome[id] = err
		})
	}
	calls.Wait()
	full := 0
	ids := stored(t, s) // reading goes on
	for id, err := range outcome {
		if errors.Is(err, shoal.StorageFull) {
			full++
		} else if err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if ids[id] != (err == nil) {
			t.Errorf("%s: the store said %v, but stored is %v", id, err, ids[id])
		}
	}
	if full == 0 {
		t.Fatal("the disk was never full")
	}
	// The limit belongs to the connection, and the store has opened a new one.
	update(t, s, func(tx storage.Tx) error { return post(tx, "after", "there is room again") })
	if !stored(t, s)["after"] {
		t.Error("the message after is missing")
	}
}

// Indexed messages and messages that are not indexed yet are found alike, also when a page of
// results contains both.
func TestSearchAcrossTheEndOfTheIndex(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		for i := range 30 {
			if i == 20 {
				if err := s.CatchUp(); err != nil {
					t.Fatal(err)
				}
			}
			update(t, s, func(tx storage.Tx) error {
				return post(tx, shoal.MessageID(fmt.Sprintf("m%02d", i)), fmt.Sprintf("tea number%d %s", i, strings.Repeat("x", i%7)))
			})
		}
		query := storage.SearchQuery{Query: storecase.Query("tea num"), Limit: 4}
		for next := 29; next >= 0; {
			var page storage.SearchResult
			err := s.View(context.Background(), func(tx storage.Tx) (err error) {
				page, err = tx.Search("default", query)
				return err
			})
			if err != nil || len(page.Found) == 0 {
				t.Fatalf("before %d: %v, %v", next, page, err)
			}
			for _, f := range page.Found {
				if want := shoal.MessageID(fmt.Sprintf("m%02d", next)); f.Message.ID != want {
					t.Fatalf("found %s, want %s", f.Message.ID, want)
				}
				query.Before = f.Position
				next--
			}
		}
	})
}

// Deleting a session removes its words from the index, and the numbers of its messages do not
// count as indexed when they are assigned again.
func TestIndexAfterASessionIsDeleted(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		update(t, s, func(tx storage.Tx) error { return post(tx, "m1", "tea for two") })
		if err := s.CatchUp(); err != nil {
			t.Fatal(err)
		}
		update(t, s, func(tx storage.Tx) error { return tx.DeleteSession("default") })
		update(t, s, func(tx storage.Tx) error {
			if err := tx.InsertSpace(shoal.Space{SessionID: "other", ID: "shop", Name: "shop", Status: shoal.SpaceStatusOpen}); err != nil {
				return err
			}
			m := shoal.Message{SessionID: "other", SpaceID: "shop", Seq: 1, ID: "m2", Parts: []shoal.Part{shoal.Text("tea for one")}}
			return tx.InsertMessage(m, storage.PostKey{})
		})
		for _, when := range []string{"before", "after"} {
			err := s.View(context.Background(), func(tx storage.Tx) error {
				for word, want := range map[string]int{"tea": 1, "one": 1, "two": 0} {
					found, err := tx.Search("other", storage.SearchQuery{Query: storecase.Query(word), Limit: 9})
					if err != nil {
						return err
					}
					if len(found.Found) != want {
						t.Errorf("%s indexing: %q finds %d, want %d", when, word, len(found.Found), want)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.CatchUp(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// With Views that always overlap, the log is read at every moment, and it must start over
// nevertheless.
func TestLogStaysBounded(t *testing.T) {
	url := newSQLite(t)
	s := open(t, url)
	settle(t, s)
	done := make(chan struct{})
	var viewing sync.WaitGroup
	for range 4 {
		viewing.Go(func() {
			for {
				err := s.View(context.Background(), func(tx storage.Tx) error {
					_, err := tx.Space("default", "shop")
					<-time.After(3 * time.Millisecond)
					return err
				})
				if err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	long := strings.Repeat("x", shoal.MaxContent)
	for i := range 400 { // 100 MiB
		update(t, s, func(tx storage.Tx) error {
			m := shoal.Message{SessionID: "default", SpaceID: "shop", Seq: int64(i + 1), EntityID: "ann", Parts: []shoal.Part{shoal.Text(long)}}
			return tx.InsertMessage(m, storage.PostKey{})
		})
	}
	close(done)
	viewing.Wait()
	log, err := os.Stat(fileOf(url) + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if size := log.Size() >> 20; size > 85 {
		t.Errorf("the log has %d MiB", size)
	}
}
