package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/sqlite"
)

// newLogged opens a file with a write-ahead log and the table pages, whose rows fill one page
// each, on a connection with a small cache.
func newLogged(t *testing.T, path string) *sqlite.Conn {
	t.Helper()
	c := open(t, path)
	run(t, c, `PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=20;
		CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, word INTEGER, filling TEXT)`)
	return c
}

// fill adds rows with the ids in a range.
func fill(from, to int) string {
	return fmt.Sprintf(`INSERT INTO pages SELECT value, value, hex(zeroblob(1800)) FROM (WITH RECURSIVE n(value) AS
		(SELECT %d UNION ALL SELECT value + 1 FROM n WHERE value < %d) SELECT value FROM n)`, from, to)
}

// content returns all data that a connection reads, and SQLite's check of the file.
func content(t *testing.T, c *sqlite.Conn) string {
	t.Helper()
	var b strings.Builder
	for _, query := range []string{`PRAGMA integrity_check`, `SELECT count(*) || ' ' || total(id * word) || ' ' || total(length(filling)) FROM pages`} {
		s := prepare(t, c, query)
		for step(t, s) {
			fmt.Fprintln(&b, s.Text(0))
		}
		s.Reset()
	}
	return b.String()
}

// A connection with JoinLog writes the same as one without it, whatever happens between two
// commits, and every other connection reads it immediately. This also holds without syncs,
// where only the end of a transaction requires the data to be in the file.
func TestJoinLogChangesNothing(t *testing.T) {
	// In three of these seeds, a connection that buffered pages of a transaction that is
	// rolled back would overwrite the pages of another connection.
	for seed := uint64(18); seed <= 22; seed++ {
		joined, plain := newFile(t), newFile(t)
		writer, model := newLogged(t, joined), newLogged(t, plain)
		if err := writer.JoinLog(); err != nil {
			t.Fatal(err)
		}
		reader, other := open(t, joined), newLogged(t, joined)
		source := rand.New(rand.NewPCG(1, seed))
		last := 0
		for turn := range 60 {
			both := func(script string) {
				run(t, writer, script)
				run(t, model, script)
			}
			more := 1 + source.IntN(90) // more than the cache holds: pages go to the log before the commit
			switch source.IntN(8) {
			case 0:
				both(`BEGIN; ` + fill(last+1, last+more) + `; ROLLBACK`)
			case 1:
				both(`BEGIN; ` + fill(last+1, last+more) + `; SAVEPOINT s; UPDATE pages SET word = word + 1; ROLLBACK TO s; SELECT total(word) FROM pages; COMMIT`)
				last += more
			case 2:
				both(fmt.Sprintf(`BEGIN; UPDATE pages SET word = word + 1 WHERE id %% 7 = %d; SELECT total(word) FROM pages; UPDATE pages SET word = word + 1; COMMIT`, source.IntN(7)))
			case 3:
				both(`PRAGMA wal_checkpoint(PASSIVE)`)
			case 4:
				both(`PRAGMA wal_checkpoint(RESTART)`)
			case 5:
				both(`PRAGMA wal_checkpoint(TRUNCATE)`)
			case 6: // another connection, perhaps another process, writes to the same log
				for _, c := range []*sqlite.Conn{other, model} {
					run(t, c, fill(last+1, last+more))
				}
				last += more
			case 7:
				both(fill(last+1, last+more))
				last += more
			}
			want := content(t, model)
			for who, c := range map[string]*sqlite.Conn{"the writer": writer, "a reader": reader} {
				if got := content(t, c); got != want || !strings.HasPrefix(got, "ok\n") {
					t.Fatalf("seed %d, turn %d: %s reads %q, want %q", seed, turn, who, got, want)
				}
			}
		}
		// The files contain everything: a copy of them, made as a crash leaves them, has the
		// same content.
		crashed := filepath.Join(t.TempDir(), "crashed.db")
		for _, end := range []string{"", "-wal"} {
			b, err := os.ReadFile(joined + end)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(crashed+end, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := content(t, open(t, crashed)), content(t, model); got != want {
			t.Errorf("seed %d: after a crash: got %q, want %q", seed, got, want)
		}
	}
}

// A commit of many pages needs few system calls.
func TestJoinLogWritesInPieces(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Logf("%s does not count the writes of a process; on Linux this test does", runtime.GOOS)
		return
	}
	count := func(join bool) int {
		c := newLogged(t, newFile(t))
		if join {
			if err := c.JoinLog(); err != nil {
				t.Fatal(err)
			}
		}
		run(t, c, `PRAGMA cache_size=2000`)
		before := writes(t)
		run(t, c, fill(1, 300))
		return writes(t) - before
	}
	plain, joined := count(false), count(true)
	if plain < 600 || joined > 60 {
		t.Errorf("300 pages took %d writes, and joined %d; want two each, and one for 31 of them and for each 64 KiB of the file", plain, joined)
	}
}

// Consecutive small commits find room in the file, even if another connection has written in
// the meantime or the log has started over.
func TestLogFileGrowsInLargeSteps(t *testing.T) {
	path := newFile(t)
	c, other := newLogged(t, path), newLogged(t, path)
	if err := c.JoinLog(); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	sizes, rows := map[int64]bool{}, 0
	add := func(to *sqlite.Conn, n int) {
		for range n {
			rows++
			run(t, to, fill(rows, rows))
		}
	}
	for range 100 { // some 300 pages
		add(c, 1)
		sizes[size()] = true
	}
	if len(sizes) > 2 {
		t.Errorf("got %d sizes of the file during 100 commits", len(sizes))
	}
	add(other, 400) // after the end of the file that the first connection knows
	add(c, 1)
	if got := size(); c.LogSize()+1<<20 > got {
		t.Errorf("got %d bytes after the %d of the log, want room for a MiB", got-c.LogSize(), c.LogSize())
	}
	run(t, c, `PRAGMA wal_checkpoint(TRUNCATE)`)
	add(c, 1)
	if before := size(); before < 1<<20 || c.LogSize() > 1<<16 {
		t.Errorf("a log that started over ends at %d in a file of %d bytes", c.LogSize(), before)
	}
	if got, want := content(t, open(t, path)), fmt.Sprintf("ok\n%d", rows); !strings.HasPrefix(got, want) {
		t.Errorf("got the content %q, want %q", got, want)
	}
}

// writes returns the number of write system calls of this process.
func writes(t *testing.T) (n int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(b), "syscw: ")
	if _, err := fmt.Sscan(after, &n); !ok || err != nil {
		t.Fatalf("no count of writes in %q: %v", b, err)
	}
	return n
}

// Without a log, JoinLog does nothing, and it can be called again.
func TestJoinLogWithoutLog(t *testing.T) {
	c := open(t, newFile(t))
	for range 2 {
		if err := c.JoinLog(); err != nil {
			t.Fatal(err)
		}
	}
	run(t, c, `PRAGMA journal_mode=WAL; CREATE TABLE pages (id INTEGER PRIMARY KEY, word INTEGER, filling TEXT)`)
	for range 2 {
		if err := c.JoinLog(); err != nil {
			t.Fatal(err)
		}
	}
	run(t, c, fill(1, 50))
	if got, want := content(t, c), "ok\n50 42925.0 180000.0\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
