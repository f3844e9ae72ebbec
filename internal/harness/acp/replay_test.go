package acp

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/harnesstest"
	"github.com/shoal-dev/shoal/internal/harness/jsonrpc"
	"github.com/shoal-dev/shoal/internal/harness/process"
)

// What agents have printed becomes these events. The answer to the prompt ends the turn.
func TestTranscripts(t *testing.T) {
	harnesstest.Replay(t, func() (*harness.Turns, func([]byte)) {
		s := &session{Conversation: &process.Conversation{Turns: harness.NewTurns()}, asked: map[string]request{}, approved: map[string]json.RawMessage{}}
		s.peer = jsonrpc.New(io.Discard, "2.0", s.receive)
		return s.Turns, func(text []byte) {
			var m struct {
				Params struct{ SessionID string }
				Result json.RawMessage
			}
			if err := json.Unmarshal(text, &m); err != nil {
				t.Error(err)
			}
			if m.Result != nil {
				s.ended(m.Result, nil)
				return
			}
			s.id = m.Params.SessionID
			if err := s.peer.Read(bytes.NewReader(text)); err != nil {
				t.Error(err)
			}
		}
	})
}
