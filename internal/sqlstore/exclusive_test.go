package sqlstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// A server that excludes others waits for the previous one to end, says what to do if it does
// not, and keeps its lock when connections are lost. Tools can open the database.
func TestOneServerAlone(t *testing.T) {
	for name, url := range map[string]string{"SQLite": newSQLite(t), "PostgreSQL": postgrestest.Database(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			openAlone := func(ctx context.Context) (*sqlstore.Store, error) {
				return sqlstore.Open(ctx, sqlstore.Options{URL: url, Alone: true})
			}
			first, err := openAlone(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			settle(t, first)
			began := time.Now()
			_, err = openAlone(t.Context())
			if took := time.Since(began); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "Stop the other server") || took < 10*time.Second || took > time.Minute {
				t.Errorf("a second server gets %v after %v", err, took)
			}
			if name == "PostgreSQL" {
				cutAll(t, url)
			}
			update(t, first, func(tx storage.Tx) error { return post(tx, "m", "hello") })
			soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if _, err := openAlone(soon); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a server beside one that has written gets %v", err)
			}
			tool := open(t, url)
			update(t, tool, func(tx storage.Tx) error { return post(tx, "by a tool", "hello") })

			waiting := make(chan error, 1)
			go func() {
				next, err := openAlone(t.Context())
				if err == nil {
					err = next.Close()
				}
				waiting <- err
			}()
			if err := first.Close(); err != nil {
				t.Error(err)
			}
			if err := <-waiting; err != nil {
				t.Errorf("the waiting server gets %v after the end of the first one", err)
			}
		})
	}
}

// Servers of a cluster share a database, and exclude a server that is alone, as it does them.
func TestServersOfACluster(t *testing.T) {
	url := postgrestest.Database(t)
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	var cluster []*sqlstore.Store
	for range 2 {
		s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url, Cluster: true})
		if err != nil {
			t.Fatal(err)
		}
		cluster = append(cluster, s)
	}
	settle(t, cluster[0])
	update(t, cluster[1], func(tx storage.Tx) error { return post(tx, "m", "hello") })
	if _, err := sqlstore.Open(soon(), sqlstore.Options{URL: url, Alone: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server alone beside a cluster gets %v", err)
	}
	for _, s := range cluster {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	alone, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url, Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if _, err := sqlstore.Open(soon(), sqlstore.Options{URL: url, Cluster: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server of a cluster beside one that is alone gets %v", err)
	}
}
