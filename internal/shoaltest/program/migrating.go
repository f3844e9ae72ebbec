package program

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// BuildMigrating is Build of a program that has one migration more than the source: sql, for
// both databases. It also writes files that begin with path.
func BuildMigrating(path, sql string, flags ...string) (*Shoal, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	migration, list := path+".sql", path+".overlay.json"
	replace := map[string]string{}
	for _, engine := range []string{"sqlite", "postgres"} {
		replace[filepath.Join(root, "internal", "sqlstore", "migrations", engine, "9999_next.sql")] = migration
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	for file, content := range map[string]string{migration: sql, list: string(text)} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	return Build(path, append([]string{"-overlay", list}, flags...)...)
}
