package upgrade_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/release"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// There and back again, while somebody posts.
func TestUpgradeAndBackUnderLoad(t *testing.T) {
	i := install(t, newReleases(t, newVersion))
	stop := i.posts()
	defer stop()
	if out := i.runs("upgrade", "--check", "--json"); !strings.Contains(out, `"from":"1.0.0","to":"1.1.0","newer":true,"installed":false`) {
		t.Errorf("--check says %s", out)
	}
	i.expects(oldVersion)
	if out := i.runs(i.upgrade("--json")...); !strings.Contains(out, `"from":"1.0.0","to":"1.1.0","newer":true,"installed":true,"restarted":true`) {
		t.Errorf("upgrade says %s", out)
	}
	i.expects(newVersion)
	if out := i.runs(i.upgrade("--json")...); !strings.Contains(out, `"installed":false,"restarted":false`) {
		t.Errorf("a second upgrade says %s", out)
	}
	i.runs("upgrade", "--rollback")
	i.expects(oldVersion)
	i.runs(i.upgrade("--version", newVersion)...)
	i.expects(newVersion)
	i.has(stop())
	left, err := filepath.Glob(filepath.Join(filepath.Dir(i.program), "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("beside the program there are %q, %v", left, err)
	}
}

// A version that migrates the database: the way back is the copy from before, and the
// older version says so instead of working with a database that it does not know.
func TestAVersionThatMigrates(t *testing.T) {
	i := install(t, newReleases(t, nextVersion))
	stop := i.posts()
	i.runs(i.upgrade()...)
	i.expects(nextVersion)
	after := stop()
	i.has(after)
	database := "sqlite://" + filepath.Join(i.data, "shoal.db")
	if _, err := os.Stat(sqlstore.BackupPath(database, schema)); err != nil {
		t.Errorf("there is no copy from before: %v", err)
	}
	i.fails([]string{"1.0.0 cannot work with the database", "--restore puts back the copy"}, "upgrade", "--rollback")
	i.expects(nextVersion)

	i.runs("down")
	old := *i
	old.program = i.program + ".previous"
	old.fails([]string{"a newer Shoal has migrated it", "shoal upgrade --rollback --restore"}, "up", "--no-service")
	i.runs("up", "--no-service")

	i.runs("upgrade", "--rollback", "--restore")
	i.expects(oldVersion)
	var kept []string
	for m, err := range i.session().Timeline(t.Context(), "log", 0) {
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, m.Text())
	}
	// The copy was made when no server ran: it ends at a message that was answered, or at
	// the one whose answer was on its way.
	if len(kept) == 0 || len(kept) > len(after) || !equalBeginning(kept, after) {
		t.Errorf("the old version has %d messages, of %d", len(kept), len(after))
	}
	replaced, err := filepath.Glob(filepath.Join(i.data, "shoal.db.replaced-*"))
	if err != nil || len(replaced) != 1 {
		t.Fatalf("what was replaced: %q, %v", replaced, err)
	}
	x, err := sqlstore.Examine(t.Context(), "sqlite://"+replaced[0])
	if err != nil || x.Version != int64(schema)+1 || len(x.Damage) > 0 {
		t.Errorf("what was replaced is %+v, %v", x, err)
	}
}

func equalBeginning(short, long []string) bool {
	for n := range short {
		if short[n] != long[n] {
			return false
		}
	}
	return true
}

// A version that starts on no machine, one that migrates the database and then fails: the
// version before runs again, with everything.
func TestAVersionThatDoesNotStart(t *testing.T) {
	from := newReleases(t)
	i := install(t, from)
	stop := i.posts()
	defer stop()
	from.publish(t, newVersion, []byte("#!/bin/sh\necho this machine is too old >&2; exit 1\n"))
	i.fails([]string{"does not run on this machine", "this machine is too old", "Nothing was installed"}, i.upgrade()...)
	i.expects(oldVersion)

	// It describes itself and opens the database, which it migrates, but never serves.
	from.publish(t, nextVersion, []byte("#!/bin/sh\ncase $1 in version) exec "+built[nextVersion].Path()+" version --json;; esac\n"+
		built[nextVersion].Path()+" keys create --role service --data "+i.data+" -q\necho it fails >&2; exit 1\n"))
	i.fails([]string{"it fails", "1.2.0 did not start", "1.0.0 runs again", "The database from before was put back"}, i.upgrade()...)
	i.expects(oldVersion)
	i.has(stop())
}

// An upgrade that ended between the installation and the restart is brought to its end.
func TestAnInterruptedUpgradeIsFinished(t *testing.T) {
	i := install(t, newReleases(t, newVersion))
	file := i.program + ".new"
	content, err := os.ReadFile(built[newVersion].Path())
	if err == nil {
		err = os.WriteFile(file, content, 0o755)
	}
	if err == nil {
		err = release.Install(file, i.program)
	}
	if err != nil {
		t.Fatal(err)
	}
	i.expectsServer(oldVersion)
	if out := i.runs(i.upgrade("--json")...); !strings.Contains(out, `"installed":false,"restarted":true`) {
		t.Errorf("upgrade says %s", out)
	}
	i.expects(newVersion)
}

// A release that was changed on its way, or that somebody else has made, is not installed.
func TestReleasesThatAreNotInstalled(t *testing.T) {
	from := newReleases(t, newVersion)
	i := install(t, from)
	archive := release.Archive(newVersion)
	from.change(archive, func(b []byte) []byte { b = bytes.Clone(b); b[len(b)/2] ^= 1; return b })
	i.fails([]string{"error: The checksum of " + archive, "Nothing was installed"}, i.upgrade()...)
	from.change("SHA256SUMS", func(b []byte) []byte { return append(bytes.Clone(b), ' ', '\n') })
	i.fails([]string{"error: The signature of SHA256SUMS is not of the key"}, i.upgrade()...)
	from.change("SHA256SUMS.minisig", func([]byte) []byte { return nil })
	i.fails([]string{"SHA256SUMS.minisig answers 404"}, i.upgrade()...)
	from.change("SHA256SUMS", func([]byte) []byte { return []byte("no list") })
	i.fails([]string{"it is not built for this machine"}, "upgrade")
	from.change("release.json", func([]byte) []byte { return []byte("<html>") })
	i.fails([]string{"does not describe a release"}, "upgrade")
	i.fails([]string{"404"}, "upgrade", "--version", "9.9.9")
	i.fails([]string{`"../x" is not a version`}, "upgrade", "--version", "../x")
	i.fails([]string{"is not a source of releases: it must be an https URL"}, "upgrade", "--from", "http://example.org")
	i.fails([]string{"nothing was upgraded here"}, "upgrade", "--rollback")
	i.fails([]string{"--restore is for --rollback"}, "upgrade", "--restore")
	i.expects(oldVersion)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(i.program), "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the program there are %q, %v", left, err)
	}
}
