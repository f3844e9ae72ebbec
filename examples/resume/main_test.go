package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, life := range []struct{ answer, want string }{
		{"", `waiting: may deployer run deploy {"service":"shop"}?`},
		{"", "still waiting: may deployer run deploy?"},
		{"yes", "(scripted) Done."},
		{"", `waiting: may deployer run deploy {"service":"shop"}?`},
	} {
		var out strings.Builder
		if err := run(t.Context(), dir, life.answer, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), life.want) {
			t.Errorf("with %q: %s", life.answer, &out)
		}
	}
}
