package claude

import (
	"encoding/json"
	"testing"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/harnesstest"
	"github.com/shoal-dev/shoal/internal/harness/process"
)

// What Claude Code has printed becomes these events.
func TestTranscripts(t *testing.T) {
	harnesstest.Replay(t, func() (*harness.Turns, func([]byte)) {
		s := &session{Conversation: &process.Conversation{Turns: harness.NewTurns()}, asked: map[string]request{}}
		return s.Turns, func(text []byte) {
			var l line
			if err := json.Unmarshal(text, &l); err != nil {
				t.Error(err)
			}
			s.receive(l)
		}
	})
}
