package storage

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// ClientInput is what a front end sends with a message for the runs that the message
// starts: tools that it executes itself, and context for the model. It is the same for
// all of these runs, and is not passed on to runs that they start.
type ClientInput struct {
	// EntityID is the sender of the message. Nobody else answers the calls of Tools.
	EntityID shoal.EntityID  `json:"entityId"`
	Tools    []ClientTool    `json:"tools"`
	Context  []ClientContext `json:"context"`
	// Refused are the names of the tools that the run does not use, because its agent
	// has tools with the same names. It is empty until the run has started.
	Refused []string `json:"refused"`
}

// ClientTool is a tool that a front end executes. Schema is the JSON Schema of its
// arguments, nil for any object.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

// ClientContext is something that the model should know in a run.
type ClientContext struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}
