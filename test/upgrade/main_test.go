// Package upgrade upgrades the real binary from a release server of this machine, while a
// client posts, and takes it back: nothing that was answered may be lost, whatever fails
// and wherever the upgrade is killed.
package upgrade_test

import (
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
	for _, version := range []string{oldVersion, newVersion, nextVersion} {
		path, flags := filepath.Join(dir, "shoal-"+version), []string{"-ldflags", "-X main.version=" + version}
		if version == nextVersion {
			built[version], err = program.BuildMigrating(path, migration, flags...)
		} else {
			built[version], err = program.Build(path, flags...)
		}
		if err != nil {
			return 0, err
		}
	}
	return run(), nil
}

// migration adds a table that must be filled when a message is stored, so that an older
// program must not write: it is not additive.
const migration = "CREATE TABLE added_by_the_next_version (id TEXT NOT NULL PRIMARY KEY);\n"

// schema is the version of the databases of all but the next version.
var schema = app.Schema()
