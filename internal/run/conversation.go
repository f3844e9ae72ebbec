package run

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// Conversation returns runs of a conversation as people read them. What only a provider
// reads is left out, and of files everything but their names and sizes.
func Conversation(conv hub.StoredConversation, blocks []hub.Block) ([]shoal.ConversationRun, error) {
	kept, err := decodePast(conv)
	if err != nil {
		return nil, err
	}
	out := make([]shoal.ConversationRun, len(blocks))
	for i, b := range blocks {
		said, err := decodeBlock(b)
		if err != nil {
			return nil, err
		}
		out[i] = shoal.ConversationRun{RunID: b.Run, EndedAt: b.EndedAt, Messages: make([]shoal.ModelMessage, len(said.messages))}
		for j, m := range said.messages {
			out[i].Messages[j] = publicMessage(m)
		}
		if s := kept.Summary; s != nil && len(s.Order) > 0 && s.Order[len(s.Order)-1] == b.Run {
			out[i].Summary = &s.Text
		}
	}
	return out, nil
}
