package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"I see 1 messages.", "by summary, again the same summary: false]", "The store keeps all 16 messages."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing of %q in:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "I see 15 messages.") {
		t.Errorf("nothing was reduced:\n%s", &out)
	}
}
