package faults

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/coder"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// machines are a server, and machines with runners whose line to the server can be cut.
type machines struct {
	t        *testing.T
	server   *program.Server
	line     *faultproxy.Proxy
	operator *client.Session // reaches the server directly
	env      []string        // of the runners
}

// patience is how long something may take that has to come.
const patience = time.Minute

func newMachines(t *testing.T, env []string, lease time.Duration) *machines {
	t.Helper()
	s := program.NewServer(t, plantedBinary(t))
	s.Env = append(env, leaseOf(lease))
	s.Start(t)
	key, err := os.ReadFile(filepath.Join(s.Data, "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(client.Options{URL: s.URL(), Key: strings.TrimSpace(string(key)), As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	m := &machines{t: t, server: s, line: faultproxy.New(t, "tcp", s.Addr), operator: admin.Session(shoal.DefaultSession), env: env}
	if _, err := m.operator.RemoveMember(t.Context(), app.Welcome, app.ShopAgent); err != nil {
		t.Fatal(err)
	}
	return m
}

// machine is a machine with a runner of one agent, or of those of a file.
type machine struct {
	*machines
	home string
	args []string

	mu      sync.Mutex
	process *exec.Cmd
	out     strings.Builder
}

// Write keeps what the runner prints.
func (m *machine) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.out.Write(b)
}

func (m *machine) printed() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.out.String()
}

// run starts a runner on a machine of its own, with these arguments.
func (ms *machines) run(args ...string) *machine {
	m := &machine{machines: ms, home: ms.t.TempDir(), args: args}
	m.start()
	ms.t.Cleanup(func() {
		m.stop()
		if ms.t.Failed() {
			ms.t.Logf("the runner printed:\n%s", m.printed())
		}
	})
	return m
}

func (m *machine) start() {
	m.process = exec.Command(m.server.Binary, append([]string{"runner"}, m.args...)...)
	m.process.Dir, m.process.Stdout, m.process.Stderr = m.home, m, m
	m.process.Env = append([]string{
		"HOME=" + m.home, "XDG_STATE_HOME=" + m.home, "XDG_CONFIG_HOME=" + m.home, "PATH=" + os.Getenv("PATH"),
		"SHOAL_URL=http://" + m.line.Addr(), "SHOAL_DATA=" + m.server.Data,
	}, m.env...)
	if err := m.process.Start(); err != nil {
		m.t.Error(err)
	}
}

// kill kills the runner.
func (m *machine) kill() {
	_ = m.process.Process.Kill() // it may have ended
	_ = m.process.Wait()         // it was killed
}

// stop stops the runner in order.
func (m *machine) stop() {
	_ = m.process.Process.Signal(os.Interrupt) // it may have ended
	_ = m.process.Wait()                       // its exit code is that of an interruption
}

// runnerOf returns the arguments of a runner with one agent that c plays.
func runnerOf(t *testing.T, c *coder.Coder, agent string) []string {
	t.Helper()
	return append([]string{"acp", "--agent", agent, "--dir", t.TempDir(), "--respond-to", "members", "--approve", "members"}, c.Flags(t)...)
}

// untilServed waits until a program executes the runs of an agent.
func (ms *machines) untilServed(agent shoal.EntityID) {
	ms.t.Helper()
	if !ms.until(func() bool {
		e, err := ms.operator.Entity(ms.t.Context(), agent)
		return err == nil && e.State != shoal.Offline
	}) {
		ms.t.Fatalf("no runner of %s has come", agent)
	}
}

// until waits until so is true, and reports whether it has become so.
func (ms *machines) until(so func() bool) bool {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); !so(); <-again.C {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// mention posts a mention of an agent and returns its run.
func (ms *machines) mention(agent shoal.EntityID, text string) shoal.RunID {
	ms.t.Helper()
	m, err := ms.operator.Post(ms.t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{agent}})
	if err != nil || len(m.Runs) != 1 {
		ms.t.Fatalf("%s: %+v, %v", text, m.Runs, err)
	}
	return m.Runs[0].RunID
}

// decide answers what is asked until ctx ends: permissions with yes, questions with the choice that
// choose returns.
func (ms *machines) decide(ctx context.Context, choose func(question string) string) {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	yes := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		for p, err := range ms.operator.PendingActions(ctx, client.PendingOptions{}) {
			if err != nil {
				break // the server is down
			}
			answer := shoal.PendingAnswer{Approved: &yes, ArgsHash: &p.ArgsHash}
			if p.Kind == shoal.PendingQuestion {
				choice := choose(*p.Question)
				answer = shoal.PendingAnswer{Answer: &choice}
			}
			_, _ = ms.operator.AnswerPending(ctx, p.ID, answer) // it may have ended; else it is asked again
		}
	}
}
