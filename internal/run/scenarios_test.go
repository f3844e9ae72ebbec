package run_test

import (
	"flag"
	"log/slog"
	"testing"

	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/run"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/tool"
)

var update = flag.Bool("update", false, "write the outcomes of the scenarios anew")

// The stories for which hosted agents were made, played with scripted models, in
// virtual time, on a real store.
func TestScenarios(t *testing.T) {
	shoaltest.PlayWith(t, "testdata/scenarios/*.txt", *update, shoaltest.Executor{
		Fits: tool.CheckValue,
		Start: func(t *testing.T, h *hub.Hub) func() {
			executor, err := run.New(run.Options{Hub: h, Alone: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			if err != nil {
				t.Fatalf("make the executor: %v", err)
			}
			if err := executor.Start(t.Context()); err != nil {
				t.Fatalf("start the executor: %v", err)
			}
			return executor.Stop
		},
	})
}
