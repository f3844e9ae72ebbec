package connect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/shoal-dev/shoal"
)

// Change is what is to become of a file.
type Change struct {
	// Path is where the client looks for the file.
	Path string
	// Undo is what [Config.Without] needs to take the change back, or was given.
	Undo Memory

	real          string
	existed       bool
	remove        bool
	before, after string
	was, mode     fs.FileMode
	again         func() (Change, error) // reads the file and makes the same change again
}

// None reports whether the file stays as it is.
func (ch Change) None() bool {
	return ch.existed && !ch.remove && ch.before == ch.after && ch.mode == ch.was
}

// Closes reports whether others could read the file until now and no longer can.
func (ch Change) Closes() bool { return ch.existed && ch.was&^ch.mode != 0 }

// Diff shows the change as a unified diff, with the secrets made unreadable. It
// is empty if no line changes.
func (ch Change) Diff(secrets ...string) string {
	from, to := ch.Path, ch.Path
	if !ch.existed {
		from = os.DevNull
	}
	if ch.remove {
		to = os.DevNull
	}
	text := string(diff.Diff(from, []byte(ch.before), to, []byte(ch.after)))
	if _, body, cut := strings.Cut(text, "\n"); cut {
		text = body // the first line names the files a second time
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, Masked)
		}
	}
	return text
}

// Masked replaces a key, when a change is shown.
const Masked = "shoal_…"

// writeTries limits how often Write reads a file again that changes all the time.
const writeTries = 5

// Write makes the change. If the rest of the file has changed since it was read, as
// clients that run change theirs, it makes the same change to the new text, and ch
// becomes that change. It is a [shoal.Conflict] if the entry itself has changed; then,
// as after every error, the file is as it was.
func (ch *Change) Write() error {
	err := ch.writeOnce()
	for range writeTries - 1 {
		if !errors.Is(err, shoal.Conflict) {
			return err
		}
		next, failed := ch.again()
		if failed != nil {
			return failed
		}
		*ch = next
		err = ch.writeOnce()
	}
	return err
}

// writeOnce makes the change unless the file has changed.
func (ch *Change) writeOnce() error {
	const op = "connect.Write"
	now, err := os.ReadFile(ch.real)
	if errors.Is(err, fs.ErrNotExist) && !ch.existed {
		now, err = nil, nil
	}
	if err == nil && string(now) != ch.before {
		return changedMeanwhile(op, ch.Path)
	}
	if err == nil {
		if ch.remove {
			if err = os.Remove(ch.real); err == nil && ch.Undo.Dir {
				_ = os.Remove(filepath.Dir(ch.real)) // somebody else may have put something into it
			}
		} else {
			err = ch.replace()
		}
	}
	if err != nil {
		return &shoal.Error{Op: op, Kind: shoal.InvalidArgument, Msg: fmt.Sprintf("%s cannot be written: %v", ch.Path, err), Err: err}
	}
	return nil
}

func changedMeanwhile(op, path string) error {
	return shoal.E(op, shoal.Conflict, path+" has changed while you looked at it; do it again")
}

// replace writes the new text beside the file and puts it in its place.
func (ch *Change) replace() (err error) {
	dir := filepath.Dir(ch.real)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return writeFile(ch.real, []byte(ch.after), ch.mode)
}

// writeFile puts a file in the place of another one, whole.
func writeFile(path string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".shoal-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Memory is what is remembered of a change so that it can be taken back.
type Memory struct {
	// New says that the file was not there, Dir that its directory was not, and
	// Mode is what its mode was.
	New  bool        `json:"new"`
	Dir  bool        `json:"dir"`
	Mode fs.FileMode `json:"mode"`
	// Made counts the objects that were made around the entry, and around the
	// question for its key.
	Made []int `json:"made"`
	// After is the hash of the text after the change. In a text of that hash,
	// Put belongs in the place of Cut bytes at At.
	After string `json:"after"`
	At    int    `json:"at"`
	Cut   int    `json:"cut"`
	Put   []byte `json:"put"`
}

// remember makes the memory of a change to after, on top of an older one.
func (c *Config) remember(after string, made []int, before *Memory) Memory {
	out := Memory{New: !c.exists, Mode: c.mode, Made: made}
	if _, err := os.Stat(filepath.Dir(c.real)); errors.Is(err, fs.ErrNotExist) {
		out.Dir = true
	}
	origin, exact := c.text, true
	if before != nil {
		out.New, out.Dir, out.Mode = before.New, before.Dir, before.Mode
		known := min(len(before.Made), len(made)) // an earlier version may have made fewer pieces
		out.Made = slices.Concat(before.Made, made[known:])
		origin, exact = before.restore(c.text)
	}
	if !exact {
		return out
	}
	for out.At < min(len(origin), len(after)) && origin[out.At] == after[out.At] {
		out.At++
	}
	tail := 0
	for tail < min(len(origin), len(after))-out.At && origin[len(origin)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	out.Put, out.Cut, out.After = []byte(origin[out.At:len(origin)-tail]), len(after)-tail-out.At, hash(after)
	return out
}

// restore returns the text before the change, if text is the one after it.
func (m *Memory) restore(text string) (before string, exact bool) {
	if m.After == "" || m.After != hash(text) || m.At < 0 || m.Cut < 0 || m.At+m.Cut > len(text) {
		return "", false
	}
	return text[:m.At] + string(m.Put) + text[m.At+m.Cut:], true
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
