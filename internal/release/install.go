package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// PreviousSuffix follows the name of a program in that of the one before it.
const PreviousSuffix = ".previous"

// Install puts a file in the place of a program, and keeps the program as
// program.previous. At every moment there is a program, whole, under its name.
func Install(file, program string) error {
	if err := keep(program, program+PreviousSuffix); err != nil {
		return fmt.Errorf("keep the program that is replaced: %w", err)
	}
	return replace(file, program)
}

// Exchange puts program.previous in the place of a program, which becomes the previous
// one. At every moment there is a program, whole, under its name.
func Exchange(program string) error {
	const back = ".back"
	if _, err := os.Stat(program + PreviousSuffix); err != nil {
		return err
	}
	if err := keep(program, program+back); err != nil {
		return err
	}
	if err := replace(program+PreviousSuffix, program); err != nil {
		return err
	}
	return os.Rename(program+back, program+PreviousSuffix)
}

// keep gives a program a second name, which may be another one's.
func keep(program, name string) error {
	temporary := name + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(program, temporary); err != nil {
		if err := copyProgram(program, temporary); err != nil { // some file systems have no links
			return err
		}
	}
	return os.Rename(temporary, name)
}

func copyProgram(program, name string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o755)
}

// replace renames a file to the name of a program, which may be running.
func replace(file, program string) error {
	if runtime.GOOS == "windows" {
		// A program that runs there cannot be replaced, but renamed.
		aside := program + ".old"
		_ = os.Remove(aside) // it may still run, or not be there
		if err := os.Rename(program, aside); err != nil {
			return err
		}
	}
	if err := os.Rename(file, program); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(program))
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return dir.Close() // directories cannot be flushed there
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ManagedBy returns the command that upgrades a program that a package manager has
// installed, empty if none has. The path must have no symbolic links in it.
func ManagedBy(ctx context.Context, program string) string {
	slashed := filepath.ToSlash(program)
	switch {
	case strings.Contains(slashed, "/Cellar/"):
		return "brew upgrade shoal"
	case strings.Contains(slashed, "/node_modules/"):
		_, below, _ := strings.Cut(slashed, "/node_modules/")
		parts := strings.SplitN(below, "/", 3)
		name := parts[0]
		if strings.HasPrefix(name, "@") && len(parts) > 1 {
			name += "/" + parts[1]
		}
		return "npm install -g " + name + "@latest"
	case strings.Contains(slashed, "/scoop/apps/"):
		return "scoop update shoal"
	case strings.HasPrefix(slashed, "/nix/store/"):
		return "nix profile upgrade shoal"
	case strings.HasPrefix(slashed, "/snap/"):
		return "snap refresh shoal"
	}
	for _, m := range []struct{ query, flag, command string }{
		{"dpkg", "-S", "apt-get install --only-upgrade shoal, or install the newer .deb file"},
		{"rpm", "-qf", "dnf upgrade shoal, or install the newer .rpm file"},
	} {
		if exec.CommandContext(ctx, m.query, m.flag, program).Run() == nil {
			return m.command
		}
	}
	return ""
}
