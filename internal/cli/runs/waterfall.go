package runs

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

type runsGetCmd struct {
	ID   shoal.RunID `arg:"" help:"The run."`
	Step *int        `help:"Show the model request of this step instead: prompt, tools and messages. Steps count from 1." placeholder:"N" env:"-"`
}

// runWithSteps is the output with --json. Steps is null if the caller may not read them.
type runWithSteps struct {
	Run   shoal.Run    `json:"run"`
	Steps []shoal.Step `json:"steps"`
}

// Run prints a run, its steps and their tool calls in order of time.
func (c *runsGetCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	if c.Step != nil {
		if *c.Step < 1 {
			return shoal.E("", cli.KindUsage, "steps count from 1: --step 1 is the first")
		}
		sent, err := session.ModelRequest(ctx, c.ID, *c.Step-1)
		if err != nil {
			return err
		}
		return view.PrintModelRequest(sh.Output, sent)
	}
	run, err := session.Run(ctx, c.ID)
	if err != nil {
		return err
	}
	out := runWithSteps{Run: run}
	steps, err := cli.Collect(session.Steps(ctx, c.ID))
	switch {
	case errors.Is(err, shoal.Forbidden):
		sh.Output.Note("only admin and service keys can read the steps of a run")
	case err != nil:
		return err
	default:
		out.Steps = steps.Items
	}
	if run.Error != nil {
		sh.Output.Note("the run failed with %s: %s", run.Error.Code, run.Error.Message)
	}
	for _, p := range run.PendingToolCalls {
		sh.Output.Note("the run is waiting for %s (`shoal approvals` lists %s)", p.ToolName, p.PendingActionID)
	}
	head, rows := waterfall(out, sh.Output.Terminal, shoal.Now())
	return sh.Output.PrintTable(out, head, rows...)
}

// barWidth is the width of the timeline in characters.
const barWidth = 24

// waterfall returns a table of the run, its steps and their calls. For a terminal, the rows are
// indented and shortened and have a timeline, which ends at now if the run has not ended.
func waterfall(in runWithSteps, person bool, now shoal.Time) (head []string, rows [][]string) {
	r := in.Run
	from, to := r.CreatedAt, now
	if r.EndedAt != nil {
		to = *r.EndedAt
	}
	add := func(level int, what, status string, start, end *shoal.Time, used, detail string) {
		begun, lasted, indent, timeline := "", "", "", ""
		if start != nil {
			begun, lasted = start.String(), elapsed(start, end)
		}
		if person {
			indent, detail = strings.Repeat("  ", level), cli.Shorten(detail, 72)
			if start != nil {
				until := to
				if end != nil {
					until = *end
				}
				timeline = drawBar(start.Sub(from.Time), until.Sub(from.Time), to.Sub(from.Time))
				begun = "+" + start.Sub(from.Time).Round(time.Millisecond).String()
			}
		}
		row := []string{indent + what, status, begun, lasted, used, detail}
		if person {
			row = slices.Insert(row, 4, timeline)
		}
		rows = append(rows, row)
	}
	head = []string{"WHAT", "STATUS", "START", "TOOK", "TOKENS", "DETAIL"}
	if person {
		head = slices.Insert(head, 4, "TIMELINE")
	}
	add(0, "run "+string(r.ID), status(r), &r.CreatedAt, r.EndedAt, tokens(r.Usage),
		strings.TrimSpace(string(r.AgentID)+" for "+triggerName(r.Trigger)+" "+r.Trigger.MessageContent))
	for _, s := range in.Steps {
		add(1, "step "+strconv.Itoa(s.Index+1), s.FinishReason, &s.StartedAt, s.EndedAt, tokens(s.Usage), strings.TrimSpace(s.Model+" "+s.Text))
		for _, call := range s.ToolCalls {
			detail := string(call.Args)
			if call.Result != nil {
				detail += " → " + *call.Result
			}
			add(2, "call "+call.ToolName, call.Status, call.StartedAt, call.EndedAt, "", detail)
		}
	}
	return head, rows
}

// drawBar draws the time from a to b on a timeline that lasts whole.
func drawBar(a, b, whole time.Duration) string {
	at := func(d time.Duration) int {
		if whole <= 0 {
			return 0
		}
		return int(min(max(0, d), whole) * barWidth / whole)
	}
	start := min(at(a), barWidth-1)
	length := max(1, at(b)-start)
	return strings.Repeat("·", start) + strings.Repeat("█", length) + strings.Repeat("·", barWidth-start-length)
}
