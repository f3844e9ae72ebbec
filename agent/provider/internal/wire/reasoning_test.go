package wire

import "testing"

func TestEffortsAndBudgets(t *testing.T) {
	for _, e := range []string{"low", "medium", "high", "xhigh"} {
		if got := Effort(Budget(e)); got != e {
			t.Errorf("%s means a budget of %d, which means %s", e, Budget(e), got)
		}
	}
	if Effort(0) != "" || Effort(-1) != "" || Budget("") != Budget("medium") {
		t.Errorf("nothing means %q, %q and %d", Effort(0), Effort(-1), Budget(""))
	}
	for _, c := range []struct {
		effort, want string
		taken        []string
	}{
		{"minimal", "low", []string{"low", "medium", "high"}},
		{"xhigh", "high", []string{"low", "medium", "high"}},
		{"medium", "high", []string{"low", "high"}},
		{"low", "high", []string{"high"}},
		{"xhigh", "xhigh", []string{"low", "xhigh"}},
		{"max", "max", []string{"low"}},
		{"low", "low", nil},
	} {
		if got := Nearest(c.effort, c.taken); got != c.want {
			t.Errorf("%s among %v is %s, want %s", c.effort, c.taken, got, c.want)
		}
	}
}

func TestModelFamilies(t *testing.T) {
	for _, c := range []struct {
		name, family string
		want         bool
	}{
		{"claude-opus-5", "claude-opus-5", true},
		{"claude-opus-5-20270101", "claude-opus-5", true},
		{"claude-opus-5@20270101", "claude-opus-5", true},
		{"claude-opus-5-v1:0", "claude-opus-5", true},
		{"claude-opus-5-latest", "claude-opus-5", true},
		{"claude-opus-5-5", "claude-opus-5", false},
		{"claude-opus-5-5-20270101", "claude-opus-5", false},
		{"claude-opus-55", "claude-opus-5", false},
		{"gpt-5-mini", "gpt-5", true},
		{"gpt-5.1", "gpt-5", false},
		{"gpt-5.1-codex", "gpt-5.1", true},
		{"gpt-5-2025-08-07", "gpt-5", true},
		{"gemini-3-pro", "gemini-4", false},
	} {
		if got := IsModel(c.name, c.family); got != c.want {
			t.Errorf("%s is of %s: %v", c.name, c.family, got)
		}
	}
}
