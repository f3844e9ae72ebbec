package acp

import "testing"

func TestPatch(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"a changed line", "one\ntwo\nthree\n", "one\n2\nthree\n", "--- a.ts\n+++ a.ts\n-two\n+2"},
		{"a new file", "", "one\ntwo\n", "--- a.ts\n+++ a.ts\n+one\n+two"},
		{"an emptied file", "one\n", "", "--- a.ts\n+++ a.ts\n-one"},
		{"a repeated line", "one\none\n", "one\none\none\n", "--- a.ts\n+++ a.ts\n+one"},
		{"nothing", "one\n", "one\n", "--- a.ts\n+++ a.ts"},
	} {
		if got := patch("a.ts", c.before, c.after); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	diff := []byte(`[{"type":"diff","path":"a.ts","oldText":null,"newText":"one\n"}]`)
	if got := texts(diff); got != "--- a.ts\n+++ a.ts\n+one" {
		t.Errorf("a diff is shown as %q", got)
	}
}
