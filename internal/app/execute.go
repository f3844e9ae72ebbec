package app

import (
	"context"
	"os"
	"slices"

	"github.com/shoal-dev/shoal/internal/remoterun"
	"github.com/shoal-dev/shoal/internal/run"
	"github.com/shoal-dev/shoal/internal/tool"
)

// execute starts the executor of hosted agents' runs.
func (s *Server) execute(ctx context.Context) (err error) {
	if err := s.startTelemetry(); err != nil {
		return err
	}
	s.executor, err = run.New(run.Options{
		Hub: s.Hub, Log: s.config.Log, Metrics: s.metrics, Network: s.network, Env: s.config.env, Keys: s.config.Keys, Traces: s.traces(),
		// A database file has only one server: runs of the previous one can be claimed.
		Alone: !s.config.usesPostgres(),
	})
	if err != nil {
		return err
	}
	if err := s.executor.Start(ctx); err != nil {
		return err
	}
	s.remote = remoterun.New(remoterun.Options{Hub: s.Hub, Log: s.config.Log, Lease: s.config.ProgramLease, FitsSchema: tool.CheckValue})
	s.remote.Start()
	return nil
}

// stopExecuting stops the executor and returns when it has stopped or ctx ends: a tool
// that ignores its context must not prevent the server from stopping.
func (s *Server) stopExecuting(ctx context.Context) {
	if s.network != nil {
		defer s.network.Close()
	}
	if s.remote != nil {
		defer s.remote.Stop()
	}
	if s.push != nil {
		defer s.push.Stop()
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

// env returns the value of ${env.NAME} in agent configs.
func (c *Config) env(name string) (string, bool) {
	if !slices.Contains(c.AllowEnv, name) {
		return "", false
	}
	return os.LookupEnv(name)
}
