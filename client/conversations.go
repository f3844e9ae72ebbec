package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// AgentConversations lists the conversations of a hosted agent in the order of their
// ids, without those that were cleared. For admins and owners of the session, as are
// the methods that follow.
func (s *Session) AgentConversations(ctx context.Context, id shoal.EntityID) iter.Seq2[shoal.Conversation, error] {
	return list[shoal.Conversation](ctx, s.client, call{op: "client.AgentConversations", path: s.path("agents", string(id), "conversations")})
}

// AgentConversation lists what the ended runs of a conversation of a hosted agent added
// to it, the newest run first.
func (s *Session) AgentConversation(ctx context.Context, id shoal.EntityID, conversation string) iter.Seq2[shoal.ConversationRun, error] {
	return list[shoal.ConversationRun](ctx, s.client, call{op: "client.AgentConversation", path: s.path("agents", string(id), "conversations", conversation), named: true})
}

// ClearAgentConversation deletes the history of a conversation, so that later runs start
// without it. It fails with Conflict while one of its runs is active.
func (s *Session) ClearAgentConversation(ctx context.Context, id shoal.EntityID, conversation string) error {
	in := call{op: "client.ClearAgentConversation", method: http.MethodDelete, path: s.path("agents", string(id), "conversations", conversation), named: true, once: true}
	return s.client.do(ctx, in, nil)
}
