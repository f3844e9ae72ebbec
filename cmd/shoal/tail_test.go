package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/talk"
)

// served starts a server and returns it with a client that acts as the operator.
func served(t *testing.T, addr, data string) (*app.Server, *client.Session) {
	t.Helper()
	server, err := app.Start(t.Context(), app.Config{Addr: addr, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	key, err := app.ReadAdminKey(data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Options{URL: server.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	return server, c.Session(shoal.DefaultSession)
}

// tailing runs `shoal tail` and returns its lines as they come, and its end.
func tailing(t *testing.T, url, data string, c talk.TailCommand, set func(*cli.Output)) (lines *bufio.Scanner, notes *strings.Builder, stop func() error) {
	t.Helper()
	reader, writer := io.Pipe()
	notes = new(strings.Builder)
	o := &cli.Output{Out: writer, Notes: notes}
	if set != nil {
		set(o)
	}
	sh := &cli.Shell{Globals: &cli.Globals{URL: url, Data: data, Session: shoal.DefaultSession}, Output: o}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		err := c.Run(ctx, sh)
		_ = writer.CloseWithError(io.EOF)
		ended <- err
	}()
	stop = func() error {
		cancel()
		_ = reader.Close()
		return <-ended
	}
	return bufio.NewScanner(reader), notes, stop
}

// post says something in the space that every server begins with.
func post(t *testing.T, s *client.Session, text string) {
	t.Helper()
	alone := false // the example agent would answer at some time
	if _, err := s.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, TriggerAgents: &alone}); err != nil {
		t.Fatal(err)
	}
}

// next returns the text of the next line of tail.
func next(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	if !lines.Scan() {
		t.Fatalf("tail ended: %v", lines.Err())
	}
	cells := strings.Split(lines.Text(), "\t")
	return cells[len(cells)-1]
}

// Tail shows the last lines, then what comes, goes on by itself when the server
// restarts, and prints nothing twice.
func TestTailOutlivesTheServersRestart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, session := served(t, "127.0.0.1:0", data)
	url := server.URL()
	for _, text := range []string{"one", "two", "three"} {
		post(t, session, text)
	}
	lines, notes, stop := tailing(t, url, data, talk.TailCommand{Space: app.Welcome, Lines: 2}, nil)
	for _, want := range []string{"two", "three"} {
		if got := next(t, lines); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	post(t, session, "four")
	if got := next(t, lines); got != "four" {
		t.Fatalf("got %q", got)
	}

	server.Stop()
	server, session = served(t, strings.TrimPrefix(url, "http://"), data)
	defer server.Stop()
	post(t, session, "five")
	if got := next(t, lines); got != "five" {
		t.Fatalf("got %q after the restart", got)
	}
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("tail ended with %v", err)
	}
	if strings.Count(notes.String(), "trying again") != 1 {
		t.Errorf("notes: %s", notes)
	}
}

// Without a space, tail shows all of the caller's, those that come later too,
// and what happens in them besides messages.
func TestTailOfAllSpaces(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, session := served(t, "127.0.0.1:0", data)
	defer server.Stop()
	post(t, session, "hello")
	lines, notes, stop := tailing(t, server.URL(), data, talk.TailCommand{Lines: 10}, func(o *cli.Output) { o.Terminal = true })
	if got := next(t, lines); !strings.Contains(got, " [welcome] shop-agent: Hello! I'm **Shop Agent**") {
		t.Fatalf("got %q", got)
	}
	if got := next(t, lines); !strings.HasSuffix(got, " [welcome] operator: hello") || strings.Contains(got, "Z ") {
		t.Fatalf("got %q", got)
	}
	if _, err := session.CreateEntity(t.Context(), shoal.NewEntity{ID: "scout"}); err != nil {
		t.Fatal(err)
	}
	if _, err := session.CreateSpace(t.Context(), shoal.NewSpace{ID: "shop", Name: "Shop"}); err != nil {
		t.Fatal(err)
	}
	if _, err := session.AddMember(t.Context(), "shop", "scout"); err != nil {
		t.Fatal(err)
	}
	if _, err := session.RemoveMember(t.Context(), "shop", "scout"); err != nil {
		t.Fatal(err)
	}
	if _, err := session.CloseSpace(t.Context(), "shop", "Sold out."); err != nil {
		t.Fatal(err)
	}
	if got := next(t, lines); !strings.HasSuffix(got, " [shop] system: Thread closed: Sold out.") {
		t.Fatalf("got %q", got)
	}
	post(t, session, "the end")
	if got := next(t, lines); !strings.HasSuffix(got, "[welcome] operator: the end") {
		t.Fatalf("got %q", got)
	}
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("tail ended with %v", err)
	}
	for _, want := range []string{"note: scout joined shop\n", "note: scout left shop\n", "note: shop is closed\n"} {
		if !strings.Contains(notes.String(), want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
}

// The cursor that --json shows is the place where --after goes on.
func TestTailGoesOnBehindACursor(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, session := served(t, "127.0.0.1:0", data)
	defer server.Stop()
	json := func(o *cli.Output) { o.JSON = true }
	lines, _, stop := tailing(t, server.URL(), data, talk.TailCommand{Space: app.Welcome}, json)
	if got := next(t, lines); !strings.Contains(got, `"type":"snapshot"`) {
		t.Fatalf("got %s", got)
	}
	post(t, session, "one")
	seen := next(t, lines)
	for !strings.Contains(seen, `"type":"message.created"`) {
		seen = next(t, lines) // entity.updated comes when it likes
	}
	_ = stop()
	_, rest, _ := strings.Cut(seen, `{"cursor":"`)
	cursor, _, found := strings.Cut(rest, `","type":"message.created"`)
	if !found {
		t.Fatalf("no cursor in %s", seen)
	}
	post(t, session, "two")
	lines, _, stop = tailing(t, server.URL(), data, talk.TailCommand{Space: app.Welcome, After: shoal.Cursor(cursor)}, json)
	got := next(t, lines)
	for !strings.Contains(got, `"type":"message.created"`) {
		got = next(t, lines) // what else the first message caused
	}
	if !strings.Contains(got, `"two"`) {
		t.Errorf("got %s", got)
	}
	_ = stop()
}
