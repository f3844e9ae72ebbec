// Package upgrade upgrades the real binary from a release server of this machine, while a
// client posts, and takes it back: nothing that was answered may be lost, whatever fails
// and wherever the upgrade is killed.
package upgrade_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come. It only ends a test that has
// failed anyway.
const patience = 2 * time.Minute

// The versions that are built. 1.2.0 has one migration more than the others.
const (
	oldVersion  = "1.0.0"
	newVersion  = "1.1.0"
	nextVersion = "1.2.0"
)

var built = map[string]*program.Shoal{}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/upgrade:", err)
		code = 1
	}
	os.Exit(code)
}

func prepared(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "shoal-upgrade-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := migrating(dir)
	if err != nil {
		return 0, err
	}
	for version, more := range map[string][]string{oldVersion: nil, newVersion: nil, nextVersion: {"-overlay", overlay}} {
		flags := append(more, "-ldflags", "-X main.version="+version)
		if built[version], err = program.Build(filepath.Join(dir, "shoal-"+version), flags...); err != nil {
			return 0, err
		}
	}
	return run(), nil
}

// migrating writes the overlay that adds a migration: a table that must be filled when a
// message is stored, so that an older program must not write.
func migrating(dir string) (list string, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, engine := range []string{"sqlite", "postgres"} {
		sql := filepath.Join(dir, engine+".sql")
		if err := os.WriteFile(sql, []byte("CREATE TABLE added_by_the_next_version (id TEXT NOT NULL PRIMARY KEY);\n"), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, "internal", "sqlstore", "migrations", engine, "9999_next.sql")] = sql
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}

// schema is the version of the databases of all but the next version.
var schema = app.Schema()
