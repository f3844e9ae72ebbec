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
	text := out.String()
	for _, want := range []string{
		`[billing wants to call pay {"invoice":7}: permitted]`, "billing: (scripted) Invoice 7 is paid.",
		"[desk used ", "[billing used ", "billing: (scripted) Yes.",
	} {
		_, after, ok := strings.Cut(text, want)
		if !ok {
			t.Fatalf("output lacks %q in its place:\n%s", want, &out)
		}
		text = after
	}
	if strings.Contains(text, "[desk used ") {
		t.Errorf("the desk takes part in the second turn:\n%s", &out)
	}
}
