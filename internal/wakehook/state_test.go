package wakehook

import (
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// A message is left to the terminal that has got it for a minute, and to the one that may have it in its
// queue for a minute after its hook has begun.
func TestAMessageIsForOneTerminal(t *testing.T) {
	t.Parallel()
	dir, start := t.TempDir(), time.Now()
	left, right := state{dir: dir, name: "claude-1"}, state{dir: dir, name: "claude-2"}
	for i, step := range []struct {
		at     time.Duration
		by     state
		began  time.Duration
		of     []shoal.MessageID
		handed bool
	}{
		{at: 0, by: left, of: []shoal.MessageID{"a"}, handed: true},
		{at: time.Second, by: right, of: []shoal.MessageID{"a"}, handed: false},
		{at: 2 * time.Second, by: right, of: []shoal.MessageID{"b", "a"}, handed: false},
		{at: 3 * time.Second, by: right, of: []shoal.MessageID{"b"}, handed: true},
		{at: 4 * time.Second, by: left, of: []shoal.MessageID{"c"}, handed: true},
		{at: 5 * time.Second, by: right, of: []shoal.MessageID{"a"}, handed: false},
		{at: 61 * time.Second, by: left, began: 50 * time.Second, of: []shoal.MessageID{"a"}, handed: false},
		{at: 61 * time.Second, by: right, of: []shoal.MessageID{"a"}, handed: true},
		{at: 10 * time.Minute, by: right, began: 9*time.Minute + 30*time.Second, of: []shoal.MessageID{"a"}, handed: false},
		{at: 11 * time.Minute, by: right, began: 9*time.Minute + 30*time.Second, of: []shoal.MessageID{"a"}, handed: true},
	} {
		handed, err := step.by.hand(delivery{ID: "d"}, step.of, start.Add(step.at), start.Add(step.began))
		if err != nil || handed != step.handed {
			t.Errorf("step %d: %v, %v; want %v", i, handed, err, step.handed)
		}
	}
	if err := right.forget(); err != nil {
		t.Fatal(err)
	}
	if handed, err := left.hand(delivery{ID: "d"}, []shoal.MessageID{"a"}, start.Add(11*time.Minute), start); err != nil || !handed {
		t.Errorf("when the other has ended: %v, %v", handed, err)
	}
}

// Only a prompt with the delivery says that the model has it, and only once.
func TestAPromptCarriesItsDelivery(t *testing.T) {
	t.Parallel()
	s := state{dir: t.TempDir(), name: "claude-1"}
	for i, step := range []struct {
		prompt string
		give   bool
		seen   bool
	}{
		{prompt: "d-1"},
		{give: true},
		{prompt: "a person types something"},
		{prompt: "… (delivery d-1):", seen: true},
		{prompt: "something else", seen: true},
	} {
		err := s.markSeen(step.prompt)
		if step.give {
			_, err = s.hand(delivery{ID: "d-1", Cursor: "c"}, nil, time.Now(), time.Now())
		}
		if d := s.load().Delivery; err != nil || d.Seen != step.seen {
			t.Errorf("step %d: %+v, %v", i, d, err)
		}
	}
	if err := s.markAcked(delivery{ID: "d-0"}); err != nil || s.load().Delivery.Acked {
		t.Errorf("the acknowledgment of another one: %+v, %v", s.load(), err)
	}
	if err := s.markAcked(delivery{ID: "d-1"}); err != nil || !s.load().Delivery.Acked {
		t.Errorf("its acknowledgment: %+v, %v", s.load(), err)
	}
}
