package sqlstore_test

import (
	"net/url"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// descends reports whether a store accepts a position.
func descends(t *testing.T, s *sqlstore.Store, epoch string, place int64) (is bool) {
	t.Helper()
	if err := s.View(t.Context(), func(tx storage.Tx) (err error) {
		is, err = tx.Descends(shoal.DefaultSession, epoch, place)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return is
}

// speak writes an event and returns its place.
func speak(t *testing.T, s *sqlstore.Store, id shoal.MessageID) (place int64) {
	t.Helper()
	update(t, s, func(tx storage.Tx) error { return post(tx, id, "hello") })
	if err := s.View(t.Context(), func(tx storage.Tx) (err error) {
		place, err = tx.EventEnd(shoal.DefaultSession)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return place
}

// The servers of a cluster write in turn: each accepts the positions of all others, of those
// that have started earlier and later.
func TestServersOfAClusterAcceptPositionsOfEachOther(t *testing.T) {
	url := postgrestest.Database(t)
	a := openWith(t, sqlstore.Options{URL: url, Cluster: true})
	settle(t, a)
	speak(t, a, "m1")
	b := openWith(t, sqlstore.Options{URL: url, Cluster: true})
	speak(t, b, "m2")
	for i, writer := range []*sqlstore.Store{a, b, a} {
		place := speak(t, writer, shoal.MessageID(rune('p'+i)))
		for j, reader := range []*sqlstore.Store{a, b} {
			if !descends(t, reader, writer.Epoch(), place) {
				t.Errorf("server %d refuses the position %d of writer %d, which has started as %s", j, place, i, writer.Epoch())
			}
			if descends(t, reader, writer.Epoch(), place+1) {
				t.Errorf("server %d accepts a position that is not assigned yet", j)
			}
		}
	}
}

// A server that starts after all others have stopped, or lost their connections, begins anew:
// the database may have gone back meanwhile. Those that connect again later write as it does.
func TestClusterBeginsAnewWhenNoServerIsConnected(t *testing.T) {
	d := postgrestest.NewServer(t)
	line := faultproxy.New(t, "unix", d.Socket)
	through, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	through.Host, through.RawQuery = line.Addr(), "sslmode=disable"
	a := openWith(t, sqlstore.Options{URL: through.String(), Cluster: true})
	settle(t, a)
	before := speak(t, a, "m1")
	first := a.Epoch()
	line.Cut() // until the other server has started
	d.Stop(t, postgrestest.Immediate)
	d.Start(t)
	b := openWith(t, sqlstore.Options{URL: d.URL, Cluster: true})
	if b.Epoch() == first {
		t.Errorf("a server that starts alone continues in the epoch %s", first)
	}
	line.Heal()
	speak(t, b, "m2")
	place := speak(t, a, "m3")
	if a.Epoch() != b.Epoch() {
		t.Errorf("after its new connection the first server writes as %s, the other as %s", a.Epoch(), b.Epoch())
	}
	for i, reader := range []*sqlstore.Store{a, b} {
		if !descends(t, reader, first, before) || !descends(t, reader, a.Epoch(), place) {
			t.Errorf("server %d refuses a position that still exists", i)
		}
		if descends(t, reader, first, place) {
			t.Errorf("server %d accepts a position in the epoch %s that was assigned after its end", i, first)
		}
	}
}
