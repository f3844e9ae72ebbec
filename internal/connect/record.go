package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shoal-dev/shoal"
)

// Record is what is known of an entry that was written: enough to take it back,
// and its key with it. It holds no key.
type Record struct {
	Client  string          `json:"client"`
	Path    string          `json:"path"`
	Entry   string          `json:"entry"`
	URL     string          `json:"url"`
	Session shoal.SessionID `json:"session"`
	Agent   shoal.EntityID  `json:"agent"`
	KeyID   shoal.KeyID     `json:"keyId"`
	Undo    Memory          `json:"undo"`
}

// Records keeps records in the files of a directory, which it makes.
type Records struct{ Dir string }

// Records returns where the machine keeps them.
func (m Machine) Records() Records {
	return Records{filepath.Join(m.state(), "connect")}
}

// state is the directory of what programs of Shoal remember.
func (m Machine) state() string {
	return filepath.Join(m.or("XDG_STATE_HOME", filepath.Join(m.Home, ".local", "state")), "shoal")
}

func (r Records) file(path, entry string) string {
	return filepath.Join(r.Dir, hash(path + "\n" + entry)[:24]+".json")
}

// Of returns the record of the entry of a file, nil if there is none.
func (r Records) Of(path, entry string) (*Record, error) {
	const op = "connect.Records.Of"
	file := r.file(path, entry)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out Record
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil, &shoal.Error{Op: op, Kind: shoal.InvalidArgument, Msg: fmt.Sprintf("%s cannot be read: delete it, and revoke the key of the entry yourself", file), Err: err}
	}
	return &out, nil
}

// Keep stores a record, in the place of an older one.
func (r Records) Keep(rec Record) error {
	text, err := json.MarshalIndent(rec, "", "  ")
	if err == nil {
		err = os.MkdirAll(r.Dir, 0o700)
	}
	if err == nil {
		err = writeFile(r.file(rec.Path, rec.Entry), append(text, '\n'), 0o600)
	}
	if err != nil {
		return &shoal.Error{Op: "connect.Records.Keep", Kind: shoal.InvalidArgument, Msg: fmt.Sprintf("%s cannot be written", r.Dir), Err: err}
	}
	return nil
}

// Forget deletes the record of the entry of a file, if there is one.
func (r Records) Forget(path, entry string) error {
	if err := os.Remove(r.file(path, entry)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &shoal.Error{Op: "connect.Records.Forget", Kind: shoal.InvalidArgument, Msg: "the record of the entry cannot be deleted", Err: err}
	}
	return nil
}
