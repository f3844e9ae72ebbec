package mcptool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/mcptool"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// A model calls tools of a real server: with an argument that is wrong, with one
// that is right, and one that reports its progress.
func TestAgentUsesServerTools(t *testing.T) {
	s := newShop()
	for name, server := range servers(t, s) {
		t.Run(name, func(t *testing.T) {
			no := false
			server.RequiresPermission = &no
			answers, err := script.Parse(`
call echo {"text":1}
---
call echo {"text":"moin"}
---
call work {}
---
say  Done.
`)
			if err != nil {
				t.Fatal(err)
			}
			a, err := agent.New(script.New(answers...), agent.Options{Tools: connect(t, server).Tools()})
			if err != nil {
				t.Fatal(err)
			}
			var results []agent.ToolResult
			var told []agent.ToolProgress
			var end agent.TurnFinished
			for event, err := range a.Stream(t.Context(), agent.NewConversation(), agent.Say("Say moin.")) {
				if err != nil {
					t.Fatal(err)
				}
				switch e := event.(type) {
				case agent.ToolFinished:
					e.Result.CallID = ""
					results = append(results, e.Result)
				case agent.ToolProgress:
					e.CallID = ""
					told = append(told, e)
					if name != "stdio" {
						s.noticed <- struct{}{}
					}
				case agent.TurnFinished:
					end = e
				}
			}
			if diff := cmp.Diff([]agent.ToolResult{
				{Name: "echo", Status: agent.ResultInvalid, Text: "Error: arguments.text: must be string, not integer"},
				{Name: "echo", Status: agent.ResultOK, Text: "moin"},
				{Name: "work", Status: agent.ResultOK, Text: "worked"},
			}, results); diff != "" || end.Outcome != agent.Completed {
				t.Errorf("%s, results (-want +got):\n%s", end.Outcome, diff)
			}
			if name != "stdio" { // that one is another process
				for key := range s.named.Range {
					if text, ok := key.(string); !ok || !strings.HasPrefix(text, "trn_") {
						t.Errorf("a call came with the key %v", key)
					}
				}
			}
			if diff := cmp.Diff([]agent.ToolProgress{{Message: "half", Percent: 50}}, told); diff != "" && name != "stdio" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
		})
	}
}

// Without a word about it in the configuration a person is asked.
func TestCallsRequirePermissionByDefault(t *testing.T) {
	s := newShop()
	answers, err := script.Parse(`call echo {"text":"moin"}`)
	if err != nil {
		t.Fatal(err)
	}
	url, _ := serve(t, s.sessions())
	a, err := agent.New(script.New(answers...), agent.Options{Tools: connect(t, mcptool.Server{Name: "shop", URL: url}).Tools()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("Say moin."))
	if err != nil || r.Outcome != agent.Waiting || len(r.Pending) != 1 || s.calls.Load() != 0 {
		t.Errorf("%+v after %d calls, %v", r, s.calls.Load(), err)
	}
}
