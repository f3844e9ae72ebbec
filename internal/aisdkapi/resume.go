package aisdkapi

import (
	"encoding/json"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// active returns the runs in the space that act for the caller and have not ended.
func (c *call) active() ([]shoal.Run, error) {
	return exchange.ActiveRuns(c.r.Context(), c.Hub, c.caller, c.session, c.space)
}

// resume serves GET …/stream: the answer to the newest message of the caller from its beginning, and
// what follows. Without an answer in progress it is 204, unless the client asks for the last answer.
func (c *call) resume() error {
	x := &response{call: c, in: new(request)}
	end, err := x.open(newHeld())
	if err != nil {
		return err
	}
	defer end()
	active, err := c.active()
	if err != nil {
		return err
	}
	newest, posted := x.NewestOwn()
	if len(active) == 0 && (!posted || !c.r.URL.Query().Has("last")) {
		c.w.Header().Set("Cache-Control", "no-store")
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if posted {
		x.Adopt(newest)
		x.id = answerID(newest.ID)
	}
	for _, run := range active {
		if err := x.Want(c.r.Context(), run.ID); err != nil {
			return err
		}
	}
	if err := x.Find(c.r.Context()); err != nil {
		return err
	}
	x.hide(newest.Seq)
	_ = x.stream() // a client that disconnects can resume again
	return nil
}

// stop serves POST …/stop: it cancels what resume would show.
func (c *call) stop() error {
	if _, err := c.Hub.Spaces.Get(c.r.Context(), c.caller, c.session, c.space); err != nil {
		return err
	}
	active, err := c.active()
	if err != nil {
		return err
	}
	for _, run := range active {
		if _, err := c.Hub.Runs.Cancel(c.r.Context(), c.caller, c.session, run.ID); err != nil {
			return err
		}
	}
	return c.write(map[string]any{"success": true})
}

// write answers with JSON.
func (c *call) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Cache-Control", "no-store")
	_, _ = c.w.Write(text) // an error means that the client has disconnected
	return nil
}
