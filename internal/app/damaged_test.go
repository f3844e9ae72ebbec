package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/sqlite"
)

// A server whose database has a value that nobody stored starts all the same, or says which
// file is damaged, whichever value it is.
func TestDamagedValuesAreReported(t *testing.T) {
	whole := t.TempDir()
	begin(t, whole).Stop()
	values := valuesOf(t, filepath.Join(whole, "shoal.db"))
	refused := 0
	for _, v := range values {
		t.Run(v.table+"."+v.column, func(t *testing.T) {
			data := copyOf(t, whole)
			file := filepath.Join(data, "shoal.db")
			edit(t, file, `UPDATE OR IGNORE "`+v.table+`" SET "`+v.column+`" = x'7b22'`)
			s, err := app.Start(t.Context(), app.Config{Data: data, Addr: "127.0.0.1:0"})
			if err == nil {
				s.Stop()
				return
			}
			if refused++; !strings.Contains(err.Error(), file+" is damaged") {
				t.Errorf("the start fails with %v, which does not name the damaged file", err)
			}
		})
	}
	if refused == 0 {
		t.Error("no damage kept the server from starting, so this test checks nothing")
	}
}

// copyOf returns a copy of the files of a directory that nobody else can read.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, f.Name()), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// value is a column of a table.
type value struct{ table, column string }

// valuesOf returns the columns of a database that have values, without those of primary keys:
// a row with another key is another row.
func valuesOf(t *testing.T, file string) (all []value) {
	t.Helper()
	columns := query(t, file, `SELECT s.name, c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
		WHERE s.type = 'table' AND c.pk = 0 AND s.name NOT LIKE 'sqlite%' AND s.name NOT LIKE 'search%' AND s.sql NOT LIKE 'CREATE VIRTUAL%'`)
	for _, c := range columns {
		if found := query(t, file, `SELECT COUNT("`+c[1]+`"), 0 FROM "`+c[0]+`"`); found[0][0] != "0" {
			all = append(all, value{c[0], c[1]})
		}
	}
	return all
}

// query returns the rows of a query with two columns.
func query(t *testing.T, file, text string) (rows [][2]string) {
	t.Helper()
	c := open(t, file)
	defer func() { _ = c.Close() }() // nothing was written
	stmt, err := c.Prepare(text)
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
			return rows
		}
		rows = append(rows, [2]string{stmt.Text(0), stmt.Text(1)})
	}
}

func edit(t *testing.T, file, script string) {
	t.Helper()
	c := open(t, file)
	if err := c.Run(script); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, file string) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
