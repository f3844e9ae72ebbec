package wakehook

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
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

const (
	// aloneEvery and aloneTries are how often, and how many times, a hook tries to be alone.
	aloneEvery = 2 * time.Millisecond
	aloneTries = 2000
)

// delivery are the messages that a hook has printed last.
type delivery struct {
	ID     string `json:"id"`
	Cursor string `json:"cursor"`
	// Seen says that the model has them, and Acked that the server knows.
	Seen  bool `json:"seen"`
	Acked bool `json:"acked"`
	// Mentions are those among the messages, the last one of each space.
	Mentions []unanswered `json:"mentions,omitempty"`
}

// unanswered is a mention that the model may have to answer.
type unanswered struct {
	Space   shoal.SpaceID   `json:"space"`
	Message shoal.MessageID `json:"message"`
	Seq     int64           `json:"seq"`
	From    shoal.EntityID  `json:"from"`
}

// record is what the hooks of one coding agent remember.
type record struct {
	Delivery delivery `json:"delivery"`
	// Handed are the messages that were printed within the last minute.
	Handed map[shoal.MessageID]time.Time `json:"handed"`
	// Read are the mentions that the model has got since its last turn ended.
	Read []unanswered `json:"read,omitempty"`
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

// change changes the record. Hooks of several processes do that.
func (s state) change(do func(*record)) error {
	return s.alone(func() error {
		r := s.load()
		do(&r)
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return wholefile.Replace(s.path(".json"), text)
	})
}

// alone calls do while no other hook of the agent on this machine is in here. Each is so for less than
// a millisecond.
func (s state) alone(do func() error) error {
	for range aloneTries {
		lock, err := filelock.Try(filepath.Join(s.dir, "lock"))
		if err != nil {
			return err
		}
		if lock != nil {
			return errors.Join(do(), lock.Close())
		}
		<-time.After(aloneEvery)
	}
	return errors.New("another hook does not give the lock in " + s.dir + " up")
}

// markSeen remembers that the model has a delivery, if that is the last one and in the prompt.
func (s state) markSeen(prompt string) error {
	return s.change(func(r *record) {
		if r.Delivery.Seen || r.Delivery.ID == "" || !strings.Contains(prompt, r.Delivery.ID) {
			return
		}
		r.Delivery.Seen = true
		r.Read = append(r.Read, r.Delivery.Mentions...)
		r.Read = r.Read[max(0, len(r.Read)-maxRead):]
	})
}

// maxRead is how many mentions are remembered: a turn can go on for hours.
const maxRead = 32

// takeRead returns the mentions that the model has got since its last turn ended, once.
func (s state) takeRead() (read []unanswered, err error) {
	if len(s.load().Read) == 0 {
		return nil, nil
	}
	err = s.change(func(r *record) { read, r.Read = r.Read, nil })
	return read, err
}

// putBack undoes takeRead.
func (s state) putBack(read []unanswered) error {
	return s.change(func(r *record) { r.Read = append(read, r.Read...) })
}

// markAcked remembers that the server knows that the model has a delivery.
func (s state) markAcked(d delivery) error {
	return s.change(func(r *record) {
		r.Delivery.Acked = r.Delivery.Acked || r.Delivery.ID == d.ID
	})
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

// setThread remembers the conversation of Codex that was used last, which is the one to wake.
func (s state) setThread(id string) error { return wholefile.Replace(s.path(".thread"), []byte(id)) }

func (s state) thread() string {
	text, err := os.ReadFile(s.path(".thread"))
	if err != nil {
		return ""
	}
	return string(text)
}

// forget deletes the files of an owner that has ended: what it had not read is for another terminal now.
func (s state) forget() error {
	return errors.Join(s.setBusy(false), s.endAsks(), removed(s.path(".json")), removed(s.path(".thread")), removed(s.path(".lock")))
}

// beginAsk remembers that a hook asks for a call on the server, and isAsking whether it should still.
func (s state) beginAsk(call string) error { return os.WriteFile(s.path(askMark+call), nil, 0o600) }

func (s state) isAsking(call string) bool {
	_, err := os.Stat(s.path(askMark + call))
	return err == nil
}

// endAsk has the hooks that ask for a call end, because the terminal has answered. endAsks ends all.
func (s state) endAsk(call string) error { return removed(s.path(askMark + call)) }

func (s state) endAsks() (err error) {
	files, _ := filepath.Glob(s.path(askMark + "*")) // the pattern is valid
	for _, file := range files {
		err = errors.Join(err, removed(file))
	}
	return err
}

// askMark begins the extension of the files of calls that are asked for.
const askMark = ".ask-"

func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// hand records a delivery and returns true, unless a hook of this machine has given one of its messages
// away within the last minute: one of this owner since the model was idle, one of another at any time.
func (s state) hand(d delivery, messages []shoal.MessageID, now, idle time.Time) (handed bool, err error) {
	err = s.change(func(r *record) {
		if handed = !s.isHanded(messages, now, idle); !handed {
			return
		}
		r.Delivery = d
		maps.DeleteFunc(r.Handed, func(_ shoal.MessageID, at time.Time) bool { return now.Sub(at) >= handWindow })
		if r.Handed == nil {
			r.Handed = map[shoal.MessageID]time.Time{}
		}
		for _, id := range messages {
			r.Handed[id] = now
		}
	})
	return handed && err == nil, err
}

func (s state) isHanded(messages []shoal.MessageID, now, idle time.Time) bool {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.json")) // the pattern is valid
	for _, file := range files {
		for id, at := range loadRecord(file).Handed {
			if file == s.path(".json") && at.Before(idle) {
				at = idle // until then it may have been in the queue of the coding agent
			}
			if now.Sub(at) < handWindow && slices.Contains(messages, id) {
				return true
			}
		}
	}
	return false
}
