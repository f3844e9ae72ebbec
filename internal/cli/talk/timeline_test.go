package talk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// seqs makes messages of the space shop.
func seqs(from, to int64) (all []shoal.Message) {
	for seq := from; seq <= to; seq++ {
		all = append(all, shoal.Message{SpaceID: "shop", Seq: seq})
	}
	return all
}

func eventOf(t *testing.T, name shoal.EventType, data any) shoal.Event {
	t.Helper()
	b, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return shoal.Event{Type: name, Data: b}
}

// However often a snapshot comes, every message is taken once and none is left
// out, even if the snapshot begins far after the last seen message.
func TestATimelineHasNoGapAndNothingTwice(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(cli.List[shoal.Message]{Items: seqs(after+1, min(after+200, 700))})
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := func(from, to int64) shoal.Event {
		return eventOf(t, shoal.EventSnapshot, shoal.SnapshotData{Space: shoal.Space{ID: "shop", LastSeq: to}, Messages: seqs(from, to)})
	}
	created := func(seq int64) shoal.Event {
		return eventOf(t, shoal.EventMessageCreated, shoal.MessageData{Message: seqs(seq, seq)[0]})
	}
	line := newTimeline(c.Session("default"))
	next := int64(1)
	for i, e := range []shoal.Event{
		snapshot(1, 50),
		created(51),
		created(51),
		snapshot(20, 60),
		snapshot(20, 60),
		created(61),
		snapshot(650, 700),
		snapshot(1, 0),
		{Type: shoal.EventEntityUpdated, Data: []byte(`{}`)},
		created(701),
	} {
		got, earlier, err := line.newMessages(t.Context(), e)
		if err != nil || earlier != (i == 0) {
			t.Fatalf("event %d: earlier %v, %v", i, earlier, err)
		}
		for _, m := range got {
			if m.Seq != next {
				t.Fatalf("event %d: got seq %d, want %d", i, m.Seq, next)
			}
			next++
		}
	}
	if next != 702 {
		t.Errorf("took all before seq %d, want 702", next)
	}
}

// A space that was empty at first is known all the same.
func TestATimelineThatBeganEmpty(t *testing.T) {
	line := newTimeline(nil)
	empty := eventOf(t, shoal.EventSnapshot, shoal.SnapshotData{Space: shoal.Space{ID: "shop"}})
	again := eventOf(t, shoal.EventSnapshot, shoal.SnapshotData{Space: shoal.Space{ID: "shop", LastSeq: 2}, Messages: seqs(1, 2)})
	var got []string
	for _, e := range []shoal.Event{empty, again} {
		messages, earlier, err := line.newMessages(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(len(messages), earlier))
	}
	if want := []string{"0 true", "2 false"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnEventThatCannotBeReadIsAnError(t *testing.T) {
	line := newTimeline(nil)
	for _, name := range []shoal.EventType{shoal.EventMessageCreated, shoal.EventSnapshot} {
		if _, _, err := line.newMessages(t.Context(), shoal.Event{Type: name, Data: []byte(`[`)}); shoal.KindOf(err) != shoal.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A message that grows is taken when it is whole, once, also where the end of it
// was missed.
func TestAMessageIsTakenWhenItIsWhole(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "after=1&limit=1" {
			t.Errorf("asked for %s", r.URL.RawQuery)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(cli.List[shoal.Message]{Items: []shoal.Message{{ID: "b", SpaceID: "shop", Seq: 2}}})
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	message := func(id shoal.MessageID, seq int64, status shoal.MessageStatus) shoal.Message {
		return shoal.Message{ID: id, SpaceID: "shop", Seq: seq, Status: status}
	}
	snapshot := func(all ...shoal.Message) shoal.Event {
		last := all[len(all)-1].Seq
		return eventOf(t, shoal.EventSnapshot, shoal.SnapshotData{Space: shoal.Space{ID: "shop", LastSeq: last}, Messages: all})
	}
	line := newTimeline(c.Session("default"))
	for i, step := range []struct {
		event shoal.Event
		want  string
	}{
		{snapshot(message("a", 1, shoal.MessageStreaming), message("b", 2, shoal.MessageStreaming)), "[]"},
		{eventOf(t, shoal.EventMessageCreated, shoal.MessageData{Message: message("c", 3, shoal.MessageStreaming)}), "[]"},
		{eventOf(t, shoal.EventMessageCompleted, shoal.MessageData{Message: message("a", 1, shoal.MessageCompleted)}), "[a]"},
		{snapshot(message("c", 3, shoal.MessageFailed), message("d", 4, shoal.MessageStreaming)), "[b c]"},
		{snapshot(message("c", 3, shoal.MessageFailed), message("d", 4, shoal.MessageStreaming)), "[]"},
		{eventOf(t, shoal.EventMessageCompleted, shoal.MessageData{Message: message("d", 4, shoal.MessageCompleted)}), "[d]"},
	} {
		got, _, err := line.newMessages(t.Context(), step.event)
		ids := []shoal.MessageID{}
		for _, m := range got {
			ids = append(ids, m.ID)
		}
		if err != nil || fmt.Sprint(ids) != step.want {
			t.Fatalf("event %d: took %v, %v, want %s", i, ids, err, step.want)
		}
	}
}
