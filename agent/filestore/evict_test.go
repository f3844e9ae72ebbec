package filestore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

func begin(t *testing.T, s agent.Store, conversation, text string) {
	t.Helper()
	turn := agent.Turn{ID: "t", Attempt: 1, Input: []agent.Message{agent.Say(text)}, StartedAt: time.Unix(1, 0).UTC()}
	if err := s.Begin(t.Context(), conversation, turn); err != nil {
		t.Fatal(err)
	}
}

// However many conversations are used, and however long they are, a bounded part of them
// stays in memory. The others are as they were.
func TestUnusedConversationsAreEvicted(t *testing.T) {
	for name, c := range map[string]struct{ count, size int }{"many": {600, 10}, "long": {12, 4 << 20}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			id := func(i int) string { return fmt.Sprint("c", i) }
			text := func(i int) string { return strings.Repeat(fmt.Sprint(i, " "), c.size/2) }
			for i := range c.count {
				begin(t, s, id(i), text(i))
			}
			for i := range c.count {
				if _, err := s.Load(t.Context(), "none-"+id(i)); !errors.Is(err, agent.ErrNotFound) {
					t.Fatal(err)
				}
			}
			if n, size := s.Held(); n > 256 || size > 16<<20 {
				t.Errorf("%d conversations with %d bytes are in memory", n, size)
			}
			for i := range c.count {
				r, err := s.Load(t.Context(), id(i))
				if err != nil || r.Open == nil || r.Open.Turn.Input[0].Text() != text(i) {
					t.Fatalf("%s is not as it was: %v", id(i), err)
				}
				if err := s.End(t.Context(), id(i), ref(1), agent.TurnEnd{Outcome: agent.Completed}); err != nil {
					t.Fatal(err)
				}
			}
			if n, size := s.Held(); n > 256 || size > 16<<20 {
				t.Errorf("after all were read again, %d conversations with %d bytes are in memory", n, size)
			}
		})
	}
}

// A conversation that leaves the memory keeps its revision, also after it was replaced.
func TestRevisionSurvivesCacheEviction(t *testing.T) {
	s := open(t, t.TempDir())
	for i, write := range story {
		if err := write(t, s); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		before := load(t, s)
		for other := range 300 {
			_, _ = s.Load(t.Context(), fmt.Sprint("other", other)) // pushes it out
		}
		if after := load(t, s); after != before {
			t.Errorf("after write %d it was\n%s\nand read again\n%s", i, before, after)
		}
	}
}

// Conversations leave the memory and come back while many use them.
func TestConversationsAreEvictedUnderLoad(t *testing.T) {
	s := open(t, t.TempDir())
	const conversations, callers = 280, 8
	for i := range conversations {
		begin(t, s, fmt.Sprint("c", i), "hello")
	}
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range 2 * conversations {
				r, err := s.Load(t.Context(), fmt.Sprint("c", (i*(caller+1))%conversations))
				if err != nil || r.Open == nil {
					t.Errorf("caller %d: %v", caller, err)
				}
			}
		})
	}
	all.Wait()
	if n, _ := s.Held(); n > 256 {
		t.Errorf("%d conversations are in memory", n)
	}
}

// List and Expire read every conversation, and keep no more of them in memory than others do.
func TestListKeepsMemoryBounded(t *testing.T) {
	s := open(t, t.TempDir())
	const conversations = 300
	for i := range conversations {
		begin(t, s, fmt.Sprint("Ü/c ", i), "hello")
	}
	list, err := s.List(t.Context(), agent.Listed{}, 1000)
	if err != nil || len(list) != conversations || list[0].ID != "Ü/c 0" {
		t.Fatalf("%d conversations in the list, %v", len(list), err)
	}
	if n, err := s.Expire(t.Context(), time.Unix(2, 0), 290); n != 290 || err != nil {
		t.Fatalf("%d expired, %v", n, err)
	}
	if n, size := s.Held(); n > 256 || size > 256*1000 {
		t.Errorf("%d conversations with %d bytes are in memory", n, size)
	}
}

// A deleted conversation does not come back with the files.
func TestDeletedConversationsStayAway(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	begin(t, s, "kept", "hello")
	begin(t, s, "c", "hello")
	must(t, s.Delete(t.Context(), "c"))
	s.Close()
	s = open(t, dir)
	if got := load(t, s); got != "nothing" {
		t.Errorf("the deleted conversation is %s", got)
	}
	if list, err := s.List(t.Context(), agent.Listed{}, 10); err != nil || len(list) != 1 || list[0].ID != "kept" {
		t.Errorf("the list has %v, %v", list, err)
	}
}
