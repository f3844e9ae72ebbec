package mcpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// figures are the metrics of the API.
type figures struct {
	calls metrics.Counters
	took  metrics.Histograms
}

func newFigures(m *metrics.Set) figures {
	return figures{
		calls: m.Counters("shoal_mcp_calls_total", "Calls of tools over MCP, by tool and outcome: ok, gone (the client had disconnected), or the code of the error.", "tool", "outcome"),
		took:  m.Histograms("shoal_mcp_seconds", "How long calls of tools over MCP took; a wait takes as long as it waits.", metrics.Seconds, "tool"),
	}
}

// gone is the outcome of a call whose client disconnected before the result.
const gone = "gone"

// count records a finished call in the metrics, and logs it at debug level.
func (a *API) count(c caller, t *tools.Tool, id string, out outcome, err error, began time.Time) {
	outcome := "ok"
	switch {
	case err != nil:
		outcome = gone
	case out.failed:
		outcome = string(out.code)
	}
	a.figures.calls.With(t.Name, outcome).Add(1)
	a.figures.took.With(t.Name).Took(began)
	if a.Log.Enabled(context.Background(), slog.LevelDebug) {
		a.Log.Debug("call", "request", id, "tool", t.Name, "outcome", outcome, "took", time.Since(began), "key", c.Principal.KeyID, "entity", c.Principal.EntityID)
	}
}
