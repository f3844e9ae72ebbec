package spacetool_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

func names(tools []agent.Tool) (all []string) {
	for _, t := range tools {
		all = append(all, t.Spec().Name)
	}
	return all
}

// Every tool that no configuration may name is there, and an agent can be made of
// them.
func TestToolsOfEveryAgent(t *testing.T) {
	w := newWorld(t)
	w.must(w.setAdmin())
	w.host("stock-agent")
	w.must(w.join("shop", "stock-agent"))
	r := w.ask("ann", "shop", "hello")
	tools, err := spacetool.Tools(t.Context(), r)
	w.must(err)
	want := append(slices.Clone(agentconfig.BuiltIns), "ask_user")
	got := names(tools)
	slices.Sort(want)
	slices.Sort(got)
	expect(t, "the tools", strings.Join(got, " "), strings.Join(want, " "))
	if _, err := agent.New(script.New(), agent.Options{Tools: tools}); err != nil {
		t.Error(err)
	}
	var again []string
	for _, tool := range tools {
		if tool.Spec().Idempotent {
			again = append(again, tool.Spec().Name)
		}
	}
	expect(t, "those that may be called again after a crash", strings.Join(again, " "), "readSpaceMessages getMyRuns getPreviousPlans")
}

// A configured tool takes the place of ask_user, whose name nobody reserved.
func TestToolsLeaveConfiguredNames(t *testing.T) {
	w := newWorld(t)
	r := w.ask("ann", "shop", "hello")
	r.Config.Tools = []agentconfig.Tool{{Name: "ask_user"}}
	tools, err := spacetool.Tools(t.Context(), r)
	w.must(err)
	expect(t, "whether ask_user is there", slices.Contains(names(tools), "ask_user"), false)
}

// What a model writes is checked before it gets to a tool: other fields, and values
// of other types, are refused; null is nothing.
func TestToolsTakeNullForNothing(t *testing.T) {
	w := newWorld(t)
	r := w.ask("ann", "shop", "hello")
	tools, err := spacetool.Tools(t.Context(), r)
	w.must(err)
	for _, c := range []struct {
		name, arguments string
		fits            bool
	}{
		{"setGoals", `{"goals":[{"match":null,"description":"x","priority":null,"isLongTerm":null,"isCompleted":null}],"clearExisting":null}`, true},
		{"setMemories", `{"memories":[{"content":"x","topic":null,"metadata":null}]}`, true},
		{"setPlans", `{"plans":[{"name":"x","cron":"@daily","scheduledAt":null,"timeZone":null,"status":null}]}`, true},
		{"deleteMemories", `{"matches":[],"topic":null,"deleteAll":true}`, true},
		{"setGoals", `{"goals":"x"}`, false},
		{"setGoals", `{"goals":[{"description":"x","urgency":1}]}`, false},
		{"setGoals", `{}`, false},
	} {
		at := slices.Index(names(tools), c.name)
		schema, err := agent.CompileSchema("schema", tools[at].Spec().Schema)
		w.must(err)
		if err := schema.Check("arguments", c.arguments); (err == nil) != c.fits {
			t.Errorf("%s %s: %v", c.name, c.arguments, err)
		}
		if text := w.call(r, c.name, c.arguments); c.fits && strings.HasPrefix(text, "failed: ") {
			t.Errorf("%s %s: %s", c.name, c.arguments, text)
		}
	}
}
