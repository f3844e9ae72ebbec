package background

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shoal-dev/shoal/internal/filelock"
	"github.com/shoal-dev/shoal/internal/wholefile"
)

// Definition says how a server in the background is started.
type Definition struct {
	Manager Manager `json:"manager"`
	// Program is the absolute path of the executable.
	Program string `json:"program"`
	// Args are the arguments of the program, and Env the variables that it needs. A
	// service manager passes on neither the environment of a terminal nor secrets, so
	// the program reads both from the file: see [Given].
	Args []string          `json:"args"`
	Env  map[string]string `json:"env"`
}

// Definition returns what Start stored, and whether there is such a definition.
func (s Service) Definition() (d Definition, defined bool, err error) {
	err = readJSON(filepath.Join(s.Data, definitionFile), &d)
	if errors.Is(err, fs.ErrNotExist) {
		return d, false, nil
	}
	return d, err == nil, err
}

// serviceCommand is the first argument of a program that a service manager starts. The
// second one is the data directory.
const serviceCommand = "__service"

// arguments are those with which the definition is looked up.
func (s Service) arguments() []string { return []string{serviceCommand, s.Data} }

// Given returns the arguments of a program: args, or if a service manager started the
// program, those of the definition, whose variables are then set in the environment.
func Given(args []string) ([]string, error) {
	if len(args) != 2 || args[0] != serviceCommand {
		return args, nil
	}
	d, defined, err := Service{Data: args[1]}.Definition()
	if err == nil && !defined {
		err = fmt.Errorf("%s not found in %s; `shoal up` writes it", definitionFile, args[1])
	}
	if err != nil {
		return nil, err
	}
	for name, value := range d.Env {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return d.Args, nil
}

// Lock makes sure that one command at a time starts, stops or replaces the server of the
// data directory. It waits for another one as long as ctx lasts.
func (s Service) Lock(ctx context.Context) (unlock func(), err error) {
	for {
		f, err := filelock.Try(filepath.Join(s.Data, commandFile))
		if err != nil {
			return nil, err
		}
		if f != nil {
			return func() { _ = f.Close() }, nil // nothing was written to it
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Replace(path, append(text, '\n'))
}
