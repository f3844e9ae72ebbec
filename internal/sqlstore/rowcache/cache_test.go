package rowcache_test

import (
	"testing"

	"github.com/shoal-dev/shoal/internal/sqlstore/rowcache"
)

func TestTables(t *testing.T) {
	cache := rowcache.New()
	for table, want := range map[string]bool{
		"sessions": true, "spaces": true, "members": true, "entities": true, "inbox_places": true, "events": true,
		"messages": false, "inbox_entries": false, "event_floors": false, "": false,
	} {
		if got := cache.Covers(table); got != want {
			t.Errorf("Covers(%q) = %v, want %v", table, got, want)
		}
	}
}
