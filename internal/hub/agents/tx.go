package agents

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx is what the functions of this package read in a transaction, see [core.Tx].
type Tx interface {
	core.Tx
	Blocks(session shoal.SessionID, conversation string, filter storage.BlockFilter) ([]storage.Block, error)
	Conversation(session shoal.SessionID, id string) (storage.Conversation, error)
	Conversations(session shoal.SessionID, agent shoal.EntityID, filter storage.ConversationFilter) ([]storage.ConversationState, error)
	Goals(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Goal, error)
	HostedAgentAt(session shoal.SessionID, id shoal.EntityID, version int) (storage.Agent, error)
	HostedAgentVersions(session shoal.SessionID, id shoal.EntityID, before int, limit int) ([]storage.Agent, error)
	HostedMembers(session shoal.SessionID, space shoal.SpaceID) ([]shoal.EntityID, error)
	Memories(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Memory, error)
	Messages(session shoal.SessionID, space shoal.SpaceID, page storage.Page) ([]shoal.Message, error)
}
