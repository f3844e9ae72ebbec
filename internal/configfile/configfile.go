// Package configfile reads the configuration file of Shoal: YAML, one key for each
// setting, named as its flag without the dashes in front.
//
//	addr: 127.0.0.1:7462
//	allow-private: [10.1.0.0/16]
//
//	f, err := configfile.Parse("shoal.yaml", text, []string{"addr", "allow-private"})
//	f.Values["addr"].Text // "127.0.0.1:7462"
//
// Guarantees:
//   - A text is read whole or refused, with the file and the line of everything that
//     is wrong in it; a key that nobody knows is wrong, and the one that was probably
//     meant is named.
//   - No value of the file is in an error: it may be a password.
//   - Any bytes are read or refused, at most [MaxSize] of them.
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

// MaxSize is how many bytes a configuration file may have.
const MaxSize = 64 << 10

// File is what a configuration file says.
type File struct {
	// Path is where it was read.
	Path string
	// Values holds the keys that are set. A key without a value is not.
	Values map[string]Value
}

// Value is what a key is set to.
type Value struct {
	// Text is the value of a key that has one, List the values of one with a list.
	Text string
	List []string
	// Line is where the value stands, from 1.
	Line int
}

// Source says where a value comes from, as PATH:LINE.
func (f *File) Source(key string) string {
	return fmt.Sprintf("%s:%d", f.Path, f.Values[key].Line)
}

// Read reads the file at path. The error is of kind NotFound when there is none, and
// InvalidArgument when it cannot be read.
func Read(path string, known []string) (*File, error) {
	const op = "configfile.Read"
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &shoal.Error{Op: op, Kind: shoal.NotFound, Msg: fmt.Sprintf("There is no configuration file %s.", path), Err: err}
	case err != nil:
		return nil, &shoal.Error{Op: op, Kind: shoal.InvalidArgument, Msg: fmt.Sprintf("The configuration file %s cannot be read: %v.", path, reason(err)), Err: err}
	}
	return Parse(path, text, known)
}

// reason is what the system said, without the path that is named already.
func reason(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// Parse reads the text of a file whose keys may be known ones. path is only named.
// The error is of kind InvalidArgument and names everything that is wrong.
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

// reader is one text being read.
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
		r.wrong(n.Line, "the file must hold settings, such as `addr: 127.0.0.1:7462`")
		return
	}
	given := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := name.Value
		switch {
		case name.Kind != yaml.ScalarNode:
			r.wrong(name.Line, "the name of a setting is one word")
		case !slices.Contains(r.known, key):
			r.unknown(name.Line, key)
		case given[key] != 0:
			r.wrong(name.Line, "%s is set twice, in line %d already", key, given[key])
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
		r.wrong(line, "there is no setting %q; did you mean %s?", key, meant)
		return
	}
	r.wrong(line, "there is no setting %q; `shoal serve --print-config` lists them all", key)
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
				r.wrong(item.Line, "%s takes a list of words", key)
				return
			}
			value.List = append(value.List, item.Value)
		}
	default:
		r.wrong(n.Line, "%s takes a value or a list of values", key)
		return
	}
	r.file.Values[key] = value
}
