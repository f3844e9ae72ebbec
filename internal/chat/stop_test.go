package chat_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

func TestRunToStop(t *testing.T) {
	run := func(id shoal.RunID, agent shoal.EntityID) shoal.Run { return shoal.Run{ID: id, AgentID: agent} }
	for name, c := range map[string]struct {
		active []shoal.Run
		agent  shoal.EntityID
		want   shoal.RunID
		kind   shoal.Kind
		says   string
	}{
		"none":                     {nil, "", "", shoal.NotFound, "no agent is active"},
		"none of the agent":        {nil, "bot", "", shoal.NotFound, "no agent is active"},
		"the only one":             {[]shoal.Run{run("r1", "bot")}, "", "r1", "", ""},
		"the newest of one agent":  {[]shoal.Run{run("r2", "bot"), run("r1", "bot")}, "", "r2", "", ""},
		"the agent's":              {[]shoal.Run{run("r2", "eve"), run("r1", "bot")}, "bot", "r1", "", ""},
		"several agents":           {[]shoal.Run{run("r3", "eve"), run("r2", "bot"), run("r1", "eve")}, "", "", shoal.InvalidArgument, "(eve, bot): name one, /stop eve"},
		"an agent that is at rest": {[]shoal.Run{run("r1", "bot")}, "eve", "", shoal.NotFound, "eve is not active in this space; active: bot"},
	} {
		got, err := chat.RunToStop(c.active, c.agent)
		switch {
		case c.kind == "" && (err != nil || got.ID != c.want):
			t.Errorf("%s: %s, %v; want %s", name, got.ID, err, c.want)
		case c.kind != "" && (!errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %s with %q", name, err, c.kind, c.says)
		}
	}
}
