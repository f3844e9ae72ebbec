package runs

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ReadConversation returns the conversation of a run, a new one if none is stored.
func ReadConversation(tx storage.Tx, r storage.Run) (storage.Conversation, error) {
	conv, err := tx.Conversation(r.SessionID, r.Conversation)
	if errors.Is(err, shoal.NotFound) {
		return storage.Conversation{Session: r.SessionID, ID: r.Conversation, Agent: r.AgentID}, nil
	}
	return conv, err
}

// NextPosition advances the clock of the run's conversation and returns its new value.
func (c *RunChange) NextPosition() (int64, error) {
	conv, err := ReadConversation(c.Tx, *c.Run)
	if err != nil {
		return 0, err
	}
	conv.Clock++
	return conv.Clock, c.PutConversation(conv)
}
