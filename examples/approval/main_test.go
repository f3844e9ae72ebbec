package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for typed, want := range map[string]string{
		"yes\n":       "completed (scripted) The tool says: paid 70.00 EUR",
		"too much!\n": "completed (scripted) The tool says: Permission denied. The call was not executed. Reason: too much!",
		"":            "waiting",
	} {
		var out strings.Builder
		if err := run(t.Context(), strings.NewReader(typed), &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.HasPrefix(got, `agent wants to call pay {"amount":70}.`) || !strings.Contains(got, want) {
			t.Errorf("input %q: got %q, want it to contain %q", typed, got, want)
		}
	}
}
