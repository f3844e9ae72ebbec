package runner

import (
	"path/filepath"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/harness"
)

// The server knows where an agent runs and what it may do there, and that its runner has stopped.
func TestARunnerSaysWhatItRuns(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	server := apptest.Start(t)
	own := remoteAgent(t, server)
	list := func(when func(shoal.Runner) bool) shoal.Runner {
		return until(t, "the runner", func() (shoal.Runner, bool) {
			for r, err := range server.Operator.Runners(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				return r, when(r)
			}
			return shoal.Runner{}, false
		})
	}
	stop := serveFrom(t, filepath.Join(t.TempDir(), "conversations.json"), own, &script{}, func(c *AgentConfig) {
		c.Dir, c.Mode, c.Approve = filepath.Join(home, "src", "app"), harness.ModeRead, []string{RespondToOwner, "ben"}
	})
	got := list(func(shoal.Runner) bool { return true })
	if !got.Online || got.ID != "ada-mbp" || got.Version != "1.2.3" || len(got.Agents) != 1 || got.Agents[0].AgentID != "scout" || got.Agents[0].KeyID == nil {
		t.Fatalf("the runner: %+v", got)
	}
	r := got.Agents[0].Report
	if r.Dir != "~/src/app" || r.Mode != "read" || r.MaxTurnsPerHour != 99 || len(r.Approve) != 2 || r.Approve[1] != "ben" {
		t.Errorf("it says: %+v", r)
	}
	stop()
	if got := list(func(r shoal.Runner) bool { return true }); got.Online || !got.Agents[0].Report.Stopped {
		t.Errorf("after its end: %+v", got)
	}
}

// A runner that is removed gets no more runs: its key does not work any more.
func TestARemovedRunnerEnds(t *testing.T) {
	server := apptest.Start(t)
	own := remoteAgent(t, server)
	r, err := New(Options{State: filepath.Join(t.TempDir(), "conversations.json"), MaxProcesses: 1, Idle: DefaultIdle, Machine: "ada-mbp"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	served := make(chan error, 1)
	go func() {
		served <- r.Serve(t.Context(), Served{Agent: Agent{ID: "scout", AgentConfig: AgentConfig{Kind: "codex", Mode: harness.ModeAsk}}, Session: own, Log: func(err error) { t.Log(err) }})
	}()
	until(t, "the report", func() (struct{}, bool) {
		for r, err := range server.Operator.Runners(t.Context()) {
			return struct{}{}, err == nil && r.Online
		}
		return struct{}{}, false
	})
	if err := server.Operator.RemoveRunner(t.Context(), "ada-mbp"); err != nil {
		t.Fatal(err)
	}
	if err := <-served; shoal.KindOf(err) != shoal.Unauthenticated {
		t.Errorf("the runner ends with %v", err)
	}
	for r, err := range server.Operator.Runners(t.Context()) {
		t.Errorf("it is still known: %+v, %v", r, err)
	}
	if err := server.Operator.RemoveRunner(t.Context(), "ada-mbp"); shoal.KindOf(err) != shoal.NotFound {
		t.Errorf("removed again: %v", err)
	}
}

func TestShortDir(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for dir, want := range map[string]string{home: "~", filepath.Join(home, "src"): "~/src", home + "y": home + "y", filepath.Dir(home): filepath.Dir(home)} {
		if got := shortDir(dir); got != want {
			t.Errorf("%s is shown as %s, want %s", dir, got, want)
		}
	}
	if err := shoal.CheckID("", string(MachineName())); err != nil {
		t.Errorf("the name of this machine: %v", err)
	}
}
