package openai

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// family is what the vendor's models of one family accept as reasoning effort.
type family struct {
	models  []string // see [wire.IsModel]
	efforts []string // from the least to the greatest; none if the models do not think
	none    bool     // accepts none, too
}

var (
	lowToHigh     = []string{"low", "medium", "high"}
	minimalToHigh = []string{"minimal", "low", "medium", "high"}
	lowToXHigh    = []string{"low", "medium", "high", "xhigh"}
)

// families are those of the vendor's documentation, as of November 2026. The more
// special ones come first.
var families = []family{
	{models: []string{"gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.3-chat", "o1-mini", "o1-preview"}},
	{models: []string{"gpt-5-pro"}, efforts: []string{"high"}},
	{models: []string{"gpt-5.2-pro", "gpt-5.4-pro", "gpt-5.5-pro"}, efforts: []string{"medium", "high", "xhigh"}},
	{models: []string{"gpt-5.1-codex-max", "gpt-5.2-codex", "gpt-5.3-codex"}, efforts: lowToXHigh},
	{models: []string{"gpt-5-codex", "gpt-5.1-codex", "codex-mini", "o1", "o3", "o4", "gpt-oss"}, efforts: lowToHigh},
	{models: []string{"gpt-5"}, efforts: minimalToHigh},
	{models: []string{"gpt-5.1"}, efforts: lowToHigh, none: true},
}

// newest is the family of every other model of the vendor from GPT-5.2 on.
var newest = family{efforts: lowToXHigh, none: true}

// familyOf finds the family of a model by its name; false for models of others,
// whose servers decide themselves what they accept.
func familyOf(name string) (family, bool) {
	name = strings.TrimPrefix(name[strings.LastIndex(name, "/")+1:], "ft:")
	for _, f := range families {
		if slices.ContainsFunc(f.models, func(m string) bool { return wire.IsModel(name, m) }) {
			return f, true
		}
	}
	switch {
	case !thinks(name):
		return family{}, true
	case strings.HasPrefix(name, "gpt-"), strings.HasPrefix(name, "codex-"):
		return newest, true
	}
	return family{}, false
}

// effort returns the effort to send for a model, empty for none of it. A budget is
// translated for the vendor's models, which know efforts alone.
func effort(name string, r agent.Reasoning) string {
	if !r.Enabled {
		return ""
	}
	f, known := familyOf(name)
	switch {
	case !known:
		return r.Effort
	case len(f.efforts) == 0:
		return ""
	case r.Effort == "none" && f.none:
		return "none"
	case r.Effort == "none":
		return f.efforts[0]
	case r.Effort == "":
		r.Effort = wire.Effort(r.BudgetTokens)
	}
	return wire.Nearest(r.Effort, f.efforts)
}
