package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// backup copies the data of a stopped server, and restores the copy.
type backup struct {
	save, putBack func(t *testing.T)
}

// ofDirectory returns a backup of the whole data directory.
func ofDirectory(s *program.Server, older string) backup {
	return backup{
		save:    func(t *testing.T) { copyTo(t, s.Data, older) },
		putBack: func(t *testing.T) { replaceBy(t, older, s.Data) },
	}
}

// ofDatabase returns a backup of a PostgreSQL database.
func ofDatabase(d *database) backup {
	copied := func(t *testing.T, from, to string) {
		d.Exec(t, "postgres", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('shoal', 'older')`)
		d.Exec(t, "postgres", "DROP DATABASE IF EXISTS "+to+" WITH (FORCE)")
		d.Exec(t, "postgres", "CREATE DATABASE "+to+" TEMPLATE "+from)
	}
	return backup{
		save:    func(t *testing.T) { copied(t, "shoal", "older") },
		putBack: func(t *testing.T) { copied(t, "older", "shoal") },
	}
}

// checkRestored starts a server with an older copy of its data, as after a restore from a
// backup. A follower whose position no longer exists gets a snapshot, also after new events
// have reached that position; an acknowledgement at such a position removes nothing, and no
// unread message is skipped.
func checkRestored(t *testing.T, s *program.Server, b backup, seed uint64) (o outcome) {
	t.Helper()
	s.Start(t)
	w := newWorld(t, s, seed, 0)
	k := newKeeper(t, w)
	w.live(t, 200*time.Millisecond, func() {})
	k.post(t, "kept")
	first := k.wait(t, "")
	s.Kill()
	b.save(t)
	s.Start(t)
	w.live(t, 500*time.Millisecond, func() {})
	k.post(t, "lost-1", "lost-2")
	last := k.wait(t, "")
	s.Kill()
	w.Close()
	at := map[shoal.SpaceID]shoal.Cursor{}
	for _, r := range w.Readers {
		if r.Space != "" {
			at[r.Space] = r.Cursor
		}
	}
	b.putBack(t)
	s.Start(t)
	lost := map[shoal.SpaceID]shoal.Cursor{}
	follow := func(when string) {
		for space, cursor := range lost {
			o.operations++
			if wrong := w.firstEvent(t, space, cursor); wrong != "" {
				o.found = append(o.found, wrong+when)
			}
		}
	}
	for space, cursor := range at {
		// A slow reader may have received nothing that the copy lacks.
		if place(t, cursor) > place(t, w.end(t, space)) {
			lost[space] = cursor
		}
	}
	if o.count = len(lost); o.count == 0 {
		o.found = append(o.found, "rig: no reader has received an event that the copy lacks")
		return o
	}
	follow("")
	// The new history exceeds the positions of the lost one.
	want := []string{"kept"}
	for n := 0; n < 2 || place(t, w.end(t, "shelf")) <= slices.Max(places(t, lost)); n++ {
		text := fmt.Sprint("new-", n)
		k.post(t, text)
		want = append(want, text)
	}
	follow(", after new events have reached that position")
	for _, c := range []struct {
		ack  shoal.WaitResult
		want []string
	}{{last, want}, {first, want[1:]}} {
		o.operations++
		if got := textsOf(k.wait(t, *c.ack.Cursor)); !slices.Equal(got, c.want[:min(len(c.want), len(got))]) || len(got) == 0 {
			o.found = append(o.found, fmt.Sprintf("not delivered: an acknowledgement at %s leaves %q, want %q", *c.ack.Cursor, got, c.want))
		}
	}
	o.slowest = s.Slowest
	return o
}

// places returns the positions at the end of cursors.
func places(t *testing.T, cursors map[shoal.SpaceID]shoal.Cursor) (all []int64) {
	t.Helper()
	for _, c := range cursors {
		all = append(all, place(t, c))
	}
	return all
}

// keeper is an entity that is mentioned and reads, in a space of its own.
type mentionedReader struct{ own, other crowd.RestSpeaker }

func newKeeper(t *testing.T, w *world) mentionedReader {
	t.Helper()
	as := func(id shoal.EntityID) crowd.RestSpeaker {
		return crowd.RestSpeaker{Caller: &crowd.Caller{HTTP: w.HTTP, URL: w.server.URL(), Key: w.NewKey(t, id), As: id}}
	}
	k := mentionedReader{as("keeper"), as("teller")}
	if _, err := w.Admin.CreateSpace(t.Context(), shoal.NewSpace{ID: "shelf", Name: "Shelf", Members: []shoal.EntityID{"keeper", "teller"}}); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k mentionedReader) post(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := k.other.Post(t.Context(), &crowd.Post{Key: text, Text: text, Space: "shelf", Mentions: []shoal.EntityID{"keeper"}}); err != nil {
			t.Fatal(err)
		}
	}
}

func (k mentionedReader) wait(t *testing.T, ack string) shoal.WaitResult {
	t.Helper()
	r, err := k.own.Wait(t.Context(), crowd.Waiting{Kind: shoal.WaitMentions, Ack: ack})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// remembered returns the texts of the messages that a wait has returned.
func textsOf(r shoal.WaitResult) (out []string) {
	for _, item := range r.Items {
		for _, m := range item.Messages {
			out = append(out, m.Parts[0].Text)
		}
	}
	return out
}

// end returns the cursor at the end of the events of a space.
func (w *world) end(t *testing.T, space shoal.SpaceID) shoal.Cursor {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), crowd.WakeLimit)
	defer cancel()
	for ev, err := range w.Admin.Follow(ctx, followFrom(space, "")) {
		if err != nil {
			t.Fatal(err)
		}
		return ev.Cursor
	}
	t.Fatalf("a reader of %s receives nothing", space)
	return ""
}

// place returns the position at the end of a cursor.
func place(t *testing.T, c shoal.Cursor) (n int64) {
	t.Helper()
	_, number, _ := strings.Cut(string(c), ".")
	if _, err := fmt.Sscan(number, &n); err != nil {
		t.Fatalf("the cursor %q has no position: %v", c, err)
	}
	return n
}

// firstEvent follows a space from a cursor that no longer exists. It returns a finding if
// the first event is not a snapshot.
func (w *world) firstEvent(t *testing.T, space shoal.SpaceID, cursor shoal.Cursor) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), crowd.WakeLimit)
	defer cancel()
	for ev, err := range w.Admin.Follow(ctx, followFrom(space, cursor)) {
		if err != nil {
			return fmt.Sprintf("stream: %v", err)
		}
		if ev.Type != shoal.EventSnapshot {
			return fmt.Sprintf("stream gap: at %s after %s, which no longer exists, the first event is %s: %s", space, cursor, ev.Type, ev.Data)
		}
		var d shoal.SnapshotData
		if err := json.Unmarshal(ev.Data, &d); err != nil {
			return fmt.Sprintf("stream: %v", err)
		}
		return ""
	}
	return fmt.Sprintf("stream gap: a reader of %s after %s, which no longer exists, receives nothing", space, cursor)
}

func TestRestored(t *testing.T) {
	s := program.NewServer(t, productBinary(t))
	o := checkRestored(t, s, ofDirectory(s, t.TempDir()), randomSeed(t))
	o.fault = "an older copy of the data directory"
	report(t, o)
}

func TestRestoredPostgres(t *testing.T) {
	d := newDatabase(t)
	s := program.NewServer(t, productBinary(t))
	s.Env = []string{"SHOAL_DATABASE=" + d.url()}
	o := checkRestored(t, s, ofDatabase(d), randomSeed(t))
	o.fault = "an older copy of the PostgreSQL database"
	report(t, o)
}
