package httpapi

import (
	"bytes"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/metrics"
)

func healthRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/healthz", do: healthy, public: true, id: "health", tag: "Server",
			summary: "Is the process alive?", status: http.StatusOK, out: health{},
		},
		{
			method: http.MethodGet, path: "/readyz", do: ready, public: true, id: "ready", tag: "Server",
			summary: "Is the server recovered and serving?",
			about:   "`bus` is `up` or `down` for a server that shares its database with others: while it is down, notifications from the others are up to four seconds late.",
			status:  http.StatusOK, out: health{}, errors: []shoal.Kind{shoal.Busy},
		},
		{
			method: http.MethodGet, path: "/metrics", do: showMetrics, id: "metrics", tag: "Server",
			summary: "Read the metrics of the server, for Prometheus",
			about:   "For admins only. No metric names a participant. `--metrics-addr` opens a separate listener that requires no key.",
			status:  http.StatusOK, errors: []shoal.Kind{shoal.Forbidden},
		},
	}
}

type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
	Bus     string `json:"bus,omitempty"`
}

func healthy(c *call) error {
	return c.answer(http.StatusOK, health{Status: "ok", Version: c.Version})
}

// showMetrics responds with the metrics of the whole server.
func showMetrics(c *call) error {
	if !c.caller.Admin() {
		return shoal.E("httpapi.showMetrics", shoal.Forbidden, "Reading the metrics requires an admin key. Use one, or the address of --metrics-addr.")
	}
	var text bytes.Buffer
	if err := c.Metrics.Write(&text); err != nil {
		return err
	}
	return c.write(http.StatusOK, metrics.ContentType, text.Bytes())
}

func ready(c *call) error {
	if c.Ready != nil {
		if err := c.Ready(); err != nil {
			return &shoal.Error{Op: "httpapi.ready", Kind: shoal.Busy, Msg: "The server cannot serve now. Try again in a moment.", Err: err}
		}
	}
	now := health{Status: "ready", Version: c.Version}
	if c.Bus != nil {
		now.Bus = c.Bus()
	}
	return c.answer(http.StatusOK, now)
}
