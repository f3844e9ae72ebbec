package tools

import (
	"context"
	"time"

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
	// remote says that only remote agents are offered the tool.
	remote bool
	// Annotations for clients: the tool changes nothing, is idempotent, or destroys
	// something.
	reads, repeats, removes bool
	// words maps the hub's name of a field to the tool's.
	words map[string]string
	// A tool has one of the two. wait returns what a wait returned, or the wait if it is still
	// open after while.
	call func(context.Context, *call) (result, error)
	wait func(ctx context.Context, c *call, while time.Duration) (*inbox.Delivery, *inbox.HeldWait, error)
}

// result is the result of a tool call that succeeded.
type result struct {
	text string
	// more are further texts, after the first.
	more []string
	// structured is the object that REST returns, or a list.
	structured any
	// delivery is set by a wait; its Settle is called once the response was written or failed.
	delivery *inbox.Delivery
}

// call is one call of a tool, with its arguments decoded and its actor checked.
type call struct {
	Set
	Caller
	arguments
	// onlyReads says that a wait returns what is there.
	onlyReads bool
}

// timeout is for how long a call waits.
func (c *call) timeout() time.Duration {
	if c.onlyReads {
		return 0
	}
	return time.Duration(c.whole("timeoutMs")) * time.Millisecond
}

// list is a page of results. NextCursor is omitted on the last page.
type list[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// actor returns the acting entity, for calls whose actor the hub does not check.
func (c *call) actor() (shoal.EntityID, error) {
	switch {
	case c.Principal.EntityID != "":
		return c.Principal.EntityID, nil
	case c.Principal.Admin():
		return "", shoal.E("mcpapi", shoal.EntityRequired, "This call needs an acting entity: name it with the header X-Shoal-Entity.")
	}
	return "", shoal.E("mcpapi", shoal.Forbidden, "A service key acts as no entity; use an entity key.")
}
