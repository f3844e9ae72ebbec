package server

import "testing"

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"/var/lib/shoal-1": "/var/lib/shoal-1", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'"} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}
