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
	for _, want := range []string{"I see 1 messages.", "by summary, summary reused: false]", "The store keeps all 16 messages."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "I see 15 messages.") {
		t.Errorf("the model saw all messages, want a reduced history:\n%s", &out)
	}
}
