package codex

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

// What Codex has printed becomes these events.
func TestTranscripts(t *testing.T) {
	harnesstest.Replay(t, func() (*harness.Turns, func([]byte)) {
		s := &session{
			Conversation: &process.Conversation{Turns: harness.NewTurns()},
			items:        map[string]item{}, asked: map[string]json.RawMessage{},
		}
		s.peer = jsonrpc.New(io.Discard, "", s.receive)
		return s.Turns, func(text []byte) {
			if s.thread == "" {
				var first struct{ Params notification }
				if err := json.Unmarshal(text, &first); err != nil {
					t.Error(err)
				}
				s.thread = first.Params.ThreadID
			}
			if err := s.peer.Read(bytes.NewReader(text)); err != nil {
				t.Error(err)
			}
		}
	})
}
