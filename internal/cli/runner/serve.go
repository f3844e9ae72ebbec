package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/runner"
)

// serving are the agents of one command.
type serving struct {
	sh     *cli.Shell
	runner *runner.Runner
	keys   keys
	agents []runner.Served
}

// add prepares an agent: its key, and a start that shows whether the program works.
func (s *serving) add(ctx context.Context, id shoal.EntityID, config runner.AgentConfig) error {
	if err := config.Find(); err != nil {
		return &shoal.Error{Kind: cli.KindUsage, Msg: err.Error() + " with --program, or with command in runner.yaml", Err: err}
	}
	if err := config.CheckWorktree(ctx); err != nil {
		return &shoal.Error{Kind: cli.KindUsage, Msg: "no working tree for " + string(id) + ": " + err.Error(), Err: err}
	}
	key, err := s.keys.of(ctx, id)
	if err != nil {
		return err
	}
	way := s.sh.Options(key)
	way.RetryFor = 0 // a runner outlives restarts of the server
	own, err := client.New(way)
	if err != nil {
		return err
	}
	s.agents = append(s.agents, runner.Served{
		Agent: runner.Agent{
			ID: id, AgentConfig: config, Servers: []harness.Server{{Name: "shoal", URL: s.sh.URL + "/mcp", Key: key}},
		},
		Session: own.Session(s.sh.Session),
		Log:     func(err error) { s.sh.Output.Note("%s: %v", id, err) },
	})
	s.sh.Output.Note("%s works in %s (%s)", id, config.Dir, describeMode(config.Mode))
	return nil
}

// space names a space in which an agent is, for an example.
func (s *serving) space() shoal.SpaceID {
	if len(s.keys.spaces) > 0 {
		return s.keys.spaces[0]
	}
	return app.Welcome
}

// describeMode says in words what an agent may do.
func describeMode(m harness.Mode) string {
	switch m {
	case harness.ModeRead:
		return "it may only read"
	case harness.ModeEdit:
		return "it may change files there, and asks before it executes anything"
	default:
		return "it asks before it changes or executes anything"
	}
}

// run serves all agents until ctx ends, or the server refuses one.
func (s *serving) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.sh.Output.Note("mention one to wake it: `shoal send %s 'Hello' -m %s`; Ctrl-C ends all", s.space(), s.agents[0].ID)
	errs := make([]error, len(s.agents))
	var all sync.WaitGroup
	for i, a := range s.agents {
		all.Go(func() {
			if err := s.runner.Serve(ctx, a); err != nil {
				errs[i] = fmt.Errorf("%s: %w", a.ID, err)
				cancel()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
