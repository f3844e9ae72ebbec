package filestore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/filestore"
	"github.com/shoal-dev/shoal/agent/storetest"
)

func open(t *testing.T, dir string) *filestore.Store {
	t.Helper()
	s, err := filestore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestFilestoreConformance(t *testing.T) {
	storetest.Exercise(t, func(t *testing.T) agent.Store { return open(t, t.TempDir()) })
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// story is a conversation's life; each write leaves another record.
var story = []func(t *testing.T, s agent.Store) error{
	func(t *testing.T, s agent.Store) error {
		return s.Begin(t.Context(), "c", agent.Turn{ID: "t", Attempt: 1, Input: []agent.Message{agent.Say("one\ntwo")}, StartedAt: time.Unix(1, 0).UTC()})
	},
	func(t *testing.T, s agent.Store) error { return s.Commit(t.Context(), "c", ref(1), step(0, false)) },
	func(t *testing.T, s agent.Store) error {
		return s.End(t.Context(), "c", ref(1), agent.TurnEnd{Outcome: agent.Waiting})
	},
	func(t *testing.T, s agent.Store) error {
		return s.Begin(t.Context(), "c", agent.Turn{ID: "t", Attempt: 2})
	},
	func(t *testing.T, s agent.Store) error { return s.Commit(t.Context(), "c", ref(2), step(0, true)) },
	func(t *testing.T, s agent.Store) error {
		r, err := s.Load(t.Context(), "c")
		r.DisplayName = "named"
		return errors.Join(err, s.Replace(t.Context(), r))
	},
	func(t *testing.T, s agent.Store) error { return s.Commit(t.Context(), "c", ref(2), step(1, true)) },
	func(t *testing.T, s agent.Store) error {
		return s.End(t.Context(), "c", ref(2), agent.TurnEnd{Outcome: agent.Completed, Rules: map[string]agent.PermissionRule{"x": agent.AlwaysAllow}})
	},
}

func ref(attempt int) agent.TurnRef { return agent.TurnRef{ID: "t", Attempt: attempt} }

func step(index int, done bool) agent.Step {
	s := agent.Step{Index: index, Done: done, Assistant: agent.Message{Role: agent.Assistant, Parts: []agent.Part{
		agent.Text("looking \u2028 ü"), {Type: agent.CallPart, Call: &agent.ToolCall{ID: "k", Name: "x", Arguments: "{}"}},
	}}}
	if done {
		s.Results = []agent.ToolResult{{CallID: "k", Name: "x", Status: agent.ResultOK, Text: "seen"}}
	}
	return s
}

func load(t *testing.T, s agent.Store) string {
	t.Helper()
	r, err := s.Load(t.Context(), "c")
	if errors.Is(err, agent.ErrNotFound) {
		return "nothing"
	}
	if err != nil {
		t.Fatal(err)
	}
	return jsonOf(t, r)
}

func TestWritesSurviveReopening(t *testing.T) {
	dir := t.TempDir()
	var before string
	for i, write := range story {
		s := open(t, dir)
		if i > 0 && load(t, s) != before {
			t.Fatalf("after write %d the reopened store has\n%s\nwant\n%s", i-1, load(t, s), before)
		}
		if err := write(t, s); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		if now := load(t, s); now == before {
			t.Fatalf("write %d changed nothing", i)
		} else {
			before = now
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A crash may cut the last write anywhere. Whatever is left, the store is as it
// was before that write or, if the line is whole, after it; and it goes on.
func TestTruncatedLastLineIsDroppedAtEveryByte(t *testing.T) {
	for i, write := range story {
		dir := t.TempDir()
		s := open(t, dir)
		for _, earlier := range story[:i] {
			if err := earlier(t, s); err != nil {
				t.Fatal(err)
			}
		}
		was, before := journalText(dir), load(t, s)
		if err := write(t, s); err != nil {
			t.Fatal(err)
		}
		now, after := journalText(dir), load(t, s)
		s.Close()
		if !bytes.HasPrefix(now, was) {
			continue // a Replace: the file is there whole or not at all
		}
		for size := len(was); size <= len(now); size++ {
			t.Run(fmt.Sprintf("write %d cut at %d", i, size), func(t *testing.T) {
				writeJournal(t, dir, now[:size])
				s := open(t, dir)
				defer s.Close()
				want := before
				if size == len(now) {
					want = after
				}
				if got := load(t, s); got != want {
					t.Fatalf("got\n%s\nwant\n%s", got, want)
				}
				if size%16 > 0 || size == len(now) {
					return // going on is the same from everywhere
				}
				if err := write(t, s); err != nil {
					t.Fatalf("the write again: %v", err)
				}
				if got := load(t, s); got != after {
					t.Fatalf("after the write again got\n%s\nwant\n%s", got, after)
				}
				if !bytes.Equal(journalText(dir), now) {
					t.Fatal("the journal is not what it was after the first write")
				}
			})
		}
	}
}

func TestDamageBeforeTheLastLineIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for _, write := range story[:4] {
		if err := write(t, s); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	whole := journalText(dir)
	for at := range len(whole) - 1 { // without its line feed the last line is a torn one
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x01
		writeJournal(t, dir, damaged)
		s := open(t, dir)
		if r, err := s.Load(t.Context(), "c"); err == nil {
			t.Fatalf("a flipped bit in byte %d of %d was not noticed; loaded %s", at, len(whole), jsonOf(t, r))
		}
		s.Close()
	}
	s = open(t, dir)
	if _, err := s.Load(t.Context(), "c"); err != nil {
		t.Logf("the damaged conversation says: %v", err)
	}
	if err := s.Begin(t.Context(), "other", agent.Turn{ID: "t", Attempt: 1}); err != nil {
		t.Errorf("the other conversations suffer: %v", err)
	}
}

func TestLeftoversOfCrashedReplaceAreRemoved(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "c.jsonl.new")
	if err := os.WriteFile(left, []byte("half a rec"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", left, err)
	}
}

func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := filestore.Open(dir); !errors.Is(err, agent.ErrConflict) {
		t.Fatalf("a second Open returned %v, want a Conflict", err)
	}
	s.Close()
	again := open(t, dir)
	if _, err := s.Load(t.Context(), "c"); err == nil || errors.Is(err, agent.ErrNotFound) {
		t.Errorf("the closed store answers %v", err)
	}
	if _, err := again.Load(t.Context(), "c"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("the new store answers %v", err)
	}
}

func TestAFailedWriteBreaksTheStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := story[0](t, s); err != nil {
		t.Fatal(err)
	}
	before := load(t, s)
	// A directory in the place of the journal refuses every write.
	path := filepath.Join(dir, "c.jsonl")
	aside := filepath.Join(dir, "aside")
	must(t, os.Rename(path, aside), os.Mkdir(path, 0o700))
	if err := story[1](t, s); err == nil {
		t.Fatal("the write succeeded")
	}
	if _, err := s.Load(t.Context(), "c"); err == nil {
		t.Error("the store shows what it could not write")
	}
	s.Close()
	must(t, os.Remove(path), os.Rename(aside, path))
	if got := load(t, open(t, dir)); got != before {
		t.Errorf("opened again it has\n%s\nwant\n%s", got, before)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func journalText(dir string) []byte {
	text, err := os.ReadFile(filepath.Join(dir, "c.jsonl"))
	if err != nil {
		return nil
	}
	return text
}

func writeJournal(t *testing.T, dir string, text []byte) {
	t.Helper()
	path := filepath.Join(dir, "c.jsonl")
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) { // writing over a file makes some systems sync it
		t.Fatal(err)
	}
	must(t, os.WriteFile(path, text, 0o600))
}
