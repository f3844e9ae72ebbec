package run_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// effects is a server that counts what tools did; one of its paths does not answer
// as long as it is held.
type effects struct {
	*httptest.Server
	mu      sync.Mutex
	seen    map[string]int
	keys    map[string][]string
	reached chan string
	held    chan struct{}
}

func newEffects(t *testing.T) *effects {
	e := &effects{seen: map[string]int{}, keys: map[string][]string{}, reached: make(chan string, 100), held: make(chan struct{})}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.seen[r.URL.Path]++
		e.keys[r.URL.Path] = append(e.keys[r.URL.Path], r.Header.Get("Idempotency-Key"))
		first := e.seen[r.URL.Path] == 1
		e.mu.Unlock()
		e.reached <- r.URL.Path
		if strings.HasPrefix(r.URL.Path, "/slow") && first {
			select {
			case <-e.held:
			case <-r.Context().Done():
			}
		}
		_, _ = w.Write([]byte(`{"ok":true}`)) // the tool says whether it came
	}))
	t.Cleanup(func() { close(e.held); e.Close() })
	return e
}

func (e *effects) tools() string {
	one := func(name, path string, idempotent bool) string {
		return fmt.Sprintf(`{"name":%q,"executionType":"request","idempotent":%v,"execution":{"url":%q,"method":"POST"}}`, name, idempotent, e.URL+path)
	}
	return `"tools":[` + strings.Join([]string{one("fast", "/fast", false), one("slow", "/slow", false), one("again", "/slow-again", true)}, ",") + `]`
}

// What a model call had shown when the process died is withdrawn, and the model is
// asked again.
func TestRestartDuringModelCall(t *testing.T) {
	w := newWorld(t)
	model := gated(script.PerTurn(calls(send("c1", "One.")), silent))
	w.shopkeeper(model, "")
	id := w.says("Hm?")
	<-model.reached
	w.until("the text is there", func() bool { return strings.Contains(strings.Join(w.timeline("shop"), ""), "One.") })
	w.crashes()
	close(model.release)
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", "bot completed | One.")
}

// A tool that had finished is not executed again; one in flight only if it says that
// this does no harm.
func TestRestartDuringToolCalls(t *testing.T) {
	w := newWorld(t)
	server := newEffects(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "fast", `{}`), call("c2", "slow", `{}`), call("c3", "again", `{}`)), silent), server.tools())
	id := w.says("Hm?")
	for range 3 {
		<-server.reached
	}
	w.until("the first result is stored", func() bool { got := w.results(id); return len(got) == 3 && strings.HasPrefix(got[0], "fast ok") })
	w.crashes()
	w.reaches(id, shoal.RunCompleted)
	got := w.results(id)
	if !strings.HasPrefix(got[0], "fast ok") || got[1] != "slow interrupted: Error: interrupted, effect unknown." || !strings.HasPrefix(got[2], "again ok") {
		t.Errorf("the model received %q", got)
	}
	if server.seen["/fast"] != 1 || server.seen["/slow"] != 1 || server.seen["/slow-again"] != 2 {
		t.Errorf("the tools had the effects %v", server.seen)
	}
	if again, slow := server.keys["/slow-again"], server.keys["/slow"]; again[0] == "" || again[1] != again[0] || slow[0] == again[0] {
		t.Errorf("a call that is made again has the keys %q, another one %q", again, slow)
	}
}

// A server that is stopped leaves its runs to the next one, which goes on at once.
func TestStopLeavesRuns(t *testing.T) {
	w := newWorld(t)
	model := gated(script.PerTurn(calls(send("c1", "One.")), silent))
	w.shopkeeper(model, "")
	id := w.says("Hm?")
	<-model.reached
	w.exe.Stop()
	if r := w.run(id); r.Status != shoal.RunRunning || !r.Awake || r.Owner != "" {
		t.Errorf("the run is left as %s, awake %v, owned by %q", r.Status, r.Awake, r.Owner)
	}
	close(model.release)
	w.start()
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", "bot completed | One.")
}

// story is a run that waits again and again, with what it waits for each time and
// what is done then.
type story struct {
	script []script.Answer
	acts   []act
	want   []string // of the shop
}

type act struct {
	waits shoal.RunStatus
	do    func(w *world, id shoal.RunID) error
}

func answering(tool, answer string) act {
	return act{shoal.RunWaitingTool, func(w *world, id shoal.RunID) error { return w.tryAnswer(id, tool, answer) }}
}

var stories = map[string]story{
	"a client's tool": {
		script: []script.Answer{
			calls(send("c1", "First."), call("c2", "pick", `{"targetSpaceId":"shop"}`)),
			calls(call("c3", "lamp", `{"targetSpaceId":"shop","mention":"ann","n":1}`), call("c4", "rest", `{}`)),
			calls(send("c5", "Second."), call("c6", "setMemories", `{"memories":[{"content":"Lamps sell."}]}`)),
			silent,
		},
		acts: []act{answering("pick", `{"result":{"chosen":1}}`)},
		want: []string{
			`bot completed @[ann] | First. | pick{} done {"chosen":1} by ann | lamp{"n":1} done {"price":5,"success":true}`,
			`bot completed | Second.`,
		},
	},
	"a reply, a permission and another agent": {
		script: []script.Answer{
			calls(send("c0", "I ask:"), call("c1", "sendSpaceMessage", `{"spaceId":"shop","text":"Which?","wait":{"for":[{"type":"human"}],"timeout":120}}`)),
			calls(call("c2", "danger", `{"targetSpaceId":"shop"}`), call("c3", "consult", `{"prompt":"?"}`), send("c4", "Done.")),
			silent,
		},
		acts: []act{
			{shoal.RunWaitingReply, func(w *world, id shoal.RunID) error {
				_, err := w.hub.Messages.Post(w.t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("Red.")}}, "reply-"+string(id))
				return err
			}},
			answering("danger", `{"approved":true}`),
			answering("danger", `{"approved":true}`),
		},
		want: []string{
			`bot completed | I ask: | Which?`,
			`bot completed | danger{} done {"done":1,"success":true} by ann | Done. | danger{} done {"approved":true} by ann`,
		},
	},
}

// dieEvery is the distance of the changes after which a process dies, and of the writes that fail.
func dieEvery() int { return setting.Repeats(1, 7) }

// Wherever a process dies between two changes, the next one brings the run to the
// same end: nothing is said twice, and no finished tool is executed again.
func TestCrashBetweenAnyTwoChanges(t *testing.T) {
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			died := true
			for n := 0; died && !t.Failed(); n += dieEvery() {
				t.Run(fmt.Sprint(n), func(t *testing.T) { died = s.playAndDie(t, n) })
			}
		})
	}
}

// playAndDie plays the story with a process that dies after n changes, and reports
// whether it came so far.
func (s story) playAndDie(t *testing.T, n int) (died bool) {
	w := s.stage(t)
	w.exe.Stop()
	id := w.says("Hm?")
	w.store.refuses(errors.New("the process is dead"), n)
	dead := w.store.refused()
	if err := w.tryStart(); err != nil {
		died = true
		w.crashes()
	}
	reaches := func(status shoal.RunStatus) {
		w.until(fmt.Sprintf("the run is %s", status), func() bool {
			select {
			case <-dead:
				if !died {
					died = true
					w.crashes()
				}
			default:
			}
			r := w.run(id)
			return r.Status == status && r.Owner == "" && !r.Awake
		})
	}
	for _, a := range s.acts {
		reaches(a.waits)
		if err := a.do(w, id); err != nil {
			died = true
			w.crashes()
			w.must(a.do(w, id))
		}
	}
	reaches(shoal.RunCompleted)
	if got := w.timeline("shop"); !slices.Equal(got, s.want) {
		t.Errorf("the shop shows\n%s", strings.Join(got, "\n"))
	}
	return died
}

// stage hosts the agents of a story.
func (s story) stage(t *testing.T) *world {
	w := newWorld(t)
	w.hosts("expert", script.PerTurn(calls(call("e1", "danger", `{}`)), script.Answer{Text: "It costs 5."}), cards)
	w.shopkeeper(script.PerTurn(s.script...), strings.TrimSuffix(cards, "]")+`,{"name":"consult","executionType":"ai-agent","execution":{"agentConfig":"expert","timeout":600000}}],"context":{"conversation":false}`)
	return w
}
