package history

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/modelrequest"
)

// Public returns runs of a conversation as people read them. It leaves out what only a
// provider reads, and of files everything but their names and sizes. A summary is shown
// with the run that made it.
func Public(conv storage.Conversation, blocks []storage.Block) ([]shoal.ConversationRun, error) {
	data, err := decodeData(conv)
	if err != nil {
		return nil, err
	}
	out := make([]shoal.ConversationRun, len(blocks))
	for i, b := range blocks {
		decoded, err := decodeBlock(b)
		if err != nil {
			return nil, err
		}
		out[i] = shoal.ConversationRun{RunID: b.Run, EndedAt: b.EndedAt, Messages: make([]shoal.ModelMessage, len(decoded.messages))}
		for j, m := range decoded.messages {
			out[i].Messages[j] = modelrequest.PublicMessage(m)
		}
		if s := data.Summary; s != nil && len(s.Order) > 0 && s.Order[len(s.Order)-1] == b.Run {
			out[i].Summary = &s.Text
		}
	}
	return out, nil
}
