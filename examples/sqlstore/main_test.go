package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chats.db")
	for _, turn := range []struct{ conversation, want string }{
		{"alice", "(scripted) I have read 1 messages.\nalice: 2 messages\n"},
		{"bob", "(scripted) I have read 1 messages.\nbob: 2 messages\nalice: 2 messages\n"},
		{"alice", "(scripted) I have read 3 messages.\nalice: 4 messages\nbob: 2 messages\n"},
	} {
		var out strings.Builder
		if err := run(t.Context(), file, turn.conversation, "hello", &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != turn.want {
			t.Errorf("%s: got %q, want %q", turn.conversation, &out, turn.want)
		}
	}
}
