package spacetool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	maxOthers   = 20  // runs of one answer
	maxProgress = 200 // characters
	maxCalls    = 50  // tools called, the last ones
)

var activeStatuses = []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply}

type myRuns struct {
	Status         *string `json:"status" jsonschema:"queued, running, waiting_tool or waiting_reply; all of them by default."`
	TriggerSpaceID *string `json:"triggerSpaceId" jsonschema:"Only runs that a message of this space started."`
}

// otherRun is another run of the agent that has not ended.
type otherRun struct {
	RunID         shoal.RunID       `json:"runId"`
	TriggerType   shoal.TriggerType `json:"triggerType"`
	TriggerSource string            `json:"triggerSource"`
	Status        shoal.RunStatus   `json:"status"`
	StartedAt     *shoal.Time       `json:"startedAt"`
	Progress      progress          `json:"progress"`

	about string // what started it, in its own words
}

// progress is what a run has done: the tools in the order of their calls, and the
// end of what it thought and wrote for itself.
type progress struct {
	ToolsCalled   []string `json:"toolsCalled"`
	TextGenerated string   `json:"textGenerated"`
	Reasoning     string   `json:"reasoning"`
}

func runsTool(r *Run) agent.Tool {
	return reading(tool("getMyRuns", "Lists your other runs that go on beside this one, with what they have done so far, so that nothing is done twice.",
		func(ctx context.Context, in myRuns) (any, error) {
			statuses := activeStatuses
			if s := shoal.RunStatus(or(in.Status, "")); s != "" {
				if !slices.Contains(activeStatuses, s) {
					return nil, shoal.Invalid("status", "must be queued, running, waiting_tool or waiting_reply, or left out for all")
				}
				statuses = []shoal.RunStatus{s}
			}
			space := shoal.SpaceID(or(in.TriggerSpaceID, ""))
			if space != "" {
				if err := shoal.CheckID("triggerSpaceId", string(space)); err != nil {
					return nil, err
				}
			}
			out := struct {
				CurrentRunID    shoal.RunID `json:"currentRunId"`
				OtherActiveRuns []otherRun  `json:"otherActiveRuns"`
			}{CurrentRunID: r.Run.ID}
			err := r.read(ctx, func(tx storage.Tx) (err error) {
				out.OtherActiveRuns, err = r.others(tx, statuses, space, maxOthers)
				return err
			})
			return out, err
		}))
}

// others returns the agent's other runs, the newest first.
func (r *Run) others(tx storage.Tx, statuses []shoal.RunStatus, space shoal.SpaceID, limit int) ([]otherRun, error) {
	// A run that wrote to the space is found, too, and left out again.
	runs, err := tx.Runs(r.session(), storage.RunFilter{Agent: r.agent(), Status: statuses, Space: space, Limit: shoal.MaxPage})
	if err != nil {
		return nil, err
	}
	out := []otherRun{}
	for _, run := range runs {
		if run.ID == r.Run.ID || space != "" && run.Space != space || len(out) == limit {
			continue
		}
		if may, err := r.mayReadRun(tx, run); err != nil {
			return nil, err
		} else if !may {
			continue
		}
		steps, err := tx.RunSteps(r.session(), run.ID)
		if err != nil {
			return nil, err
		}
		other := otherRun{RunID: run.ID, TriggerType: run.Trigger.Type, Status: run.Status, StartedAt: run.StartedAt, Progress: progressOf(steps)}
		other.TriggerSource, other.about = source(run.Trigger)
		out = append(out, other)
	}
	return out, nil
}

// mayReadRun reports whether the run may see what another one of its agent does: one
// that a message started, if it may read that space.
func (r *Run) mayReadRun(tx storage.Tx, other storage.Run) (bool, error) {
	if other.Space == "" {
		return r.onBehalf().MaySee(other.OnBehalf(behalf.Access{}).For), nil
	}
	return r.mayRead(tx, other.Space)
}

// source names where a trigger came from, and what it said.
func source(t shoal.Trigger) (name, about string) {
	switch t.Type {
	case shoal.PlanTrigger:
		return t.PlanName, t.Instruction
	case shoal.ServiceTrigger:
		return t.ServiceName, string(t.Payload)
	}
	return string(t.SpaceID), t.MessageContent
}

func progressOf(steps []storage.Step) progress {
	p := progress{ToolsCalled: []string{}}
	var text, thoughts strings.Builder
	for _, s := range steps {
		text.WriteString(s.Text)
		thoughts.WriteString(s.Reasoning)
		for _, c := range s.ToolCalls {
			p.ToolsCalled = append(p.ToolsCalled, c.ToolName)
		}
	}
	p.ToolsCalled = p.ToolsCalled[max(0, len(p.ToolsCalled)-maxCalls):]
	p.TextGenerated, p.Reasoning = tail(text.String()), tail(thoughts.String())
	return p
}

// tail is the end of a text.
func tail(text string) string {
	all := []rune(text)
	return string(all[max(0, len(all)-maxProgress):])
}

// delegates returns the agents that this run may hand its trigger over to: none
// unless its agent is the admin agent of the trigger's space.
func (r *Run) delegates(tx storage.Tx) ([]shoal.EntityID, error) {
	if r.Run.Trigger.Type != shoal.SpaceMessageTrigger {
		return nil, nil
	}
	space, err := tx.Space(r.session(), r.Run.Space)
	switch {
	case shoal.KindOf(err) == shoal.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case or(space.AdminAgentID, "") != r.agent() || space.Status != shoal.SpaceStatusOpen:
		return nil, nil
	}
	hosted, err := tx.HostedMembers(r.session(), r.Run.Space)
	if err != nil || !slices.Contains(hosted, r.agent()) {
		return nil, err
	}
	return slices.DeleteFunc(hosted, func(id shoal.EntityID) bool { return id == r.agent() }), nil
}

type delegation struct {
	Target shoal.EntityID `json:"targetAgentEntityId" jsonschema:"The id of another agent of the space."`
	Reason *string        `json:"reason" jsonschema:"Why, in a few words, for the record of your run."`
}

// delegateTool passes the trigger to one of these agents. A call that names no agent that
// could take it fails, and the run continues. What an agent has to know about delegating is in the
// description, which the provider reads from its cache, and not in the prompt of each run.
func delegateTool(r *Run, others []shoal.EntityID) agent.Tool {
	return tool(DelegateTool, "Hands the message that started this run over to another agent of the space ("+list(others)+"), as if it had been sent to that one, and ends your run. "+
		"Use it for what is rather for that agent, before you say anything: nothing of it is seen in the space, and what you have sent stays. "+
		"If you have something to add, mention the agent instead.",
		func(ctx context.Context, in delegation) (any, error) {
			if err := shoal.CheckID("targetAgentEntityId", string(in.Target)); err != nil {
				return nil, err
			}
			var queued shoal.RunID
			err := r.write(ctx, func(c *runs.RunChange) (err error) {
				if c.Run.Cancel {
					return shoal.Invalid("targetAgentEntityId", "cannot be used any more: this run is about to end")
				}
				if queued, err = c.Delegate(in.Target); err == nil {
					c.Run.Cancel = true // also for the server that claims the run if this one dies now
				}
				return err
			})
			if err != nil {
				return nil, err
			}
			if r.Delegated != nil {
				r.Delegated(queued)
			}
			return map[string]any{"delegated": true, "targetAgentEntityId": in.Target, "runId": queued}, nil
		})
}

// list joins ids for a sentence.
func list(ids []shoal.EntityID) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, id)
	}
	return b.String()
}
