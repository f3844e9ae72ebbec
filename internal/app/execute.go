package app

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/internal/run"
	"github.com/shoal-dev/shoal/internal/tool"
)

// execute begins to execute the runs of hosted agents.
func (s *Server) execute(ctx context.Context) (err error) {
	if s.network, err = tool.NewNetwork(tool.NetworkOptions{Private: s.config.private}); err != nil {
		return err
	}
	s.executor, err = run.New(run.Options{
		Hub: s.Hub, Log: s.config.Log, Metrics: s.metrics, Network: s.network, Env: s.config.env, Keys: s.config.Keys,
		// A database in a file belongs to one server; what the one before left is free.
		Alone: strings.HasPrefix(s.config.Database, "sqlite://"),
	})
	if err != nil {
		return err
	}
	return s.executor.Start(ctx)
}

// stopExecuting ends that and returns when nothing is executed any more, or at the
// end of ctx: a tool that does not listen must not keep the server from ending.
func (s *Server) stopExecuting(ctx context.Context) {
	if s.network != nil {
		defer s.network.Close()
	}
	if s.executor == nil {
		return
	}
	stopped := make(chan struct{})
	go func() { // ends with the executor
		defer close(stopped)
		s.executor.Stop()
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		s.config.Log.Error("runs did not stop in time; they go on at the next start")
	}
}

// env answers ${env.NAME} of agent configs.
func (c *Config) env(name string) (string, bool) {
	if !slices.Contains(c.AllowEnv, name) {
		return "", false
	}
	return os.LookupEnv(name)
}
