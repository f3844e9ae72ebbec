package run_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Whatever way work takes from one agent to another: what needs a permission in the other agent is
// asked for, also if a person has always allowed the first one a tool of the same name.
func TestPermissionsOfWorkThatIsHandedOn(t *testing.T) {
	for name, handsOn := range map[string]script.Answer{
		"it delegates":           calls(call("d", "delegateToAgent", `{"targetAgentEntityId":"helper"}`)),
		"it mentions the other":  calls(call("m", "sendSpaceMessage", `{"spaceId":"shop","text":"Do it.","mention":"helper"}`)),
		"it calls it as a tool":  calls(call("c", "consult", `{"prompt":"Do it."}`)),
		"it calls a tool for it": calls(call("c", "consult", `{"prompt":"Do it."}`), call("d", "danger", `{}`)),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
				switch last := req.Messages[len(req.Messages)-1]; {
				case last.Role == agent.ToolRole:
					return silent
				case strings.Contains(last.Text(), "yourself"):
					return calls(call("", "danger", `{}`))
				}
				return handsOn
			}), strings.TrimSuffix(cards, "]")+`,{"name":"consult","executionType":"ai-agent","execution":{"agentConfig":"helper"}}]`)
			bot := shoal.EntityID("bot")
			_, err := w.hub.Spaces.Update(t.Context(), ann, session, "shop", shoal.SpaceChange{AdminAgentID: &bot})
			w.must(err)
			var read []string // what the helper's calls returned
			w.hosts("helper", script.Func(func(req *agent.Request) script.Answer {
				last := req.Messages[len(req.Messages)-1]
				for _, r := range last.Results() {
					read = append(read, string(r.Status)+" "+r.Text)
				}
				if last.Role == agent.ToolRole {
					return silent
				}
				return calls(call("", "danger", `{}`))
			}), cards)
			w.join("shop", "helper")
			_, err = w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "bob", Kind: shoal.Human}, "")
			w.must(err)

			id := w.says("Do it yourself.")
			w.reaches(id, shoal.RunWaitingTool)
			w.answers(id, "danger", `{"approved":true,"remember":{"decision":"allow","scope":"tool"}}`)
			w.reaches(id, shoal.RunCompleted)
			w.reaches(w.says("Do it yourself, again."), shoal.RunCompleted)

			w.says("Hand it on.")
			var asked storage.Pending
			w.until("somebody is asked", func() bool {
				for _, r := range w.runs() {
					for _, row := range w.rows(r.ID) {
						if row.Status == shoal.PendingOpen && row.ToolName == "danger" {
							asked = row
							return true
						}
					}
				}
				return false
			})
			no := false
			denied := shoal.PendingAnswer{Approved: &no}
			bob := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "bob"}
			if _, err := w.hub.Pending.Answer(t.Context(), bob, session, asked.ID, denied); err == nil {
				t.Error("somebody who has nothing to do with it answers")
			}
			if len(read) > 0 {
				t.Errorf("before the answer the helper read %q", read)
			}
			_, err = w.hub.Pending.Answer(t.Context(), ann, session, asked.ID, denied)
			w.must(err)
			w.until("all runs have ended", func() bool {
				for _, r := range w.runs() {
					if !r.Status.Ended() {
						return false
					}
				}
				return true
			})
			if got := strings.Join(read, ", "); !strings.HasPrefix(got, "denied ") {
				t.Errorf("the helper read %q", got)
			}
		})
	}
}

// An answer to all equal requests answers those about the tool of the same agent.
func TestEqualRequestsOfTwoAgents(t *testing.T) {
	w := newWorld(t)
	w.hosts("helper", script.PerTurn(calls(call("", "danger", `{}`)), silent), cards)
	w.shopkeeper(script.PerTurn(calls(call("c", "consult", `{"prompt":"Do it."}`), call("own", "danger", `{}`)), silent),
		strings.TrimSuffix(cards, "]")+`,{"name":"consult","executionType":"ai-agent","execution":{"agentConfig":"helper"}}]`)
	id := w.says("Do it.")
	w.reaches(id, shoal.RunWaitingTool)
	w.answers(id, "own", `{"approved":true,"alsoEqual":true}`)
	for _, row := range w.rows(id) {
		if row.ToolName == "danger" && (row.Status == shoal.PendingOpen) == (row.ToolCallID == "own") {
			t.Errorf("the request about %s of %s is %s", row.ToolCallID, row.ToolAgent(), row.Status)
		}
	}
	w.answers(id, "danger", `{"approved":true}`)
	w.reaches(id, shoal.RunCompleted)
}
