package e2e_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver, under the name "sqlite"
)

// dump returns everything that the server has stored, a line for each row, but
// for when and from where somebody was last seen, which every call may change, the search
// index, which follows messages with delay, and the records of calls that were refused.
func (s *server) dump(t *testing.T) []string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.data+"/shoal.db?mode=ro&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var dumped []string
	for _, row := range queried(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
		table := fmt.Sprint(row["name"])
		if table == "store" || table == "audit_heads" || strings.HasPrefix(table, "search") || strings.HasPrefix(table, "sqlite_") {
			continue
		}
		for _, row := range queried(t, db, `SELECT * FROM "`+table+`"`) {
			delete(row, "last_seen_at")
			delete(row, "last_used_at")
			delete(row, "last_address")
			if table == "audit" {
				if fmt.Sprint(row["act"]) == "call.refuse" {
					continue
				}
				delete(row, "seq") // it and the hashes depend on the refused calls
				delete(row, "hash")
				delete(row, "prev_hash")
			}
			dumped = append(dumped, fmt.Sprint(table, " ", row)) // a map prints in the order of its keys
		}
	}
	slices.Sort(dumped)
	return dumped
}

// queried returns the rows that a query finds, by the names of their columns.
func queried(t *testing.T, db *sql.DB, query string) (all []map[string]any) {
	t.Helper()
	rows, err := db.QueryContext(bounded(t), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, name := range columns {
			row[name] = values[i]
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}
