package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// streamEvent is one server-sent event, with the part of its data that the tests check.
type streamEvent struct {
	id, event string
	data      struct {
		Type       shoal.EventType
		MessageID  shoal.MessageID
		PartID     shoal.PartID
		ToolCallID string
		ToolName   string
		Offset     int
		Delta      string
		Text       string
		Args       json.RawMessage
		Message    *shoal.Message
		Messages   []shoal.Message
		Run        *shoal.Run
	}
	raw string
}

// follow opens a stream of events and returns its events until the test ends or stop is
// called. after is the event after which it resumes.
func (s *server) follow(t *testing.T, header http.Header, path, after string) (events <-chan streamEvent, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(bounded(t))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header.Clone()
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // it is closed where it is read
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, res.Status)
	}
	out := make(chan streamEvent, 4096)
	go func() {
		defer close(out)
		defer res.Body.Close()
		readEvents(res.Body, func(e streamEvent) { out <- e })
	}()
	return out, cancel
}

// readEvents calls see with each event of a stream until it ends.
func readEvents(in io.Reader, see func(streamEvent)) {
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, 16<<20)
	var now streamEvent
	for scan.Scan() {
		line := scan.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && now.event != "":
			if json.Unmarshal([]byte(now.raw), &now.data) == nil { // else it was cut off
				see(now)
			}
			now = streamEvent{}
		case name == "id":
			now.id = value
		case name == "event":
			now.event = value
		case name == "data":
			now.raw += value
		}
	}
}

// next returns the next event of a type, and calls see with each that comes
// before it and with it.
func next(t *testing.T, events <-chan streamEvent, what shoal.EventType, see func(streamEvent)) streamEvent {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the stream ended where %s was expected", what)
			}
			if see != nil {
				see(e)
			}
			if e.event == string(what) {
				return e
			}
		case <-deadline:
			t.Fatalf("no %s came within %v", what, patience)
		}
	}
}

// reader is the state of a client that knows only a space's stream: the parts in
// progress, built from the deltas, and the content of the other events.
type reader struct {
	t      *testing.T
	grown  map[shoal.PartID]string
	whole  map[shoal.PartID]string
	deltas map[shoal.PartID]int
	order  []shoal.PartID
	seen   map[string]bool
	events []streamEvent
}

func newReader(t *testing.T) *reader {
	return &reader{
		t: t, grown: map[shoal.PartID]string{}, whole: map[shoal.PartID]string{}, deltas: map[shoal.PartID]int{}, seen: map[string]bool{},
	}
}

// see takes an event as the contract says that it is to be read.
func (r *reader) see(e streamEvent) {
	r.t.Helper()
	r.events = append(r.events, e)
	if e.id != "" && r.seen[e.id] {
		r.t.Errorf("the event %s came twice: %s", e.id, e.raw)
	}
	r.seen[e.id] = e.id != ""
	part := e.data.PartID
	switch shoal.EventType(e.event) {
	case shoal.EventSnapshot:
		for _, m := range e.data.Messages {
			for _, p := range m.Parts {
				if p.Type == shoal.TextPart {
					r.grown[p.ID] = p.Text
				}
			}
		}
	case shoal.EventTextStart, shoal.EventToolInputStart:
		r.order = append(r.order, part)
		r.grown[part] = ""
	case shoal.EventTextDelta, shoal.EventToolInputDelta:
		if e.data.Offset != len(r.grown[part]) {
			r.t.Errorf("a delta of %s begins at %d, it has %d bytes: %s", part, e.data.Offset, len(r.grown[part]), e.raw)
		}
		r.grown[part] += e.data.Delta
		r.deltas[part]++
	case shoal.EventTextEnd:
		r.whole[part] = e.data.Text
	case shoal.EventToolInputAvailable:
		r.whole[part] = string(e.data.Args)
	case shoal.EventPartReset:
		r.grown[part] = r.grown[part][:e.data.Offset]
	case shoal.EventPartRemoved:
		delete(r.grown, part)
	}
}

// agrees compares what the deltas made with what was said to be whole.
func (r *reader) agrees() {
	r.t.Helper()
	for part, whole := range r.whole {
		if r.grown[part] != whole {
			r.t.Errorf("the deltas of %s make %q, it is %q", part, r.grown[part], whole)
		}
	}
	for _, e := range r.events {
		for _, field := range []string{"targetSpaceId", `"mention"`} {
			if strings.Contains(e.raw, field) {
				r.t.Errorf("a routing field is relayed: %s", e.raw)
			}
		}
	}
}
