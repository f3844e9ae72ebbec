// Package configfile parses the configuration file of Shoal: YAML with one key for each
// setting, named like its flag without the leading dashes.
//
//	addr: 127.0.0.1:7462
//	allow-private: [10.1.0.0/16]
//
//	f, err := configfile.Parse("shoal.yaml", text, []string{"addr", "allow-private"})
//	f.Values["addr"].Text // "127.0.0.1:7462"
//
// Guarantees:
//   - A text is accepted completely or rejected with the file and line of every error. For an
//     unknown key, the error suggests the key that was probably meant.
//   - Errors contain no value of the file, because it may be a password.
//   - Any input of at most [MaxSize] bytes is accepted or rejected without a panic.
package configfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/yamltext"
)

// MaxSize limits the bytes of a configuration file.
const MaxSize = 64 << 10

// File is the content of a configuration file.
type File struct {
	// Path is the path of the file.
	Path string
	// Values contains the keys that are set. A key without a value is not set.
	Values map[string]Value
}

// Value is the value of a key.
type Value struct {
	// Text is a single value, List the values of a list.
	Text string
	List []string
	// Line is the line of the value, from 1.
	Line int
}

// Source returns the origin of a value as PATH:LINE.
func (f *File) Source(key string) string {
	return fmt.Sprintf("%s:%d", f.Path, f.Values[key].Line)
}

// Read reads the file at path. The error is of kind NotFound if the file does not exist, and
// InvalidArgument if it cannot be read or parsed.
func Read(path string, known []string) (*File, error) {
	const op = "configfile.Read"
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &shoal.Error{Op: op, Kind: shoal.NotFound, Msg: fmt.Sprintf("Configuration file %s not found.", path), Err: err}
	case err != nil:
		return nil, &shoal.Error{Op: op, Kind: shoal.InvalidArgument, Msg: fmt.Sprintf("The configuration file %s cannot be read: %v.", path, reason(err)), Err: err}
	}
	return Parse(path, text, known)
}

// reason returns the message of the system without the path, which the caller reports itself.
func reason(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// Parse parses the text of a file with the given valid keys. path is used only in errors. The
// error is of kind InvalidArgument and reports all problems.
func Parse(path string, text []byte, known []string) (*File, error) {
	r := reader{file: &File{Path: path, Values: map[string]Value{}}, known: known}
	if len(text) > MaxSize {
		r.wrong(1, "the file has more than %d bytes", MaxSize)
	} else {
		r.read(text)
	}
	if len(r.problems) > 0 {
		return nil, shoal.E("configfile.Parse", shoal.InvalidArgument, strings.Join(r.problems, "; "))
	}
	return r.file, nil
}

// reader is the state of one parse.
type reader struct {
	file     *File
	known    []string
	problems []string
}

func (r *reader) wrong(line int, format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf("%s:%d: ", r.file.Path, max(line, 1))+fmt.Sprintf(format, args...))
}

func (r *reader) read(text []byte) {
	document, err := yamltext.Read(text)
	var broken *yamltext.Error
	if errors.As(err, &broken) {
		r.problems = append(r.problems, fmt.Sprintf("%s:%s: the file is not YAML: %s; one setting looks like `addr: 127.0.0.1:7462`", r.file.Path, broken.Position, broken.Reason))
		return
	}
	if document.Kind == yaml.DocumentNode && len(document.Content) == 1 {
		r.settings(document.Content[0])
	}
}

func (r *reader) settings(n *yaml.Node) {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return
	case n.Kind != yaml.MappingNode:
		r.wrong(n.Line, "the file must contain settings, such as `addr: 127.0.0.1:7462`")
		return
	}
	given := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := name.Value
		switch {
		case name.Kind != yaml.ScalarNode:
			r.wrong(name.Line, "the name of a setting must be one word")
		case !slices.Contains(r.known, key):
			r.unknown(name.Line, key)
		case given[key] != 0:
			r.wrong(name.Line, "%s is set twice; it is already set in line %d", key, given[key])
		default:
			given[key] = name.Line
			r.setting(key, value)
		}
	}
}

func (r *reader) unknown(line int, key string) {
	if len(key) > 60 {
		key = key[:60]
	}
	if meant := Closest(key, r.known); meant != "" {
		r.wrong(line, "unknown setting %q; did you mean %s?", key, meant)
		return
	}
	r.wrong(line, "unknown setting %q; `shoal serve --print-config` lists all settings", key)
}

func (r *reader) setting(key string, n *yaml.Node) {
	value := Value{Line: n.Line}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return
		}
		value.Text = n.Value
	case yaml.SequenceNode:
		value.List = []string{}
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode || item.ShortTag() == "!!null" {
				r.wrong(item.Line, "%s must be a list of words", key)
				return
			}
			value.List = append(value.List, item.Value)
		}
	default:
		r.wrong(n.Line, "%s must be a value or a list of values", key)
		return
	}
	r.file.Values[key] = value
}
