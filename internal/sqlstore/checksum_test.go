package sqlstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// A stored message is not shown after any of its columns was changed in the database.
func TestChangedMessageIsNotShown(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		for n, change := range []string{
			`text = 'tea for tvo'`, `entity_id = 'bea'`, `id = 'msg_x'`, `status = 'canceled'`, `mentions = 'ann'`, `dropped_mentions = 'ann'`,
			`created_at = created_at + 1`, `updated_at = updated_at + 1`, `part_id = 'p2'`, `run_id = 'run_x'`, `parts = '[]'`, `sum = sum + 1`,
			`text = NULL`, `text = text || ' '`,
			`on_behalf_of = '["ann"]'`, `reply_to = 'm0'`, `deleted_at = 1`, `edited_at = 1`,
		} {
			id := shoal.MessageID(fmt.Sprintf("m%d", n))
			update(t, s, func(tx storage.Tx) error { return post(tx, id, "tea for two") })
			seq := int64(n + 1)
			page := storage.Page{After: seq - 1, Limit: 1}
			read := func() (err error) {
				return s.View(t.Context(), func(tx storage.Tx) error {
					var found []shoal.Message
					if found, err = tx.Messages("default", "shop", page); err == nil && (len(found) != 1 || found[0].Seq != seq) {
						t.Errorf("%d is read as %+v", seq, found)
					}
					return err
				})
			}
			if page.After == 0 {
				page = storage.Page{Before: 2, Limit: 1}
			}
			if err := read(); err != nil {
				t.Fatalf("before %s: %v", change, err)
			}
			update(t, s, func(tx storage.Tx) error {
				return sqlstore.Exec(tx, fmt.Sprintf(`UPDATE messages SET %s WHERE seq = %d`, change, seq))
			})
			if err := read(); shoal.KindOf(err) != shoal.Internal || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("after %s: %v", change, err)
			}
		}
		// A row from before the checksums has none.
		update(t, s, func(tx storage.Tx) error { return post(tx, "old", "tea for two") })
		update(t, s, func(tx storage.Tx) error {
			return sqlstore.Exec(tx, `UPDATE messages SET sum = NULL, text = 'tea for one' WHERE id = 'old'`)
		})
		err := s.View(t.Context(), func(tx storage.Tx) error {
			found, err := tx.Messages("default", "shop", storage.Page{Limit: 1})
			if err == nil && found[0].Text() != "tea for one" {
				t.Errorf("without a sum: %+v", found)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A file with inconsistent pages is refused, with what to do about it.
func TestDamagedFileIsRefused(t *testing.T) {
	url := newSQLite(t)
	s := open(t, url)
	settle(t, s)
	for n := range 200 {
		update(t, s, func(tx storage.Tx) error {
			return post(tx, shoal.MessageID(fmt.Sprintf("m%d", n)), strings.Repeat("tea for two ", 40))
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(fileOf(url))
	if err != nil {
		t.Fatal(err)
	}
	for what, damage := range map[string]func([]byte) []byte{
		"cut to half":     func(b []byte) []byte { return b[:len(b)/2] },
		"no header":       func(b []byte) []byte { copy(b, make([]byte, 16)); return b },
		"pages of zeroes": func(b []byte) []byte { copy(b[len(b)/2:], make([]byte, 1<<15)); return b },
		"pages of noise":  func(b []byte) []byte { copy(b[len(b)/2:], strings.Repeat("\xa5", 1<<15)); return b },
	} {
		path := filepath.Join(t.TempDir(), "shoal.db")
		if err := os.WriteFile(path, damage(append([]byte(nil), whole...)), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite://" + path})
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path+" is damaged") || !strings.Contains(err.Error(), "restore a backup") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
