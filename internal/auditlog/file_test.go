package auditlog_test

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/auditlog"
)

// numbers returns the numbers of the records in a file, which must be a chain.
func numbers(t *testing.T, path string) (out []int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r audit.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("the line %q: %v", lines.Bytes(), err)
		}
		out = append(out, r.Seq)
	}
	return out
}

func records(from, to int64) (out []audit.Record) {
	for seq := from; seq <= to; seq++ {
		out = append(out, audit.Record{Seq: seq, At: shoal.Now(), Act: audit.KeyCreate})
	}
	return out
}

func want(t *testing.T, path string, from, to int64) {
	t.Helper()
	got := numbers(t, path)
	if int64(len(got)) != to-from+1 || got[0] != from || got[len(got)-1] != to {
		t.Errorf("%s has the records %v, want %d to %d", filepath.Base(path), got, from, to)
	}
}

// A file is appended to, also by the next process, and one that was moved away is replaced.
func TestFileIsAppendedToAndRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f, err := auditlog.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	f.Write(records(1, 2))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = auditlog.Open(path, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	f.Write(records(3, 3))
	want(t, path, 1, 3)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	f.Write(records(4, 5))
	want(t, path+".1", 1, 3)
	want(t, path, 4, 5)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// What cannot be written is reported, kept, and written when it is possible again.
func TestFileThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	path := filepath.Join(dir, "audit.jsonl")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		must(os.Mkdir(dir, 0o700))
		f, err := auditlog.Open(path, slog.New(slog.DiscardHandler))
		must(err)
		f.Write(records(1, 1))
		must(os.Rename(dir, dir+".away")) // its directory is gone
		f.Write(records(2, 3))
		if f.Err() == nil {
			t.Error("a record could not be written, and Err does not say so")
		}
		f.Write(records(4, 4))
		must(os.Mkdir(dir, 0o700))
		<-time.After(2 * time.Second)
		if err := f.Err(); err != nil {
			t.Errorf("the file can be written again, but Err returns %v", err)
		}
		f.Write(records(5, 5))
		must(f.Close())
	})
	want(t, path, 2, 5)
	if _, err := auditlog.Open(filepath.Join(dir, "no", "audit.jsonl"), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a file in a directory that does not exist was opened")
	}
}
