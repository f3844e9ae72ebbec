package opencode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/harness"
)

// Every mode has a rule for everything, and what a mode promises is in the rules that count last.
func TestPermissions(t *testing.T) {
	for _, c := range []struct {
		mode            harness.Mode
		all, edit, bash string
	}{
		{harness.ModeRead, "deny", "deny", "deny"},
		{harness.ModeAsk, "ask", "ask", "ask"},
		{harness.ModeEdit, "ask", "allow", "ask"},
	} {
		text := permissions(harness.Spec{Mode: c.mode, Servers: []harness.Server{{Name: "shoal"}}})
		var rules map[string]any
		if err := json.Unmarshal([]byte(text), &rules); err != nil {
			t.Fatalf("%s: %v: %s", c.mode, err, text)
		}
		if rules["*"] != c.all || rules["edit"] != c.edit || rules["bash"] != c.bash || rules["shoal_*"] != "allow" || !strings.HasPrefix(text, `{"*":`) {
			t.Errorf("%s: %s", c.mode, text)
		}
	}
}
