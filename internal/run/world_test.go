package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/run"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const session = shoal.DefaultSession

var (
	admin = shoal.Principal{Role: shoal.RoleAdmin}
	ann   = shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "ann"}
)

// world is a hub with an executor, the person ann and the spaces shop and attic.
type world struct {
	t     *testing.T
	store *watchedStore
	hub   *hub.Hub
	exe   *run.Executor
	limit int // of runs at once; 0 is the default
	lease time.Duration
	env   map[string]string

	mu     sync.Mutex
	models map[shoal.EntityID]agent.Model
}

func newWorld(t *testing.T) *world { return newWorldOn(t, shoaltest.OpenSQLite(t)) }

// newWorldOn is newWorld on a store that is empty.
func newWorldOn(t *testing.T, store storage.Store) *world {
	w := &world{t: t, store: &watchedStore{Store: store, changed: make(chan struct{})}, models: map[shoal.EntityID]agent.Model{}}
	w.begin()
	_, err := w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "ann", Kind: shoal.Human, Name: "Ann"}, "")
	w.must(err)
	w.space("shop")
	w.space("attic")
	w.start()
	t.Cleanup(func() { w.exe.Stop(); w.hub.Stop() })
	return w
}

// begin makes a hub.
func (w *world) begin() {
	w.t.Helper()
	w.hub = hub.New(hub.Options{Store: w.store, Bus: localbus.New(), FitsSchema: tool.CheckValue})
	w.must(w.hub.Start(context.Background()))
}

// crashes ends the server as if its process died: nothing that it would still write
// is stored. Another one begins on the same store.
func (w *world) crashes() {
	w.t.Helper()
	w.store.refuses(errors.New("the process is dead"), 0)
	w.exe.Stop()
	w.hub.Stop()
	w.store.refuses(nil, 0)
	w.begin()
	w.start()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// start makes an executor as a server does that begins.
func (w *world) start() {
	w.t.Helper()
	w.must(w.tryStart())
}

// tryStart is start on a store that may refuse it.
func (w *world) tryStart() error {
	w.t.Helper()
	network, err := tool.NewNetwork(tool.NetworkOptions{Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	w.must(err)
	w.t.Cleanup(network.Close)
	w.exe, err = run.New(run.Options{Hub: w.hub, Alone: true, Limit: w.limit, Lease: w.lease, Models: w.model, Network: network, Env: w.getenv, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil))})
	w.must(err)
	return w.exe.Start(w.t.Context())
}

func (w *world) getenv(name string) (string, bool) {
	value, ok := w.env[name]
	return value, ok
}

func (w *world) model(c *agentconfig.Config) (agent.Model, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.models[c.Agent.ID], nil
}

func (w *world) space(id shoal.SpaceID, members ...shoal.EntityID) {
	w.t.Helper()
	_, err := w.hub.Spaces.Create(w.t.Context(), ann, session, shoal.NewSpace{ID: id, Name: string(id), Members: members}, "")
	w.must(err)
}

func (w *world) join(space shoal.SpaceID, who shoal.EntityID) {
	w.t.Helper()
	_, err := w.hub.Spaces.Join(w.t.Context(), shoal.Principal{Role: shoal.RoleAdmin}, session, space, who)
	w.must(err)
}

// hosts makes a hosted agent that is in both spaces. settings are further fields of
// its configuration, such as "tools": […].
func (w *world) hosts(id shoal.EntityID, model agent.Model, settings string) {
	w.t.Helper()
	w.hostsAs(id, "Serve.", model, settings)
}

// hostsAs is hosts with a system text.
func (w *world) hostsAs(id shoal.EntityID, system string, model agent.Model, settings string) {
	w.t.Helper()
	w.mu.Lock()
	w.models[id] = model
	w.mu.Unlock()
	if settings != "" {
		settings = "," + settings
	}
	text := fmt.Sprintf(`{"version":"1.0","agent":{"id":%q,"name":%q,"system":%q},"model":{"provider":"script","name":"script"}%s}`, id, id, system, settings)
	c, err := agentconfig.Decode([]byte(text), agentconfig.Options{Env: []string{"KB"}})
	w.must(err)
	_, _, err = w.hub.Agents.Put(w.t.Context(), admin, storage.Agent{
		HostedAgent:  shoal.HostedAgent{ID: id, SessionID: session, Hash: c.Hash(), Config: c.Canonical()},
		Name:         c.Agent.Name,
		OnNewMessage: c.Loop.OnNewMessage, SettleMs: c.Loop.SettleMs, MaxSteps: c.Loop.MaxSteps,
	})
	w.must(err)
}

// shopkeeper hosts the agent bot in both spaces.
func (w *world) shopkeeper(model agent.Model, settings string) {
	w.t.Helper()
	w.hosts("bot", model, settings)
	w.join("shop", "bot")
	w.join("attic", "bot")
}

// says posts a message of ann's and returns the run that it starts.
func (w *world) says(text string) shoal.RunID {
	w.t.Helper()
	before := w.runs()
	_, err := w.hub.Messages.Post(w.t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}, "")
	w.must(err)
	for _, r := range w.runs() {
		if !slices.ContainsFunc(before, func(b storage.Run) bool { return b.ID == r.ID }) {
			return r.ID
		}
	}
	w.t.Fatalf("%q starts no run", text)
	return ""
}

func (w *world) read(fn func(storage.Tx) error) {
	w.t.Helper()
	w.must(w.hub.Work.Read(context.Background(), fn))
}

func (w *world) runs() (all []storage.Run) {
	w.t.Helper()
	w.read(func(tx storage.Tx) (err error) { all, err = tx.Runs(session, storage.RunFilter{}); return err })
	return all
}

func (w *world) run(id shoal.RunID) (r storage.Run) {
	w.t.Helper()
	w.read(func(tx storage.Tx) (err error) { r, err = tx.Run(session, id); return err })
	return r
}

// until waits until something holds that a change of the store may bring about.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	limit := time.After(20 * time.Second)
	deaf := false
	for {
		changed := w.store.next()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-w.store.refused():
			if !deaf {
				deaf = true
				continue // once more, to notice it
			}
			select {
			case <-changed:
			case <-limit:
				w.t.Fatalf("%s does not come to pass, and the store refuses", what)
			}
		case <-limit:
			for _, r := range w.runs() {
				w.t.Logf("%s %s is %s, error %+v, awake %v, owner %q", r.ID, r.AgentID, r.Status, r.Error, r.Awake, r.Owner)
			}
			w.t.Fatalf("%s does not come to pass", what)
		}
	}
}

// reaches waits until the run has a status, and nobody executes it.
func (w *world) reaches(id shoal.RunID, status shoal.RunStatus) storage.Run {
	w.t.Helper()
	var r storage.Run
	w.until(fmt.Sprintf("%s %s", id, status), func() bool {
		r = w.run(id)
		if r.Status.Ended() && r.Status != status {
			w.t.Fatalf("the run is %s (%+v), want %s", r.Status, r.Error, status)
		}
		return r.Status == status && r.Owner == "" && !r.Awake
	})
	return r
}

// timeline returns the messages of a space, apart from what ann said.
func (w *world) timeline(space shoal.SpaceID) []string {
	w.t.Helper()
	lines, _ := w.timelineAfter(space, 0)
	return lines
}

// timelineAfter is timeline for the messages after a position, and returns the last one's.
func (w *world) timelineAfter(space shoal.SpaceID, seq int64) (lines []string, last int64) {
	w.t.Helper()
	messages, err := w.hub.Messages.Read(w.t.Context(), admin, session, space, storage.Page{After: seq, Limit: 200})
	w.must(err)
	for _, m := range messages {
		last = m.Seq
		if m.EntityID == "ann" {
			continue
		}
		line := fmt.Sprintf("%s %s", m.EntityID, m.Status)
		if len(m.Mentions) > 0 {
			line += fmt.Sprintf(" @%v", m.Mentions)
		}
		for _, p := range m.Parts {
			line += " | " + showPart(p)
		}
		lines = append(lines, line)
	}
	return lines, last
}

func showPart(p shoal.Part) string {
	if p.Type == shoal.TextPart {
		if p.Status == shoal.PartDone {
			return p.Text
		}
		return fmt.Sprintf("%s(%s)", p.Text, p.Status)
	}
	line := fmt.Sprintf("%s%s %s", p.ToolName, p.Args, p.Status)
	if p.Result != nil {
		line += " " + string(p.Result)
	}
	if p.Error != "" {
		line += " !" + p.Error
	}
	if p.AnsweredBy != "" {
		line += " by " + string(p.AnsweredBy)
	}
	return line
}

func (w *world) shows(space shoal.SpaceID, want ...string) {
	w.t.Helper()
	if got := w.timeline(space); !slices.Equal(got, want) {
		w.t.Errorf("%s shows\n  %s\nwant\n  %s", space, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// open returns what the run waits for, in any state.
func (w *world) rows(id shoal.RunID) (rows []storage.Pending) {
	w.t.Helper()
	w.read(func(tx storage.Tx) (err error) { rows, err = tx.PendingOf(session, id); return err })
	return rows
}

// answers hands in an answer to a call that the run waits for, by its id or its tool.
func (w *world) answers(id shoal.RunID, call, answer string) {
	w.t.Helper()
	w.must(w.tryAnswer(id, call, answer))
}

func (w *world) tryAnswer(id shoal.RunID, call, answer string) error {
	w.t.Helper()
	var a shoal.PendingAnswer
	w.must(json.Unmarshal([]byte(answer), &a))
	for _, row := range w.rows(id) {
		if (row.ToolCallID == call || row.ToolName == call) && row.Status == shoal.PendingOpen {
			_, err := w.hub.Pending.Answer(w.t.Context(), ann, session, row.ID, a)
			return err
		}
	}
	w.t.Fatalf("nothing waits for an answer to %s", call)
	return nil
}

// results returns the results that the model received for the calls of a run, in order.
func (w *world) results(id shoal.RunID) (out []string) {
	w.t.Helper()
	var steps []storage.Step
	w.read(func(tx storage.Tx) (err error) { steps, err = tx.RunSteps(session, id); return err })
	for _, s := range steps {
		for _, c := range s.ToolCalls {
			result := "-"
			if c.Result != nil {
				result = *c.Result
			}
			out = append(out, fmt.Sprintf("%s %s: %s", c.ToolName, c.Status, result))
		}
	}
	return out
}

// call is a call of a tool in a script.
func call(id, name, arguments string) agent.ToolCall {
	return agent.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func calls(all ...agent.ToolCall) script.Answer { return script.Answer{Calls: all} }

// send is a call of sendSpaceMessage to the shop.
func send(id, text string) agent.ToolCall {
	return call(id, "sendSpaceMessage", fmt.Sprintf(`{"spaceId":"shop","text":%q}`, text))
}

var silent = script.Answer{Text: "Done."}
