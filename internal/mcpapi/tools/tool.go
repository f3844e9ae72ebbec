package tools

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
)

// tool is one row of the table of tools, which is independent of any transport.
type tool struct {
	name   string
	about  string
	inputs []input
	output any // a value of the type of the structured result, for its schema
	// waits says that a call may block for long.
	waits bool
	// What clients are told about a call: it changes nothing; calling twice is as
	// good as once; it takes something away.
	reads, repeats, removes bool
	// words maps what the hub calls a field to what the tool calls it.
	words map[string]string
	call  func(context.Context, *call) (result, error)
}

// result is what a tool answers if it does not fail.
type result struct {
	text string
	// more are further texts, behind the first.
	more []string
	// structured is the REST object of the same thing, or a list.
	structured any
	// delivery is that of a wait, to be told when the answer was written.
	delivery *inbox.Delivery
}

// call is one call of a tool, with its arguments decoded and its actor checked.
type call struct {
	Set
	Caller
	arguments
}

// list is how a tool answers with many things. NextCursor is left out on the
// last page.
type list[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// actor returns the entity that acts, for calls that nobody else checks.
func (c *call) actor() (shoal.EntityID, error) {
	switch {
	case c.Who.EntityID != "":
		return c.Who.EntityID, nil
	case c.Who.Admin():
		return "", shoal.E("mcpapi", shoal.EntityRequired, "This call needs an acting entity: name it with the header X-Shoal-Entity.")
	}
	return "", shoal.E("mcpapi", shoal.Forbidden, "A service key acts as no entity; use an entity key.")
}
