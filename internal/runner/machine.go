package runner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

const (
	// reportEvery is how often the server hears that an agent runs here.
	reportEvery = shoal.RunnerWindow / 3
	// lastReport bounds the report of a runner that stops.
	lastReport = 2 * time.Second
)

// MachineName returns what the server may call this machine: the first word of its host name, in the
// characters of an id.
func MachineName() shoal.RunnerID {
	host, _ := os.Hostname() // without one the name is a general one
	host, _, _ = strings.Cut(host, ".")
	id := strings.Trim(strings.Map(func(r rune) rune {
		if shoal.CheckID("", string(r)+"x") != nil {
			return '-'
		}
		return r
	}, host), "-")
	if id = cmp.Or(id[:min(len(id), shoal.MaxID)], "machine"); shoal.CheckID("", id) != nil {
		id = "machine"
	}
	return shoal.RunnerID(id)
}

// reportRunner keeps the server informed that the agent runs here, and what it may do, until stop is
// called, which says that it has stopped. The server only shows it: an error of a report changes nothing
// here.
func (a *served) reportRunner(ctx context.Context) (stop func()) {
	machine := a.runner.options.Machine
	if machine == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var reporting sync.WaitGroup
	reporting.Go(func() {
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			// A server of an earlier release has no runners.
			if err := a.Session.ReportRunner(ctx, machine, a.ID, a.describe()); err != nil && ctx.Err() == nil && !errors.Is(err, shoal.NotFound) {
				a.Log(err)
			}
			select {
			case <-tick.C:
			case <-a.changed:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		reporting.Wait()
		last := a.describe()
		last.Stopped = true
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReport)
		defer cancel()
		_ = a.Session.ReportRunner(ctx, machine, a.ID, last) // the server notices it later
	}
}

// reportNow makes the next report be sent at once.
func (a *served) reportNow() {
	select {
	case a.changed <- struct{}{}:
	default: // there is one to come
	}
}

// describe returns the report about the agent.
func (a *served) describe() shoal.RunnerReport {
	return shoal.RunnerReport{
		Version: a.runner.options.Version, Kind: a.Kind, Dir: shortDir(a.Dir), Worktree: a.Worktree, Mode: string(a.Mode), RespondTo: a.RespondTo, Approve: a.Approve,
		MaxTurnsPerHour: a.Budget.MaxTurnsPerHour, MaxTokensPerDay: a.Budget.MaxTokensPerDay, MaxCostPerDay: a.Budget.MaxCostPerDay, Problem: a.allowance.problem(),
	}
}

// shortDir returns a directory with ~ for the home directory: the server need not know the name of
// the user.
func shortDir(dir string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return dir
	}
	rest, err := filepath.Rel(home, dir)
	switch {
	case err != nil || rest == ".." || strings.HasPrefix(rest, ".."+string(filepath.Separator)):
		return dir
	case rest == ".":
		return "~"
	}
	return "~/" + filepath.ToSlash(rest)
}
