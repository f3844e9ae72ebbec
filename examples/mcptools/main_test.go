package main

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/apptest"
)

func TestRun(t *testing.T) {
	server := apptest.Start(t)
	key := server.Agent("scout")
	answer, err := run(t.Context(), lister(), server.URL, key, "Who is here?")
	if err != nil || !strings.Contains(answer, "scout") {
		t.Errorf("got answer %q, error %v; want the id scout in the answer", answer, err)
	}
}

func TestRunNamesAnUnreachableServer(t *testing.T) {
	_, err := run(t.Context(), lister(), "http://127.0.0.1:1", "key-that-stays-secret", "Who is here?")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "stays-secret") {
		t.Errorf("got error %v, want one that names 127.0.0.1:1 and not the key", err)
	}
}
