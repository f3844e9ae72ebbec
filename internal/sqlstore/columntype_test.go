package sqlstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlite"
)

// The error for a value that the store cannot have written has its column and type.
func TestErrorForAWrongColumnType(t *testing.T) {
	url := newSQLite(t)
	s := open(t, url)
	settle(t, s)
	c, err := sqlite.Open(strings.TrimPrefix(url, "sqlite://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Run(`UPDATE sessions SET name = x'00ff'`); err != nil {
		t.Fatal(err)
	}
	err = s.View(context.Background(), func(tx storage.Tx) error {
		_, err := tx.Session("default")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "column 1 holds a blob") {
		t.Errorf("a name that is bytes: %v", err)
	}
}
