package hub

import (
	"context"
	"encoding/json"
	"errors"

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
	// has tools of these names. It is empty until the run has begun.
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

// PostWithClient is [Messages.Post] with what a front end sends for the runs that the
// message starts; nil is nothing. A repeated call with an idempotency key returns the
// first message and changes nothing in its runs, whatever in is.
func (m *Messages) PostWithClient(ctx context.Context, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID, d shoal.Draft, in *ClientInput, idempotencyKey string) (shoal.Message, error) {
	return m.post(ctx, "hub.Messages.PostWithClient", who, session, space, d, in, idempotencyKey)
}

// ClientInput returns what the caller's front end sent for a run, nil when there is
// nothing or when it was sent by another entity.
func (r *Runs) ClientInput(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.RunID) (out *ClientInput, err error) {
	err = r.view(ctx, "hub.Runs.ClientInput", func(tx Tx) error {
		if _, err := seesRun(tx, who, session, id); err != nil {
			return err
		}
		found, err := clientInput(tx, session, id)
		if err == nil && found != nil && found.EntityID == who.EntityID {
			out = found
		}
		return err
	})
	return out, err
}

// clientInput returns what a front end sent for a run, nil for nothing.
func clientInput(tx Tx, session shoal.SessionID, run shoal.RunID) (*ClientInput, error) {
	in, err := tx.ClientInput(session, run)
	if errors.Is(err, shoal.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &in, nil
}

// keepClientInput stores what a front end sent for a new run, or for a queued one that gets another
// trigger; nil leaves what there is.
func keepClientInput(ch *change, r StoredRun, in *ClientInput) error {
	if in == nil {
		return nil
	}
	own := *in
	own.Refused = []string{} // it may be that of another run
	return ch.PutClientInput(r.SessionID, r.ID, own)
}

// clientInputFrom is the input as what the sender of a message sends with it.
func clientInputFrom(sender shoal.EntityID, in *ClientInput) *ClientInput {
	if in == nil {
		return nil
	}
	own := *in
	own.EntityID = sender
	return &own
}
