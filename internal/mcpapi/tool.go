package mcpapi

import (
	"context"
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
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
	// call is nil for a tool that is only listed here: the server of the caller
	// has it.
	call func(context.Context, *call) (result, error)

	inputSchema, outputSchema json.RawMessage
}

// caller is who calls: what a key proved, and the session that the call is in.
// Two callers are the same exactly if they are equal.
type caller struct {
	who     shoal.Principal
	session shoal.SessionID
}

// call is one call of a tool, with its arguments decoded and its actor checked.
type call struct {
	*API
	caller
	arguments
}

// result is what a tool answers if it does not fail.
type result struct {
	text string
	// more are further texts, behind the first.
	more []string
	// structured is the REST object of the same thing, or a list.
	structured any
	// delivery is that of a wait, to be told when the answer was written.
	delivery *hub.Delivery
}

// list is how a tool answers with many things. NextCursor is left out on the
// last page.
type list[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// table returns the tools in the order in which they are shown.
func table() []*tool {
	tools := []*tool{
		registerAgent(), listAgents(), waitForAgents(),
		createThread(), listThreads(), addParticipant(), removeParticipant(), muteThread(), closeThread(),
		sendMessage(), editMessage(), react(), deleteMessage(), waitForMentions(), waitForMessages(), readThread(), searchMessages(),
		listPendingActions(), answerPendingAction(),
	}
	for _, t := range tools {
		t.inputSchema, t.outputSchema = inputSchema(t.inputs), outputSchema(t.output)
	}
	return tools
}

// actor returns the entity that acts, for calls that nobody else checks.
func (c *call) actor() (shoal.EntityID, error) {
	switch {
	case c.who.EntityID != "":
		return c.who.EntityID, nil
	case c.who.Admin():
		return "", shoal.E("mcpapi", shoal.EntityRequired, "This call needs an acting entity: name it with the header X-Shoal-Entity.")
	}
	return "", shoal.E("mcpapi", shoal.Forbidden, "A service key acts as no entity; use an entity key.")
}
