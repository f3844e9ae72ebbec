package archivesql_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlite"
	"github.com/shoal-dev/shoal/internal/sqlstore"
	"github.com/shoal-dev/shoal/internal/sqlstore/archivesql"
)

// notExported are the columns of sessions that no export holds, and why. A new
// column goes either into hub.RecordTypes and recordTables, or here.
var notExported = map[string]string{
	"answers.*":              "first answers are kept for a day",
	"audit.*":                "the audit log is what a server says of itself: an import could forge it",
	"audit_heads.*":          "the audit log is what a server says of itself: an import could forge it",
	"deleted_spaces.*":       "the ids stay taken where the spaces were",
	"events.*":               "followers begin with a snapshot",
	"event_floors.*":         "followers begin with a snapshot",
	"explicit_keys.*":        "it belongs to keys",
	"inbox_entries.arrival":  "it is that of the message",
	"inbox_places.*":         "cursors are not valid on the server that imports",
	"invites.*":              "invitations are secrets of their server",
	"keys.*":                 "keys are secrets of their server",
	"lineage_places.*":       "it is the history of one database",
	"oauth_grants.*":         "grants belong to keys",
	"erasures.*":             "what remains to be erased is erased on the server where it began",
	"push_subscriptions.*":   "browsers subscribe at one server",
	"remembered_decisions.*": "nobody has decided anything on the server that imports",
	"request_spending.*":     "it is what model calls of this server have cost",
	"revoked_keys.*":         "keys are secrets of their server",
	"runner_agents.*":        "runners report to the server that they know",
	"search_blocks.*":        "the index is made of the messages",
	"search_words.*":         "the index is made of the messages",
	"members.acked_above":    "it is counted again",
	"members.hosted":         "it is that of the entity",
	"members.own_above":      "it is counted again",
	"messages.doc":           "the order of the lines",
	"messages.event_place":   "followers begin with a snapshot",
	"messages.sum":           "it is over what the line says",
	"messages.post_hash":     "it belongs to keys",
	"messages.post_key":      "it belongs to keys",
	"messages.post_scope":    "it belongs to keys",
	"pending_actions.number": "the order of the lines",
	"run_spaces.number":      "the run is named by its id",
	"spaces.member_count":    "it is counted again",
	"runs.stalled_since":     "a run that was running is canceled",
	"runs.event_floor":       "followers begin with a snapshot",
	"runs.lease_until":       "nobody has a lease of it",
	"runs.number":            "the order of the lines",
	"runs.owner":             "nobody has a lease of it",
	"run_work.*":             "a run that was running is canceled",
}

// An export contains every column of a session.
func TestExportsContainEveryColumn(t *testing.T) {
	exported := map[string]bool{}
	for _, column := range archivesql.RecordColumns() {
		exported[column] = true
	}
	for _, of := range storage.RecordTypes[1:] {
		if n := archivesql.RecordWidth(of.Name); n != len(of.Fields) && !of.Old {
			t.Errorf("%s has %d fields and %d columns", of.Name, len(of.Fields), n)
		}
	}
	url := "sqlite://" + filepath.Join(t.TempDir(), "shoal.db")
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := sqlite.Open(strings.TrimPrefix(url, "sqlite://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	unused := maps.Clone(notExported)
	for _, name := range texts(t, c, `SELECT m.name || '.' || c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name IN (SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE c.name = 'session_id')`) {
		table, column, _ := strings.Cut(name, ".")
		_, all := notExported[table+".*"]
		_, one := notExported[name]
		delete(unused, table+".*")
		delete(unused, name)
		if column != "session_id" && !exported[name] && !all && !one {
			t.Errorf("the column %s is in no export, and notExported does not say why", name)
		}
	}
	if len(unused) > 0 {
		t.Errorf("notExported has columns that do not exist: %s", strings.Join(slices.Sorted(maps.Keys(unused)), ", "))
	}
}

// texts returns the first column of a query.
func texts(t *testing.T, c *sqlite.Conn, query string) (all []string) {
	t.Helper()
	stmt, err := c.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for {
		more, err := stmt.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return all
		}
		all = append(all, stmt.Text(0))
	}
}
