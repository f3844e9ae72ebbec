package aguiapi

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
)

// watcher is a client: it keeps what it is shown and minds the order.
type watcher struct {
	t    *testing.T
	text map[string]string // of messages and of the arguments of calls
	open map[string]bool
}

func (w *watcher) see(events []agui.Event) {
	w.t.Helper()
	for _, e := range events {
		id := e.MessageID + e.ToolCallID
		switch e.Type {
		case agui.TextMessageStart, agui.ToolCallStart:
			if w.open[id] {
				w.t.Fatalf("%s %s is open", e.Type, id)
			}
			w.open[id] = true
			w.text[id] += ""
		case agui.TextMessageContent, agui.ToolCallArgs:
			if !w.open[id] || e.Delta == "" {
				w.t.Fatalf("%s %q of %s, open: %v", e.Type, e.Delta, id, w.open[id])
			}
			w.text[id] += e.Delta
		case agui.TextMessageEnd, agui.ToolCallEnd:
			if !w.open[id] {
				w.t.Fatalf("%s %s is not open", e.Type, id)
			}
			delete(w.open, id)
		case agui.MessagesSnapshot:
			w.takeAll(e.Messages)
		}
	}
}

func (w *watcher) takeAll(messages []json.RawMessage) {
	w.t.Helper()
	if len(w.open) > 0 {
		w.t.Fatalf("a snapshot comes while %v are open", w.open)
	}
	w.text = map[string]string{}
	for _, raw := range messages {
		var m agui.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			w.t.Fatal(err)
		}
		w.text[m.ID] = contentOf(m)
		for _, c := range m.ToolCalls {
			w.text[c.ID] = c.Function.Arguments
		}
	}
}

// Whatever order things happen in, a client ends with what is stored.
func TestClientsEndWithWhatIsStored(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := &watcher{t: t, text: map[string]string{}, open: map[string]bool{}}
		p := viewOf(t, `[{"id":"u","role":"user","content":"Hi"}]`)
		truth := map[string]string{}
		gone := map[string]bool{}
		for range random.IntN(30) {
			name := fmt.Sprintf("p%d", random.IntN(4))
			if gone[name] {
				continue
			}
			x, id := (*part)(nil), name
			if name < "p2" {
				x = p.text(at(name))
			} else {
				x, id = callOf(p, name), "run/"+name
			}
			switch now := truth[id]; random.IntN(8) {
			case 0:
				cut := random.IntN(len(now) + 1)
				truth[id] = now[:cut]
				p.reset(shoal.PartID(name), cut)
			case 1:
				gone[name] = true
				delete(truth, id)
				p.remove(shoal.PartID(name))
			default:
				more := now + fmt.Sprint(random.IntN(1000))
				from := random.IntN(len(now) + 1) // deltas may overlap with what is known
				p.grow(x, from, more[from:])
				truth[id] = more
			}
			w.see(p.take())
		}
		for id, text := range truth {
			if id < "r" {
				p.finish(p.text(at(id)), text)
			} else {
				p.finish(callOf(p, id[len("run/"):]), text)
			}
			w.see(p.take())
		}
		if len(w.open) > 0 {
			t.Fatalf("seed %d: %v stay open", seed, w.open)
		}
		for id, text := range truth {
			if w.text[id] != text {
				t.Fatalf("seed %d: the client has %q of %s, stored is %q", seed, w.text[id], id, text)
			}
		}
		for name := range gone {
			if w.text[name] != "" { // calls that belong to it may keep it, without text
				t.Fatalf("seed %d: the client still has %s: %q", seed, name, w.text[name])
			}
			if _, there := w.text["run/"+name]; there {
				t.Fatalf("seed %d: the client still has the call %s", seed, name)
			}
		}
	}
}

func callOf(p *projection, name string) *part { return p.call(at(name), "run", name, "tool") }
