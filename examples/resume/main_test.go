package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, start := range []struct{ answer, want string }{
		{"", `waiting: may deployer run deploy {"service":"shop"}?`},
		{"", "still waiting: may deployer run deploy?"},
		{"yes", "(scripted) Done."},
		{"", `waiting: may deployer run deploy {"service":"shop"}?`},
	} {
		var out strings.Builder
		if err := run(t.Context(), dir, start.answer, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), start.want) {
			t.Errorf("with answer %q: got %q, want it to start with %q", start.answer, &out, start.want)
		}
	}
}
