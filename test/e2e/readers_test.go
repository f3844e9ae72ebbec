package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// storyteller puts an agent that writes a long story into the den.
func storyteller(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.host(t, "bard", "saga", args{"tools": []any{args{
		"name": "page", "displayTool": true, "execution": args{"mode": "pass-through"},
		"inputSchema": object(`"title":{"type":"string"},"body":{"type":"string"}`),
	}}}, "den")
	return s
}

const denEvents = lab + "/spaces/den/events"

// bite reads the next n bytes of a stream after an event and disconnects, wherever
// that is. It disconnects earlier when see returns false.
func (s *stage) bite(t *testing.T, who http.Header, path, after string, n int64, see func(streamEvent) (more bool)) {
	t.Helper()
	ctx, hangUp := context.WithCancel(bounded(t))
	defer hangUp()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = who.Clone()
	req.Header.Set("Last-Event-ID", after)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, res.Status)
	}
	readEvents(io.LimitReader(res.Body, n), func(e streamEvent) {
		if !see(e) {
			hangUp()
		}
	})
}

// Readers that are repeatedly disconnected at arbitrary bytes, and resume after the
// last complete event, end with exactly what is stored, and receive no event twice.
func TestReadersReconnect(t *testing.T) {
	t.Parallel()
	seed := setting.Seed(t, "SHOAL_CUT_SEED")
	for name, from := range map[string]struct {
		path  string
		bites int64 // how much is read at most
	}{"small bites": {denEvents, 700}, "large bites": {denEvents, 4000}, "all spaces": {lab + "/events", 1500}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storyteller(t)
			dice := rand.New(rand.NewPCG(seed, uint64(from.bites)))
			read, last, ended, cuts := newReader(t), "", false, 0
			see := func(e streamEvent) bool {
				if e.id != "" {
					last = e.id
				}
				read.see(e)
				ended = ended || e.event == string(shoal.EventRunCompleted)
				return !ended
			}
			s.bite(t, s.bob, from.path, "", 1<<20, func(e streamEvent) bool {
				see(e)
				return last == ""
			})
			s.post(t, s.ann, "den", "Begin.", "bard")
			for size := from.bites; !ended; cuts++ {
				before := last
				s.bite(t, s.bob, from.path, last, 1+dice.Int64N(size), see)
				if size = from.bites; last == before {
					size *= 8 // some events are larger than what this reader takes at once
				}
			}
			s.checkStored(t, read)
			t.Logf("%d cuts, %d events", cuts, len(read.events))
			if cuts < 20 {
				t.Errorf("the reader was cut off %d times only", cuts)
			}
		})
	}
}

// checkStored compares a reader's copy of the newest message with the stored one.
func (s *stage) checkStored(t *testing.T, read *reader) {
	t.Helper()
	read.agrees()
	messages := s.messages(t, s.bob)
	m := messages[len(messages)-1]
	if m.Status != shoal.MessageCompleted || len(m.Parts) != 2 {
		t.Fatalf("the message is %+v", m)
	}
	if len(m.Parts[0].Text) < 800 {
		t.Errorf("the story has %d bytes", len(m.Parts[0].Text))
	}
	if got := read.grown[m.Parts[0].ID]; got != m.Parts[0].Text {
		t.Errorf("the reader has the text\n%s\nwant\n%s", got, m.Parts[0].Text)
	}
	page := m.Parts[1]
	if got := read.grown[page.ID]; got != string(page.Args) && (got != "" || read.whole[page.ID] != "") {
		t.Errorf("the reader has the arguments\n%s\nwant\n%s", got, page.Args)
	}
	var in map[string]string
	if err := json.Unmarshal(page.Args, &in); err != nil || len(in) != 2 || in["title"] != "Saga" || in["body"] != m.Parts[0].Text {
		t.Errorf("the arguments are %s: %v", page.Args, err)
	}
}

// A reader that connects in the middle gets the text so far and then exactly the rest.
func TestReadersConnectLate(t *testing.T) {
	t.Parallel()
	s := storyteller(t)
	first, _ := s.follow(t, s.ann, denEvents, "")
	early := newReader(t)
	next(t, first, shoal.EventSnapshot, early.see)
	s.post(t, s.ann, "den", "Begin.", "bard")
	type latecomer struct {
		*reader
		events <-chan streamEvent
	}
	var late []latecomer
	arrives := func(within shoal.PartStatus) {
		t.Helper()
		events, _ := s.follow(t, s.bob, denEvents, "")
		l := latecomer{newReader(t), events}
		snapshot := next(t, events, shoal.EventSnapshot, l.see)
		m := snapshot.data.Messages[len(snapshot.data.Messages)-1]
		if m.Status != shoal.MessageStreaming || len(m.Parts) == 0 || m.Parts[len(m.Parts)-1].Status != within {
			t.Errorf("the latecomer is shown %+v", m)
		}
		late = append(late, l)
	}
	scout := s.guest(t, goModern)
	for _, at := range []struct {
		delta shoal.EventType
		shows shoal.PartStatus
	}{{shoal.EventTextDelta, shoal.PartStreaming}, {shoal.EventToolInputDelta, shoal.PartInputStreaming}} {
		for range 3 {
			for range 15 {
				next(t, first, at.delta, early.see)
			}
			arrives(at.shows)
		}
		thread := do(t, scout, "read_thread", args{"threadId": "den"}, nil)
		if !contains(thread.Text, `status="streaming">`, "<content>1. Der Seebär 🐻‍❄️ rief »Ahoi«, &lt;b&gt;") ||
			strings.Contains(thread.Text, `<tool name="page" call="call_page" status="input_streaming">`) != (at.shows == shoal.PartInputStreaming) {
			t.Errorf("an agent reads %s", thread.Text)
		}
	}
	next(t, first, shoal.EventRunCompleted, early.see)
	s.checkStored(t, early)
	for _, l := range late {
		next(t, l.events, shoal.EventRunCompleted, l.see)
		s.checkStored(t, l.reader)
	}
}

// Reasoning is not stored, but a reader that is disconnected in the middle of it also
// gets each piece once, unless the step has ended before it is back: then it lacks the
// rest, and only learns that the reasoning has ended.
func TestReasoningForReconnectingReaders(t *testing.T) {
	t.Parallel()
	seed := setting.Seed(t, "SHOAL_CUT_SEED")
	dice := rand.New(rand.NewPCG(seed, 0))
	s := newStage(t)
	s.space(t, "attic")
	s.rest(t, http.MethodPatch, lab+"/spaces/den", args{"showAgentReasoning": true}, nil)
	s.host(t, "guide", "rooms", args{"tools": []any{args{"name": "choose", "displayTool": true}}}, "den", "attic")
	const want = "(A word for the den ☂, and <b>another</b> for the attic.)"
	read := func(path string, leaves bool) (thought string, late bool) {
		run := s.started(t, s.post(t, s.ann, "den", "Show me around."))[0]
		s.run(t, lab+"/runs/"+string(run.ID), shoal.RunWaitingTool)
		path = strings.Replace(path, "RUN", string(run.ID), 1)
		all, last, ended, returned := newReader(t), "", false, false
		see := func(e streamEvent) (more bool) {
			all.see(e)
			if e.id != "" {
				last = e.id
			}
			switch shoal.EventType(e.event) {
			case shoal.EventReasoningStart:
				thought += "("
			case shoal.EventReasoningDelta:
				if e.data.Offset != len(thought)-1 {
					t.Errorf("after %q the stream has %s", thought, e.raw)
				}
				thought += e.data.Delta
				returned = false
				return !leaves
			case shoal.EventReasoningEnd:
				thought += ")"
				late = returned
			case shoal.EventRunCompleted:
				ended = true
			}
			return !ended
		}
		s.bite(t, bearer(s.admin), path, "", 1<<20, func(e streamEvent) (more bool) { return see(e) && last == "" })
		asked := s.waitsFor(t, s.ann)
		s.restAs(t, s.ann, http.MethodPost, lab+"/pending-actions/"+string(asked.ID)+"/answer", args{"result": nil}, nil)
		for size := int64(900); !ended; {
			before, bite := last, 1+dice.Int64N(size)
			if leaves {
				bite = 1 << 20
			}
			returned = true
			s.bite(t, bearer(s.admin), path, last, bite, see)
			if leaves {
				s.ends(t, run)
			}
			if size = 900; last == before {
				size *= 8
			}
		}
		return thought, late
	}
	for _, path := range []string{denEvents, lab + "/runs/RUN/events"} {
		thought, late := read(path, true)
		if begun := strings.TrimSuffix(thought, ")"); !late || len(begun) < 2 || begun == thought || !strings.HasPrefix(want, begun) {
			t.Errorf("at %s the reader that left in the middle has the thought %q, want the beginning of %q", path, thought, want)
		}
		for complete, attempts := 0, 0; complete < 2; attempts++ {
			thought, late = read(path, false)
			switch {
			case thought == want:
				complete++
			case attempts == 10:
				t.Fatalf("at %s the reader was always too late: it has %q", path, thought)
			case thought == "":
			case !late || !strings.HasPrefix(want, strings.TrimSuffix(thought, ")")):
				t.Fatalf("at %s the reader has the thought %q, want %q", path, thought, want)
			}
		}
	}
}
