package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

// watcher reads one stream and keeps every byte of it.
type watcher struct {
	name   string
	events <-chan streamEvent
	read   []streamEvent
}

func (s *stage) watch(t *testing.T, name string, who http.Header, path string) *watcher {
	t.Helper()
	w := &watcher{name: name}
	w.events, _ = s.follow(t, who, path, "")
	next(t, w.events, shoal.EventSnapshot, w.see)
	return w
}

func (w *watcher) see(e streamEvent) { w.read = append(w.read, e) }

// until reads up to the first event of a type.
func (w *watcher) until(t *testing.T, what shoal.EventType) { next(t, w.events, what, w.see) }

func (w *watcher) all() string {
	var b strings.Builder
	for _, e := range w.read {
		b.WriteString(e.raw + "\n")
	}
	return b.String()
}

// thought puts together what the watcher reads of thoughts.
func (w *watcher) thought() (text string) {
	for _, e := range w.read {
		if e.event == string(shoal.EventReasoningDelta) {
			text += e.data.Delta
		}
	}
	return text
}

// showsOf says which of words a text must hold; it must hold none of the others.
func showsOf(t *testing.T, name, text string, shows map[string]bool) {
	t.Helper()
	for word, want := range shows {
		if strings.Contains(text, word) != want {
			t.Errorf("%s shows %q: %t, want %t:\n%s", name, word, !want, want, text)
		}
	}
}

// A follower of a run sees only its own part: a service sees everything, an entity what
// its spaces show; thoughts appear if the trigger's space shows them; and no
// follower sees the targetSpaceId of a tool call.
func TestRunStreams(t *testing.T) {
	const thought = "A word for the den ☂, and <b>another</b> for the attic."
	for name, show := range map[string]bool{"thoughts are shown": true, "thoughts are not shown": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.space(t, "attic", "bob")
			s.rest(t, http.MethodPatch, lab+"/spaces/den", args{"showAgentReasoning": show}, nil)
			eve := s.human(t, "default", "eve")
			var made shoal.Key
			session := shoal.DefaultSession
			s.rest(t, http.MethodPost, "/v1/keys", shoal.NewKey{Role: shoal.RoleService, SessionID: session, Name: "billing"}, &made)
			service := bearer(*made.Secret)
			s.host(t, "guide", "rooms", args{"tools": []any{args{"name": "choose", "displayTool": true}}}, "den", "attic")
			s.rest(t, http.MethodDelete, lab+"/spaces/den/members/bob", nil, nil)

			den := s.watch(t, "ann in the den", s.ann, denEvents)
			attic := s.watch(t, "bob in the attic", s.bob, lab+"/spaces/attic/events")
			run := s.started(t, s.post(t, s.ann, "den", "Show me around."))[0]
			at := lab + "/runs/" + string(run.ID)
			s.run(t, at, shoal.RunWaitingTool)
			asked := s.waitsFor(t, s.ann)
			if status, _ := s.refuses(t, eve, http.MethodGet, at+"/events", nil); status != http.StatusNotFound {
				t.Errorf("a stranger follows the run: %d", status)
			}
			if status, _ := s.refuses(t, s.bob, http.MethodGet, at, nil); status != http.StatusNotFound {
				t.Errorf("who is in none of its spaces yet sees the run: %d", status)
			}
			all := s.watch(t, "the service", service, at+"/events")
			ann := s.watch(t, "ann of the run", s.ann, at+"/events")
			s.restAs(t, s.ann, http.MethodPost, lab+"/pending-actions/"+string(asked.ID)+"/answer", args{"result": nil}, nil)
			attic.until(t, shoal.EventMessageCompleted)
			bob := s.watch(t, "bob of the run", s.bob, at+"/events")
			for _, w := range []*watcher{den, all, ann} {
				w.until(t, shoal.EventRunCompleted)
			}
			if !strings.Contains(bob.all(), `"status":"completed"`) {
				bob.until(t, shoal.EventRunCompleted)
			}

			steps, choose := `"step.completed"`, `"call_rooms"`
			words := func(den, attic, whole bool) map[string]bool {
				return map[string]bool{"Hello, den.": den, "Hello, attic.": attic, steps: whole, choose: den}
			}
			showsOf(t, den.name, den.all(), words(true, false, false))
			showsOf(t, attic.name, attic.all(), words(false, true, false))
			showsOf(t, all.name, all.all(), words(true, true, true))
			showsOf(t, ann.name, ann.all(), words(true, false, false))
			showsOf(t, bob.name, bob.all(), words(false, true, false))
			for w, want := range map[*watcher]bool{den: show, attic: false, all: true, ann: show, bob: false} {
				if got := w.thought(); want && got != thought || !want && strings.Contains(w.all(), "another") {
					t.Errorf("%s reads the thought %q, want %t", w.name, got, want)
				}
			}
			for _, w := range []*watcher{den, attic, all, ann, bob} {
				showsOf(t, w.name, w.all(), map[string]bool{"targetSpaceId": false})
			}
			if strings.Contains(bob.all(), "Show me around.") || strings.Contains(attic.all(), "Show me around.") {
				t.Error("bob learns what was said in the den, where he is not")
			}
		})
	}
}

// A part for one member is shown to that member by every API, and to nobody else.
func TestPrivateParts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	about := object(`"about":{"type":"string"}`)
	s.host(t, "oracle", "whisper", args{"tools": []any{
		args{"name": "card", "displayTool": true, "targeted": true, "inputSchema": about},
		args{"name": "note", "displayTool": true, "targeted": true, "inputSchema": about, "execution": args{"mode": "pass-through"}},
	}}, "den")
	type member struct {
		name    string
		header  http.Header
		in      bool
		streams []*watcher
	}
	ann, bob := &member{name: "ann", header: s.ann, in: true}, &member{name: "bob", header: s.bob}
	for _, m := range []*member{ann, bob} {
		m.streams = append(m.streams, s.watch(t, m.name+" in the den", m.header, denEvents))
		m.streams = append(m.streams, s.watch(t, m.name+" everywhere", m.header, lab+"/events"))
	}
	run := s.started(t, s.post(t, s.ann, "den", "What is the word?"))[0]
	at := lab + "/runs/" + string(run.ID)
	s.run(t, at, shoal.RunWaitingTool)
	asked := s.waitsFor(t, s.ann)
	answer := lab + "/pending-actions/" + string(asked.ID) + "/answer"
	for _, m := range []*member{ann, bob} {
		m.streams = append(m.streams, s.watch(t, m.name+" of the run", m.header, at+"/events"))
	}
	read := func(who http.Header, method, path string, in any) string {
		t.Helper()
		header := who.Clone()
		header.Set("Content-Type", "application/json")
		body := ""
		if in != nil {
			body = jsonOf(t, in)
		}
		res := request(t, method, s.url+path, header, strings.NewReader(body))
		if res.status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, res.status, res.body)
		}
		return string(res.body)
	}
	inTheMiddle := []string{"/spaces/den/messages", "/pending-actions", "/runs/" + string(run.ID)}
	for _, m := range []*member{ann, bob} {
		for _, path := range inTheMiddle {
			showsOf(t, m.name+" in the middle at "+path, read(m.header, http.MethodGet, lab+path, nil), map[string]bool{"swordfish": m.in})
		}
		late := s.watch(t, m.name+" late", m.header, denEvents)
		m.streams = append(m.streams, late)
		showsOf(t, late.name, late.all(), map[string]bool{"swordfish": m.in})
	}
	if status, problem := s.refuses(t, s.bob, http.MethodPost, answer, args{"result": "mine"}); status != http.StatusNotFound {
		t.Errorf("who does not see it answers: %d %+v", status, problem)
	}
	if status, problem := s.refuses(t, s.bob, http.MethodPost, at+"/tool-results", args{"callId": "call_card", "result": "mine"}); status != http.StatusNotFound {
		t.Errorf("who does not see it answers by the run: %d %+v", status, problem)
	}
	s.restAs(t, s.ann, http.MethodPost, answer, args{"result": args{"caught": "a marlin"}}, nil)
	s.ends(t, run)

	for _, m := range []*member{ann, bob} {
		words := map[string]bool{"swordfish": m.in, "another swordfish": m.in, "marlin": m.in, "Psst": true}
		for _, w := range m.streams {
			w.until(t, shoal.EventRunCompleted)
			showsOf(t, w.name, w.all(), words)
			showsOf(t, w.name, w.all(), map[string]bool{"targetSpaceId": false, `"private":true`: !m.in})
		}
		showsOf(t, m.name+" in the messages", read(m.header, http.MethodGet, lab+"/spaces/den/messages", nil), words)
		found := read(m.header, http.MethodGet, lab+"/search?q="+url.QueryEscape("psst"), nil)
		showsOf(t, m.name+" in the search", found, words)
		if !m.in {
			for _, word := range []string{"swordfish", "marlin"} {
				if found := read(m.header, http.MethodGet, lab+"/search?q="+word, nil); !strings.Contains(found, `"items":[]`) {
					t.Errorf("%s finds %s", m.name, found)
				}
			}
		}
		waited := read(m.header, http.MethodPost, lab+"/entities/"+m.name+"/wait", args{"kind": "messages", "timeoutMs": 0, "from": []string{"oracle"}})
		showsOf(t, m.name+" in a wait", waited, words)

		key := strings.TrimPrefix(m.header.Get("Authorization"), "Bearer ")
		connected := goModern.connect(t, s.server, shoal.EntityID(m.name), key)
		thread, err := connected.(*goAgent).session.ReadResource(bounded(t), &mcp.ReadResourceParams{URI: "shoal://threads/den"})
		if err != nil || len(thread.Contents) != 1 {
			t.Fatalf("the resource is %+v: %v", thread, err)
		}
		showsOf(t, m.name+" by the resource", thread.Contents[0].Text, words)
		for tool, in := range map[string]args{
			"read_thread": {"threadId": "den"}, "search_messages": {"query": "psst"}, "wait_for_messages": {"timeoutMs": 0, "redeliver": true},
		} {
			res := do(t, connected, tool, in, nil)
			showsOf(t, m.name+" by "+tool, string(res.Structured), words)
			if tool != "search_messages" {
				showsOf(t, m.name+" by the text of "+tool, res.Text, words)
				showsOf(t, m.name+" by the text of "+tool, res.Text, map[string]bool{`<tool private="true"/>`: !m.in})
			}
		}
	}

	// Another hosted agent sees no more.
	s.rest(t, http.MethodPatch, lab+"/spaces/den", args{"adminAgentId": "oracle"}, nil)
	s.host(t, "spy", "puppet", nil, "den")
	spied := s.result(t, s.does(t, "spy", []act{{Name: "readSpaceMessages", Args: args{"spaceId": "den", "limit": 50}}}), "readSpaceMessages")
	showsOf(t, "what the spy reads", *spied.Result, map[string]bool{"swordfish": false, "marlin": false, "Psst": true})
}
