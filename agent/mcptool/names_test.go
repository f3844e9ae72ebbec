package mcptool

import (
	"strings"
	"testing"
)

func TestToolNamesAreValidForModels(t *testing.T) {
	long := strings.Repeat("x", 70)
	taken := map[string]bool{}
	for _, c := range []struct{ name, want string }{
		{"plain-Name_1", "plain-Name_1"},
		{"a.b", "a_b"},
		{"a/b", "a_b_2"},
		{"a b", "a_b_3"},
		{"größe", "gr__e"},
		{long, long[:64]},
		{long + "y", long[:62] + "_2"},
		{"", "_2"},
	} {
		if got := modelName(c.name, taken); got != c.want {
			t.Errorf("modelName(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}
