package wakehook

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/filelock"
	"github.com/shoal-dev/shoal/internal/wholefile"
)

// handWindow is for how long messages that were printed are left to the terminal that has got them.
const handWindow = time.Minute

// delivery are the messages that a hook has printed last.
type delivery struct {
	ID     string `json:"id"`
	Cursor string `json:"cursor"`
	// Seen says that the model has them, and Acked that the server knows.
	Seen  bool `json:"seen"`
	Acked bool `json:"acked"`
}

// record is what the hooks of one coding agent remember.
type record struct {
	Delivery delivery `json:"delivery"`
	// Handed are the messages that were printed within the last minute.
	Handed map[shoal.MessageID]time.Time `json:"handed"`
}

// state is the files of the hooks of one coding agent, in a directory with those of all that wait for the
// same agent on this machine.
type state struct {
	dir  string
	name string // of the owner
}

func (s state) path(extension string) string { return filepath.Join(s.dir, s.name+extension) }

// load reads the record. One that cannot be read is empty: then messages are printed again.
func (s state) load() record { return loadRecord(s.path(".json")) }

func loadRecord(path string) (r record) {
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &r) != nil {
		return record{}
	}
	return r
}

func (s state) save(r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return wholefile.Replace(s.path(".json"), text)
}

// markSeen remembers that the model has a delivery, if that is the last one, and returns it.
func (s state) markSeen(prompt string) (delivery, error) {
	r := s.load()
	if r.Delivery.ID == "" || r.Delivery.Seen || !strings.Contains(prompt, r.Delivery.ID) {
		return delivery{}, nil
	}
	r.Delivery.Seen = true
	return r.Delivery, s.save(r)
}

// markAcked remembers that the server knows that the model has a delivery.
func (s state) markAcked(d delivery) error {
	r := s.load()
	if r.Delivery.ID != d.ID {
		return nil
	}
	r.Delivery.Acked = true
	return s.save(r)
}

// setBusy remembers whether the model is at work.
func (s state) setBusy(busy bool) error {
	if busy {
		return os.WriteFile(s.path(".busy"), nil, 0o600)
	}
	if err := os.Remove(s.path(".busy")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s state) busy() bool {
	_, err := os.Stat(s.path(".busy"))
	return err == nil
}

// forget deletes the files of an owner that has ended: what it had not read is for another terminal now.
func (s state) forget() error {
	return errors.Join(s.setBusy(false), removed(s.path(".json")), removed(s.path(".lock")))
}

func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// hand records a delivery, unless a hook of this machine has printed one of its messages within the last
// minute: of this owner since began, of others at any time.
func (s state) hand(d delivery, messages []shoal.MessageID, now, began time.Time) (handed bool, err error) {
	lock, err := filelock.Try(filepath.Join(s.dir, "hand.lock"))
	if lock == nil || err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	files, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return false, err
	}
	for _, file := range files {
		own := file == s.path(".json")
		for id, at := range loadRecord(file).Handed {
			if own && at.Before(began) {
				at = began // it may be in the queue of the coding agent, whatever the time
			}
			if now.Sub(at) < handWindow && slices.Contains(messages, id) {
				return false, nil
			}
		}
	}
	r := record{Delivery: d, Handed: map[shoal.MessageID]time.Time{}}
	for id, at := range s.load().Handed {
		if now.Sub(at) < handWindow {
			r.Handed[id] = at
		}
	}
	for _, id := range messages {
		r.Handed[id] = now
	}
	return true, s.save(r)
}
