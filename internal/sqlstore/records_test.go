package sqlstore_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// notExported are the columns of sessions that no export holds, and why. A new
// column goes either into hub.RecordTypes and recordTables, or here.
var notExported = map[string]string{
	"answers.*":              "first answers are kept for a day",
	"deleted_spaces.*":       "the ids stay taken where the spaces were",
	"events.*":               "followers begin with a snapshot",
	"event_floors.*":         "followers begin with a snapshot",
	"explicit_keys.*":        "it belongs to keys",
	"keys.*":                 "keys are secrets of their server",
	"lineage_places.*":       "it is the history of one database",
	"remembered_decisions.*": "nobody has decided anything on the server that imports",
	"request_spending.*":     "it is what model calls of this server have cost",
	"revoked_keys.*":         "keys are secrets of their server",
	"search_blocks.*":        "the index is made of the messages",
	"search_words.*":         "the index is made of the messages",
	"members.hosted":         "it is that of the entity",
	"messages.doc":           "the order of the lines",
	"messages.event_place":   "followers begin with a snapshot",
	"messages.sum":           "it is over what the line says",
	"messages.post_hash":     "it belongs to keys",
	"messages.post_key":      "it belongs to keys",
	"messages.post_scope":    "it belongs to keys",
	"pending_actions.number": "the order of the lines",
	"run_spaces.number":      "the run is named by its id",
	"runs.stalled_since":     "a run that was running is canceled",
	"runs.event_floor":       "followers begin with a snapshot",
	"runs.lease_until":       "nobody has a lease of it",
	"runs.number":            "the order of the lines",
	"runs.owner":             "nobody has a lease of it",
}

// Nothing that a session holds is forgotten in its export.
func TestExportsHoldEveryColumn(t *testing.T) {
	exported := map[string]bool{}
	for _, column := range sqlstore.RecordColumns() {
		exported[column] = true
	}
	for _, of := range hub.RecordTypes[1:] {
		if n := sqlstore.RecordWidth(of.Name); n != len(of.Fields) {
			t.Errorf("%s has %d fields and %d columns", of.Name, len(of.Fields), n)
		}
	}
	s, unused := open(t, newSQLite(t)), maps.Clone(notExported)
	err := s.View(t.Context(), func(tx hub.Tx) error {
		tables, err := sqlstore.Tables(tx, "session_id")
		for _, table := range tables {
			columns, failed := sqlstore.Columns(tx, table)
			if failed != nil {
				return failed
			}
			for _, column := range columns {
				name := table + "." + column
				_, all := notExported[table+".*"]
				_, one := notExported[name]
				delete(unused, table+".*")
				delete(unused, name)
				if column != "session_id" && !exported[name] && !all && !one {
					t.Errorf("the column %s is in no export, and nothing says why", name)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(unused) > 0 {
		t.Errorf("there are no such columns: %s", strings.Join(slices.Sorted(maps.Keys(unused)), ", "))
	}
}
