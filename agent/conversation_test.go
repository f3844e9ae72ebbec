package agent

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func kind(t *testing.T, err error, want ErrorKind, words ...string) {
	t.Helper()
	var said *Error
	if !errors.As(err, &said) || said.Kind != want {
		t.Fatalf("got %v, want an error of kind %s", err, want)
	}
	for _, w := range words {
		if !strings.Contains(said.Msg, w) {
			t.Errorf("the error says %q, without %q", said.Msg, w)
		}
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func loaded(t *testing.T, c *Conversation) Record {
	t.Helper()
	r, err := c.Load(t.Context())
	ok(t, err)
	return r
}

// with returns a conversation that has the messages.
func with(t *testing.T, messages ...Message) *Conversation {
	t.Helper()
	c := NewConversation()
	ok(t, c.Add(t.Context(), messages...))
	return c
}

func TestNewConversationIsEmptyAndNotStored(t *testing.T) {
	c := NewConversation()
	ctx := t.Context()
	n, err := c.Count(ctx)
	ok(t, err)
	name, err := c.DisplayName(ctx)
	ok(t, err)
	active, err := c.LastActivity(ctx)
	ok(t, err)
	if n != 0 || name != "New Conversation" || !active.IsZero() || !strings.HasPrefix(c.ID(), "cnv_") || c.ID() == NewConversation().ID() {
		t.Errorf("%d messages, name %q, active %s, id %s", n, name, active, c.ID())
	}
	if _, err := c.store.Load(ctx, c.ID()); !errors.Is(err, ErrNotFound) {
		t.Errorf("reading made the conversation: %v", err)
	}
	_, err = c.Export(ctx)
	kind(t, err, ErrNotFound)
}

func TestDisplayName(t *testing.T) {
	thirty := strings.Repeat("ä", 30)
	for _, c := range []struct {
		name     string
		explicit string
		messages []Message
		want     string
	}{
		{"explicit", "Mine", []Message{Say("hello")}, "Mine"},
		{"first user message", "", []Message{tale("a")[0], Say("hello"), Say("again")}, "hello"},
		{"30 characters stay", "", []Message{Say(thirty)}, thirty},
		{"31 are cut", "", []Message{Say(thirty + "ö")}, strings.Repeat("ä", 27) + "..."},
		{"no user message", "", tale("sa"), "New Conversation"},
		{"a summary is not a user message", "", []Message{summaryMessage("old"), Say("hello")}, "hello"},
		{"nor is a blank one", "", []Message{Say(" \n"), Say("hello")}, "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conv := with(t, c.messages...)
			ok(t, conv.SetDisplayName(t.Context(), c.explicit))
			if got, err := conv.DisplayName(t.Context()); got != c.want || err != nil {
				t.Errorf("got %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func TestAdd(t *testing.T) {
	c := NewConversation()
	group := tale("uAta")
	ok(t, c.Add(t.Context(), Say("hi")))
	ok(t, c.Add(t.Context(), group...))
	r := loaded(t, c)
	if len(r.Messages) != 5 || r.Messages[0].ID == "" || r.Messages[0].CreatedAt.IsZero() || r.Messages[1].ID != "u0" {
		t.Errorf("stored are %+v", r.Messages)
	}
	for name, bad := range map[string][]Message{
		"none":                     nil,
		"no role":                  {{Parts: []Part{Text("x")}}},
		"unknown role":             {{Role: "boss", Parts: []Part{Text("x")}}},
		"no parts":                 {{Role: User}},
		"unknown part":             {{Role: User, Parts: []Part{{Type: "sound"}}}},
		"a part without its thing": {{Role: User, Parts: []Part{{Type: FilePart}}}},
		"a call without a result":  tale("uA"),
		"a result without a call":  tale("ut"),
		"a user between them":      {tale("A")[0], tale("u")[0], tale("At")[1]},
		"somebody else's result":   {tale("A")[0], tale("aaat")[3]},
		"one good and one bad":     {Say("x"), {Role: "boss"}},
	} {
		t.Run(name, func(t *testing.T) {
			kind(t, c.Add(t.Context(), bad...), ErrInvalidArgument, "messages")
			if n := len(loaded(t, c).Messages); n != 5 {
				t.Errorf("now there are %d messages", n)
			}
		})
	}
}

func TestReadsAreSnapshots(t *testing.T) {
	c := with(t, tale("ua")...)
	ok(t, c.SetMetadata(t.Context(), "k", "v"))
	before, err := c.Messages(t.Context())
	ok(t, err)
	meta, err := c.Metadata(t.Context())
	ok(t, err)
	ok(t, c.Add(t.Context(), tale("u")...))
	_ = append(before, Say("mine"))
	meta["k"] = "changed"
	if again, _ := c.Metadata(t.Context()); len(before) != 2 || again["k"] != "v" || loaded(t, c).Messages[2].ID != "u0" {
		t.Errorf("snapshots and store share: %d messages, %v", len(before), again)
	}
}

func TestEveryChangeUpdatesLastActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewConversation()
		ctx := t.Context()
		for _, change := range []struct {
			name string
			make func() error
		}{
			{"Add", func() error { return c.Add(ctx, tale("uauauaua")...) }},
			{"SetDisplayName", func() error { return c.SetDisplayName(ctx, "x") }},
			{"SetMetadata", func() error { return c.SetMetadata(ctx, "k", "v") }},
			{"Reduce", func() error {
				_, err := c.Reduce(ctx, Reduction{Target: 4}, nil)
				return err
			}},
			{"ReplaceOldest", func() error { return c.ReplaceOldest(ctx, 2, "so far") }},
			{"Clear", func() error { return c.Clear(ctx) }},
		} {
			before, _ := c.LastActivity(ctx)
			<-time.After(time.Second)
			ok(t, change.make())
			if after, _ := c.LastActivity(ctx); !after.Equal(nowUTC()) {
				t.Errorf("%s moved the last activity from %s to %s, want %s", change.name, before, after, nowUTC())
			}
		}
	})
}

func TestClear(t *testing.T) {
	c := with(t, tale("ua")...)
	ok(t, c.SetMetadata(t.Context(), "k", "v"))
	ok(t, c.SetDisplayName(t.Context(), "stays"))
	ok(t, c.ReplaceOldest(t.Context(), 1, "sum"))
	ok(t, c.Clear(t.Context()))
	r := loaded(t, c)
	if len(r.Messages)+len(r.Metadata) != 0 || r.Summary != nil || r.DisplayName != "stays" {
		t.Errorf("left is %+v", r)
	}
	kind(t, c.SetMetadata(t.Context(), " \t", "v"), ErrInvalidArgument, "key")
}

func TestFork(t *testing.T) {
	source := with(t, tale("suAtauAt")...)
	ctx := t.Context()
	ok(t, source.SetMetadata(ctx, "k", "v"))
	ok(t, source.change(ctx, func(r *Record) error {
		r.Rules = map[string]PermissionRule{"x": AlwaysAllow}
		r.Summary = &Summary{Text: "sum", Covers: 3}
		return nil
	}))
	before := loaded(t, source)
	for _, c := range []struct {
		at, want string
		summary  bool
	}{
		{"", "s0 u1 A2 t3 a4 u5 A6 t7", true},
		{"a4", "s0 u1 A2 t3 a4", true},
		{"t3", "s0 u1 A2 t3", true},
		{"A2", "s0 u1 A2 t3", true}, // never without its results
		{"u1", "s0 u1", false},
	} {
		t.Run("at "+c.at, func(t *testing.T) {
			fork, err := source.Fork(ctx, c.at)
			ok(t, err)
			r := loaded(t, fork)
			if viewText(r.Messages) != c.want || r.Parent != source.ID() || fork.ID() == source.ID() ||
				r.Metadata["k"] != "v" || r.Rules["x"] != AlwaysAllow || (r.Summary != nil) != c.summary {
				t.Errorf("the fork is %+v", r)
			}
			ok(t, fork.Add(ctx, Say("only here")))
			if !reflect.DeepEqual(loaded(t, source), before) {
				t.Error("the source has changed")
			}
		})
	}
	_, err := source.Fork(ctx, "nowhere")
	kind(t, err, ErrNotFound, "nowhere")
}

func TestHardReduction(t *testing.T) {
	ctx := t.Context()
	c := with(t, tale("suAtauauau")...)
	m := &summariser{text: "sum"}
	did, err := c.Reduce(ctx, Reduction{Strategy: ReduceSummary, Target: 3, Threshold: 99}, m)
	r := loaded(t, c)
	if viewText(r.Messages) != "s0 [sum] u7 a8 u9" || err != nil || r.Summary != nil || !did.Hard || did.Before != 10 || did.After != 5 || r.validate() != nil {
		t.Errorf("left is %s, %+v, %+v (%v)", viewText(r.Messages), r.Summary, did, err)
	}
	if did, err = c.Reduce(ctx, Reduction{Strategy: ReduceSummary, Target: 3}, m); did.Before != did.After || err != nil || len(m.asked) != 1 {
		t.Errorf("a second time it did %+v (%v)", did, err)
	}
	m.err = errors.New("no")
	ok(t, c.Add(ctx, tale("ua")...))
	revision := loaded(t, c).Revision
	if _, err = c.Reduce(ctx, Reduction{Strategy: ReduceSummary, Target: 1}, m); !errors.Is(err, m.err) || loaded(t, c).Revision != revision {
		t.Errorf("without a summary: %v", err)
	}
	_, err = c.Reduce(ctx, Reduction{Target: -1}, m)
	kind(t, err, ErrInvalidArgument, "Must be greater than zero")
	_, err = c.Reduce(ctx, Reduction{Strategy: "half"}, m)
	kind(t, err, ErrInvalidArgument, "half")
	_, err = c.Reduce(ctx, Reduction{Strategy: ReduceSummary}, nil)
	kind(t, err, ErrInvalidArgument, "model")
}

func TestReplaceOldest(t *testing.T) {
	ctx := t.Context()
	c := with(t, tale("suAtsau")...)
	kind(t, c.ReplaceOldest(ctx, 0, "sum"), ErrInvalidArgument, "Must be greater than zero")
	kind(t, c.ReplaceOldest(ctx, 1, " "), ErrInvalidArgument, "summary")
	kind(t, c.ReplaceOldest(ctx, 6, "sum"), ErrInvalidArgument, "Cannot remove 6 messages. Only 5 non-system messages available.")
	kind(t, c.ReplaceOldest(ctx, 2, "sum"), ErrInvalidArgument, "separate")
	ok(t, c.ReplaceOldest(ctx, 3, "sum"))
	if r := loaded(t, c); viewText(r.Messages) != "s0 [sum] s4 a5 u6" || r.Messages[1].ID == "" {
		t.Errorf("left is %s", viewText(r.Messages))
	}
}

func TestOneTurnAtATimeInAProcess(t *testing.T) {
	store := NewMemory()
	a, b := OpenConversation(store, "c"), OpenConversation(store, "c")
	release, err := a.claim(&liveTurn{})
	ok(t, err)
	_, err = b.claim(&liveTurn{})
	kind(t, err, ErrConflict, "ThreadRunActive")
	for _, other := range []*Conversation{OpenConversation(store, "d"), OpenConversation(NewMemory(), "c")} {
		free, err := other.claim(&liveTurn{})
		ok(t, err)
		free()
	}
	release()
	again, err := b.claim(&liveTurn{})
	ok(t, err)
	release() // a second time: it is not ours any more
	_, err = a.claim(&liveTurn{})
	kind(t, err, ErrConflict)
	again()

	// A store that cannot be compared does not stop anybody.
	odd := OpenConversation(incomparable{Store: store}, "c")
	free, err := odd.claim(&liveTurn{})
	ok(t, err)
	free()
}

type incomparable struct {
	Store
	_ []int
}

func TestConcurrentChangesAreAllApplied(t *testing.T) {
	c := NewConversation()
	var group sync.WaitGroup
	errs := make(chan error, 40)
	for i := range 20 {
		group.Go(func() { errs <- c.Add(context.Background(), Say("x")) })
		group.Go(func() { errs <- c.SetMetadata(context.Background(), string(rune('a'+i)), "v") })
	}
	group.Wait()
	for range 40 {
		ok(t, <-errs)
	}
	if r := loaded(t, c); len(r.Messages) != 20 || len(r.Metadata) != 20 {
		t.Errorf("%d messages and %d values, want 20 of both", len(r.Messages), len(r.Metadata))
	}
}
