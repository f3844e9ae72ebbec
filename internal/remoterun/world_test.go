package remoterun_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/remoterun"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session  = shoal.DefaultSession
	patience = 20 * time.Second
)

var (
	admin = shoal.Principal{Role: shoal.RoleAdmin}
	ann   = shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "ann"}
	clerk = shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "clerk"}
)

// world is a hub with two servers for programs, the person ann and the remote agent clerk in
// the space shop.
type world struct {
	t        *testing.T
	hub      *hub.Hub
	one, two *remoterun.Server
	options  remoterun.Options
}

// shortLease ends before a program claims again.
const shortLease = time.Millisecond

func newWorld(t *testing.T, lease time.Duration, settings string) *world {
	t.Helper()
	return newWorldOn(t, localbus.New(), lease, settings)
}

func newWorldOn(t *testing.T, bus core.Bus, lease time.Duration, settings string) *world {
	t.Helper()
	w := &world{t: t, hub: hub.New(hub.Options{Store: shoaltest.OpenSQLite(t), Bus: bus, FitsSchema: tool.CheckValue})}
	w.must(w.hub.Start(context.Background()))
	t.Cleanup(w.hub.Stop)
	w.options = remoterun.Options{Hub: w.hub, Lease: lease, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	w.one, w.two = w.start(), w.start()
	_, err := w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "ann", Kind: shoal.Human, Name: "Ann"}, "")
	w.must(err)
	w.host(settings)
	for _, space := range []shoal.SpaceID{"shop", "attic"} {
		_, err = w.hub.Spaces.Create(t.Context(), ann, session, shoal.NewSpace{ID: space, Name: string(space)}, "")
		w.must(err)
	}
	_, err = w.hub.Spaces.Join(t.Context(), admin, session, "shop", "clerk")
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// start starts another server for programs.
func (w *world) start() *remoterun.Server {
	s := remoterun.New(w.options)
	s.Start()
	w.t.Cleanup(s.Stop)
	return s
}

// host makes clerk a remote agent; settings are further fields of its configuration.
func (w *world) host(settings string) {
	w.t.Helper()
	c, err := agentconfig.Decode([]byte(`{"version": "1.0", "agent": {"id": "clerk", "name": "Clerk", "instructions": "Be kind."}, `+settings+`}`), agentconfig.Options{})
	w.must(err)
	_, _, err = w.hub.Agents.Put(w.t.Context(), admin, storage.Agent{
		HostedAgent: shoal.HostedAgent{ID: "clerk", SessionID: session, Hash: c.Hash(), Config: c.Canonical()},
		Name:        c.Agent.Name, OnNewMessage: c.Loop.OnNewMessage, MaxSteps: c.Loop.MaxSteps, Remote: c.Remote != nil,
	})
	w.must(err)
}

// ask makes ann mention clerk and returns the run.
func (w *world) ask(text string) shoal.RunID {
	w.t.Helper()
	m, err := w.hub.Messages.Post(w.t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"clerk"}}, "")
	w.must(err)
	if len(m.Runs) != 1 {
		w.t.Fatalf("the message started %+v", m.Runs)
	}
	return m.Runs[0].RunID
}

// claim claims one run, once there is one.
func (w *world) claim(s *remoterun.Server) shoal.RemoteRun {
	w.t.Helper()
	var claimed []shoal.RemoteRun
	w.until("a run is claimed", func() bool {
		var err error
		claimed, _, err = s.Claim(w.t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 1})
		w.must(err)
		return len(claimed) > 0
	})
	return claimed[0]
}

// until calls so until it is true.
func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-limit:
			w.t.Fatalf("not within %v: %s", patience, what)
		case <-tick.C:
		}
	}
}

// program is one claim of a run, and the number of its last line.
type program struct {
	*world
	s *remoterun.Server
	r shoal.RemoteRun
	n int64
}

func (w *world) program(s *remoterun.Server) *program {
	w.t.Helper()
	return &program{world: w, s: s, r: w.claim(s)}
}

// lines parses lines of JSON without numbers, and numbers them.
func (p *program) lines(text string) []shoal.WorkLine {
	p.t.Helper()
	var out []shoal.WorkLine
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var l shoal.WorkLine
		p.must(json.Unmarshal([]byte(line), &l))
		p.n++
		l.N = p.n
		out = append(out, l)
	}
	return out
}

// report reports lines, which are accepted.
func (p *program) report(text string) {
	p.t.Helper()
	lines := p.lines(text)
	receipt, err := p.s.Work(p.t.Context(), clerk, session, p.r.Run.ID, p.r.Generation, lines)
	p.must(err)
	if receipt.N != p.n {
		p.t.Fatalf("the receipt is for line %d, want %d", receipt.N, p.n)
	}
}

// refuses returns the error with which lines are refused; they do not count.
func (p *program) refuses(text string) error {
	p.t.Helper()
	before := p.n
	_, err := p.s.Work(p.t.Context(), clerk, session, p.r.Run.ID, p.r.Generation, p.lines(text))
	p.n = before
	if err == nil {
		p.t.Fatalf("the lines were accepted:\n%s", text)
	}
	return err
}

// run returns a run.
func (w *world) run(id shoal.RunID) shoal.Run {
	w.t.Helper()
	r, err := w.hub.Runs.Get(w.t.Context(), admin, session, id)
	w.must(err)
	return r
}

// messages returns the messages of clerk in shop.
func (w *world) messages() (out []shoal.Message) {
	w.t.Helper()
	all, err := w.hub.Messages.Read(w.t.Context(), admin, session, "shop", storage.Page{Limit: 100})
	w.must(err)
	for _, m := range all {
		if m.EntityID == "clerk" {
			out = append(out, m)
		}
	}
	return out
}

// shown lists the messages of clerk in shop as text: each part with its status.
func (w *world) shown() string {
	w.t.Helper()
	var lines []string
	for _, m := range w.messages() {
		line := string(m.Status) + ":"
		for _, p := range m.Parts {
			if p.Type == shoal.TextPart {
				line += " [" + string(p.Status) + " " + p.Text + "]"
			} else {
				line += " [" + string(p.Status) + " " + p.ToolName + string(p.Args) + string(p.Result) + p.Error + "]"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
