package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Export returns the whole conversation as JSON with a version number, for
// [Import]: messages, name, metadata, summary, remembered permissions, states of
// context providers, and an unfinished turn. It fails with ErrNotFound if nothing was
// written yet.
func (c *Conversation) Export(ctx context.Context) ([]byte, error) {
	r, err := c.store.Load(ctx, c.id)
	if err != nil {
		return nil, err
	}
	return encodeCheckpoint(r)
}

// Import stores an exported conversation under its id and returns a handle on
// it. It migrates older versions. It fails with ErrConflict if store has a
// conversation with that id, or if the parts of data contradict each other, and with
// ErrInvalidJSON or ErrInvalidArgument if data is not a checkpoint, is of an unknown
// kind, or has a newer version.
func Import(ctx context.Context, store Store, data []byte) (*Conversation, error) {
	r, err := decodeCheckpoint(data)
	if err != nil {
		return nil, err
	}
	r.Revision = 0
	err = store.Replace(ctx, r)
	if errors.Is(err, ErrConflict) {
		return nil, &Error{Op: "agent.Import", Kind: ErrConflict, Err: err, Msg: fmt.Sprintf("The store has a conversation %s already; import into another store.", r.ID)}
	}
	if err != nil {
		return nil, err
	}
	return OpenConversation(store, r.ID), nil
}

// A checkpoint is what [Conversation.Export] writes.
type checkpoint struct {
	Kind    string          `json:"kind"`
	Version int             `json:"version"`
	Record  json.RawMessage `json:"record"`
}

const checkpointKind = "shoal.conversation"

// upgrades[i] migrates a record of version i+1 to version i+2. The present version is
// the number of upgrades plus one.
var upgrades []func(record json.RawMessage) (json.RawMessage, error)

func encodeCheckpoint(r Record) ([]byte, error) {
	record, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("agent: encoding a conversation: %w", err)
	}
	return json.Marshal(checkpoint{Kind: checkpointKind, Version: len(upgrades) + 1, Record: record})
}

func decodeCheckpoint(data []byte) (Record, error) {
	const op = "agent.Import"
	var c checkpoint
	if err := json.Unmarshal(data, &c); err != nil {
		return Record{}, &Error{Op: op, Kind: ErrInvalidJSON, Msg: "Checkpoint is not the JSON that Export writes.", Err: err}
	}
	newest := len(upgrades) + 1
	switch {
	case c.Kind != checkpointKind:
		return Record{}, NewError(op, ErrInvalidArgument, fmt.Sprintf("Checkpoint has the unknown kind %q; the known one is %q.", c.Kind, checkpointKind))
	case c.Version > newest:
		return Record{}, NewError(op, ErrInvalidArgument, fmt.Sprintf("Checkpoint version %d is newer than supported version %d.", c.Version, newest))
	case c.Version < 1:
		return Record{}, invalidCheckpoint("version", int64(c.Version))
	}
	for v := c.Version; v < newest; v++ {
		upgraded, err := upgrades[v-1](c.Record)
		if err != nil {
			return Record{}, &Error{Op: op, Kind: ErrInvalidArgument, Msg: fmt.Sprintf("Checkpoint version %d could not be migrated.", v), Err: err}
		}
		c.Record = upgraded
	}
	var r Record
	if err := json.Unmarshal(c.Record, &r); err != nil {
		return Record{}, &Error{Op: op, Kind: ErrInvalidJSON, Msg: "Checkpoint holds no conversation record.", Err: err}
	}
	if r.ID == "" {
		return Record{}, NewError(op, ErrInvalidArgument, "Checkpoint has a conversation without an id; take an older checkpoint.")
	}
	return r, r.validate()
}
