package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/shoal-dev/shoal"
)

// maxSize is how many bytes a client's file may have.
const maxSize = 64 << 20

// Config is a client's file as it was read.
type Config struct {
	// Path is where the client looks for it.
	Path string

	editor editor
	real   string // where the file itself is: Path may be a link
	text   string
	exists bool
	mode   fs.FileMode
}

// editor reads and edits the texts of files of one kind, which have an entry for each server.
type editor interface {
	// set puts the entry of a name into a text, and returns how many objects and arrays around each
	// piece of it were made.
	set(src, name string, t Target) (after string, made []int, err error)
	// cut takes the entry out again, with those that were made if nothing else is in them.
	cut(src, name string, made []int) (string, error)
	// read returns the fields of the entry, or nil if the file has no such entry.
	read(src, name string) (map[string]any, error)
	// rest returns what a text says besides the entry.
	rest(src, name string) (map[string]any, error)
}

// Open reads the file of a client at path. One that is not there is empty; one
// that cannot be read, or that the client could not read either, is an
// [shoal.InvalidArgument] error with the line that is wrong.
func Open(c *Client, path string) (*Config, error) { return open(c, path) }

func open(e editor, path string) (*Config, error) {
	const op = "connect.Open"
	out := &Config{Path: path, editor: e, real: path, mode: 0o600}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if link, err := os.Readlink(path); err == nil {
			return nil, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("%s is a link to %s, where nothing is", path, link))
		}
		return out, nil
	case err == nil:
		out.real = real
	}
	info, err := os.Stat(out.real)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxSize) {
		return nil, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("%s is not a file with settings", path))
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(out.real)
	}
	if err != nil {
		return nil, &shoal.Error{Op: op, Kind: shoal.InvalidArgument, Msg: fmt.Sprintf("%s cannot be read", path), Err: err}
	}
	out.text, out.exists, out.mode = string(text), true, info.Mode().Perm()
	if _, err := e.rest(out.text, ""); err != nil {
		return nil, out.refuse(op, err)
	}
	return out, nil
}

// refuse says that the file cannot be edited, and why.
func (c *Config) refuse(op string, err error) error {
	return &shoal.Error{
		Op: op, Kind: shoal.InvalidArgument, Err: err,
		Msg: fmt.Sprintf("%s is left as it is: %s", c.Path, message(err)),
	}
}

// message is the text of an error for people.
func message(err error) string {
	var e *shoal.Error
	if errors.As(err, &e) && e.Msg != "" {
		return e.Msg
	}
	return err.Error()
}

// Entry is what a file says of an MCP server.
type Entry struct {
	// URL is where it leads to. It is empty for a server that is a program.
	URL string
	// Key is the key in it. It is empty if it holds none.
	Key string
}

// Leads reports whether the entry leads to a Shoal server, which is named
// without /mcp.
func (e Entry) Leads(server string) bool {
	return strings.TrimSuffix(e.URL, "/") == mcpURL(server)
}

// Entry returns the entry of a name, and whether there is one.
func (c *Config) Entry(name string) (Entry, bool, error) {
	found, err := c.editor.read(c.text, name)
	if err != nil {
		return Entry{}, false, c.refuse("connect.Entry", err)
	}
	if found == nil {
		return Entry{}, false, nil
	}
	var out Entry
	for _, key := range []string{"url", "httpUrl"} {
		if url, is := found[key].(string); is {
			out.URL = url
		}
	}
	for _, key := range []string{"headers", "http_headers"} {
		headers, _ := found[key].(map[string]any)
		proof, _ := headers["Authorization"].(string)
		if key, is := strings.CutPrefix(proof, "Bearer "); is && !strings.ContainsAny(key, "$ ") {
			out.Key = key
		}
	}
	return out, true, nil
}

// With returns the change that makes the entry of a name lead to t. Other
// fields of the entry stay. before is what is remembered of the change that
// made the entry that is there, or nil.
func (c *Config) With(name string, t Target, before *Memory) (Change, error) {
	const op = "connect.With"
	after, made, err := c.editor.set(c.text, name, t)
	if err != nil {
		return Change{}, c.refuse(op, err)
	}
	out := c.change(after)
	switch {
	case t.Key != "":
		out.mode &= 0o700
	case !c.exists:
		out.mode = 0o644
	}
	out.Undo = c.remember(after, made, before)
	out.again = c.reread(op, name, func(now *Config) (Change, error) { return now.With(name, t, before) })
	return out, c.prove(op, name, after)
}

// Without returns the change that takes the entry of a name out of the file.
// before is what is remembered of the change that put it there; without it, the
// objects around the entry stay.
func (c *Config) Without(name string, before *Memory) (Change, error) {
	const op = "connect.Without"
	if before == nil {
		before = &Memory{}
	}
	after, exact := before.restore(c.text)
	if !exact {
		var err error
		if after, err = c.editor.cut(c.text, name, before.Made); err != nil {
			return Change{}, c.refuse(op, err)
		}
	}
	out := c.change(after)
	out.remove = before.New && strings.TrimSpace(after) == ""
	out.Undo = *before
	if before.Mode != 0 {
		out.mode = before.Mode
	}
	out.again = c.reread(op, name, func(now *Config) (Change, error) { return now.Without(name, before) })
	return out, c.prove(op, name, after)
}

// reread returns a function that reads the file again and makes a change, unless the entry is not
// what it was in c: nobody has agreed to the change of another entry.
func (c *Config) reread(op, name string, change func(*Config) (Change, error)) func() (Change, error) {
	return func() (Change, error) {
		now, err := open(c.editor, c.Path)
		if err != nil {
			return Change{}, err
		}
		was, err := c.editor.read(c.text, name)
		if err != nil {
			return Change{}, c.refuse(op, err)
		}
		is, err := now.editor.read(now.text, name)
		if err != nil {
			return Change{}, now.refuse(op, err)
		}
		if (was == nil) != (is == nil) || !same(was, is) {
			return Change{}, changedMeanwhile(op, c.Path)
		}
		return change(now)
	}
}

func (c *Config) change(after string) Change {
	return Change{Path: c.Path, real: c.real, existed: c.exists, before: c.text, after: after, mode: c.mode, was: c.mode}
}

// prove compares what the file says with what it would say, but for the entry.
func (c *Config) prove(op, name, after string) error {
	was, err := c.editor.rest(c.text, name)
	if err != nil {
		return c.refuse(op, err)
	}
	is, err := c.editor.rest(after, name)
	if err != nil || !same(was, is) {
		return c.refuse(op, errors.Join(err, unreadable("it is written in a way that only a person can change without harm; add or remove the entry by hand")))
	}
	return nil
}
