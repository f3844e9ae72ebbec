package cli

import (
	"os"
	"path/filepath"
)

// ConfigDir returns the directory of the user's configuration: shoal in $XDG_CONFIG_HOME or
// ~/.config, on every platform.
func ConfigDir() (string, error) { return userDir("XDG_CONFIG_HOME", ".config") }

// StateDir returns the directory of what commands remember: shoal in $XDG_STATE_HOME or
// ~/.local/state, on every platform.
func StateDir() (string, error) { return userDir("XDG_STATE_HOME", ".local", "state") }

// userDir returns the directory shoal in that of a variable, or below the home directory.
func userDir(variable string, below ...string) (string, error) {
	dir := os.Getenv(variable)
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(append([]string{home}, below...)...)
	}
	return filepath.Join(dir, "shoal"), nil
}
