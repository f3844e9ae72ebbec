package openaiapi

import (
	"encoding/json"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// model is an agent as a model.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func modelOf(e shoal.Entity) model {
	return model{ID: string(e.ID), Object: "model", Created: e.CreatedAt.Unix(), OwnedBy: "shoal"}
}

// maxModels bounds the agents that are listed: the protocol has no pages.
const maxModels = 1_000

// listModels lists the agents that answer messages: those that Shoal runs, and those with a program
// of their own.
func (c *call) listModels() error {
	data := []model{}
	after := shoal.EntityID("")
	for len(data) < maxModels {
		page, err := c.Hub.Entities.List(c.r.Context(), c.caller, c.session, after, shoal.MaxPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			if e.Hosted {
				data = append(data, modelOf(e))
			}
		}
		if len(page) < shoal.MaxPage {
			break
		}
		after = page[len(page)-1].ID
	}
	return c.write(map[string]any{"object": "list", "data": data})
}

// getModel describes an agent.
func (c *call) getModel() error {
	e, err := c.agent(c.r.PathValue("model"))
	if err != nil {
		return err
	}
	return c.write(modelOf(e))
}

// agent returns the agent that a model is.
func (c *call) agent(id string) (shoal.Entity, error) {
	e, err := c.Hub.Entities.Get(c.r.Context(), c.caller, c.session, shoal.EntityID(id))
	switch kind := shoal.KindOf(err); {
	case kind == shoal.NotFound || kind == shoal.InvalidArgument || err == nil && !e.Hosted:
		return e, &shoal.Error{
			Op: "openaiapi", Kind: shoal.NotFound, Msg: "The model " + quoted(id) + " does not exist. A model is an agent with a configuration; GET " + Path + "models lists them.",
			Fields: []shoal.FieldError{{Location: "model", Message: "is not an agent"}},
		}
	}
	return e, err
}

// quoted returns a text of the client in quotes, truncated.
func quoted(s string) string {
	const most = 100
	if len(s) > most {
		s = s[:most] + "…"
	}
	text, _ := json.Marshal(s) // a string can always be marshalled
	return string(text)
}

// write answers with a JSON value.
func (c *call) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	c.w.WriteHeader(http.StatusOK)
	_, _ = c.w.Write(text) // an error means that the client has disconnected
	return nil
}
