package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

func healthRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/healthz", do: healthy, open: true, id: "health", tag: "Server",
			summary: "Is the process alive?", status: http.StatusOK, out: health{},
		},
		{
			method: http.MethodGet, path: "/readyz", do: ready, open: true, id: "ready", tag: "Server",
			summary: "Is the server recovered and serving?", status: http.StatusOK, out: health{}, errors: []shoal.Kind{shoal.Busy},
		},
	}
}

type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

func healthy(c *call) error {
	return c.answer(http.StatusOK, health{"ok", c.Version})
}

func ready(c *call) error {
	if c.Ready == nil {
		return c.answer(http.StatusOK, health{"ready", c.Version})
	}
	if err := c.Ready(); err != nil {
		return &shoal.Error{Op: "httpapi.ready", Kind: shoal.Busy, Msg: "The server cannot serve now. Try again in a moment.", Err: err}
	}
	return c.answer(http.StatusOK, health{"ready", c.Version})
}
