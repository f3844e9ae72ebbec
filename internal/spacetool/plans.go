package spacetool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/calendar"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	maxPlans = 100
	// keptPlans is how many plans that are over an agent keeps.
	keptPlans      = 200
	plansOfAnswer  = 50
	localTime      = "2006-01-02T15:04:05"
	scheduleAdvice = "give cron (five fields such as \"30 9 * * mon-fri\") or scheduledAt (RFC 3339, such as 2026-11-20T09:30:00Z), one of the two"
)

type planEntry struct {
	Match       *string `json:"match" jsonschema:"A piece of the name of the plan to change, or its id. Leave it out to make a new plan."`
	Name        string  `json:"name" jsonschema:"A short name."`
	Description *string `json:"description" jsonschema:"What it is for."`
	Instruction *string `json:"instruction" jsonschema:"What you are to do when the time has come. You will see only this, so say it in full, with the id of the space to write to."`
	Cron        *string `json:"cron" jsonschema:"When, again and again: minute, hour, day of month, month, day of week; or @daily and the like."`
	ScheduledAt *string `json:"scheduledAt" jsonschema:"When, once: a time in RFC 3339; without an offset it is meant in timeZone."`
	TimeZone    *string `json:"timeZone" jsonschema:"An IANA name such as Europe/Berlin that cron is meant in; UTC by default."`
	Status      *string `json:"status" jsonschema:"pending, paused, completed or canceled; pending by default."`
}

type setPlans struct {
	Plans         []planEntry `json:"plans" jsonschema:"The plans to make or to change."`
	ClearExisting *bool       `json:"clearExisting" jsonschema:"Delete all plans that are not over first."`
}

type previousPlans struct {
	Status *string `json:"status" jsonschema:"completed or canceled; both by default."`
	Limit  *int    `json:"limit" jsonschema:"How many at most: 50 by default, up to 200."`
}

func planTools(r *Run) []agent.Tool {
	plans := notes[shoal.Plan]{
		word: "plans", limit: maxPlans, order: bySchedule,
		list: func(c *runs.RunChange) ([]shoal.Plan, error) { return livePlans(c, r) },
		id:   func(p shoal.Plan) string { return string(p.ID) },
		text: func(p shoal.Plan) string { return p.Name },
		drop: func(c *runs.RunChange, p shoal.Plan) error { return c.DeletePlan(r.session(), p.ID) },
	}
	return []agent.Tool{
		tool("setPlans", "Plans runs of yours: once or again and again. When the time has come you start with the instruction and nothing else.",
			func(ctx context.Context, in setPlans) (any, error) {
				var changes []change[shoal.Plan]
				for _, e := range in.Plans {
					changes = append(changes, change[shoal.Plan]{or(e.Match, ""), func(c *runs.RunChange, old *shoal.Plan) (shoal.Plan, error) {
						if old == nil {
							return e.make(c, r)
						}
						return e.change(c, *old)
					}})
				}
				return plans.set(ctx, r, changes, or(in.ClearExisting, false))
			}),
		tool("deletePlans", "Deletes plans of yours that are not over.", func(ctx context.Context, in deleteNotes) (any, error) {
			return plans.remove(ctx, r, in.Matches, or(in.DeleteAll, false), nil)
		}),
		reading(tool("getPreviousPlans", "Lists plans of yours that are over, the newest first.", func(ctx context.Context, in previousPlans) (any, error) {
			return listPrevious(ctx, r, in)
		})),
	}
}

func over(p shoal.Plan) bool {
	return p.Status == shoal.PlanCompleted || p.Status == shoal.PlanCanceled
}

func livePlans(tx storage.PlanTx, r *Run) ([]shoal.Plan, error) {
	all, err := tx.Plans(r.session(), r.agent())
	return slices.DeleteFunc(all, over), err
}

// forgetPlans deletes the oldest of the plans that are over, where there are too
// many.
func forgetPlans(tx storage.PlanTx, r *Run) error {
	all, err := tx.Plans(r.session(), r.agent())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(p shoal.Plan) bool { return !over(p) })
	for _, p := range all[:max(0, len(all)-keptPlans)] {
		if err := tx.DeletePlan(r.session(), p.ID); err != nil {
			return err
		}
	}
	return nil
}

func listPrevious(ctx context.Context, r *Run, in previousPlans) (any, error) {
	status := shoal.PlanStatus(or(in.Status, ""))
	if status != "" && status != shoal.PlanCompleted && status != shoal.PlanCanceled {
		return nil, shoal.Invalid("status", "must be completed or canceled, or left out for both")
	}
	out := struct {
		Plans []shoal.Plan `json:"plans"`
		Total int          `json:"total"`
	}{Plans: []shoal.Plan{}}
	err := r.read(ctx, func(tx storage.Tx) error {
		all, err := tx.Plans(r.session(), r.agent())
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(p shoal.Plan) bool { return !over(p) || status != "" && p.Status != status })
		slices.Reverse(all)
		out.Total = len(all)
		out.Plans = append(out.Plans, all[:min(len(all), shoal.PageLimit(or(in.Limit, 0), plansOfAnswer))]...)
		return nil
	})
	return out, err
}

// bySchedule puts what comes first first, and what never comes last.
func bySchedule(a, b shoal.Plan) int {
	switch {
	case a.NextRunAt == nil && b.NextRunAt == nil:
		return cmp.Compare(a.ID, b.ID)
	case a.NextRunAt == nil:
		return 1
	case b.NextRunAt == nil:
		return -1
	}
	return a.NextRunAt.Compare(b.NextRunAt.Time)
}

// make makes a plan.
func (e planEntry) make(c *runs.RunChange, r *Run) (shoal.Plan, error) {
	cron, at, err := e.times(or(e.TimeZone, ""))
	if err != nil {
		return shoal.Plan{}, err
	}
	if cron == nil && at == nil {
		return shoal.Plan{}, shoal.Invalid("cron", "or scheduledAt is needed: "+scheduleAdvice)
	}
	if err := forgetPlans(c, r); err != nil {
		return shoal.Plan{}, err
	}
	p, err := c.NewPlan(shoal.NewPlan{
		Name: e.Name, Description: or(e.Description, ""), Instruction: or(e.Instruction, ""), Cron: cron, TimeZone: or(e.TimeZone, ""), ScheduledAt: at,
	})
	if err != nil || e.status() == nil || *e.status() == p.Status {
		return p, err
	}
	return c.ChangePlan(p.ID, shoal.PlanChange{Status: e.status()})
}

// change changes a plan; what the entry leaves out stays.
func (e planEntry) change(c *runs.RunChange, old shoal.Plan) (shoal.Plan, error) {
	zone := or(e.TimeZone, "")
	if zone == "" {
		zone, e.TimeZone = old.TimeZone, nil
	}
	cron, at, err := e.times(zone)
	if err != nil {
		return old, err
	}
	return c.ChangePlan(old.ID, shoal.PlanChange{
		Name: &e.Name, Description: e.Description, Instruction: e.Instruction, Cron: cron, TimeZone: e.TimeZone, ScheduledAt: at, Status: e.status(),
	})
}

func (e planEntry) status() *shoal.PlanStatus {
	if or(e.Status, "") == "" {
		return nil
	}
	status := shoal.PlanStatus(*e.Status)
	return &status
}

// times reads the time that the entry names, if it names one.
func (e planEntry) times(timeZone string) (cron *string, at *shoal.Time, err error) {
	zone, err := calendar.Zone(timeZone)
	if err != nil {
		return nil, nil, err
	}
	again, once := strings.TrimSpace(or(e.Cron, "")), strings.TrimSpace(or(e.ScheduledAt, ""))
	switch {
	case again != "" && once != "":
		return nil, nil, shoal.Invalid("cron", "and scheduledAt exclude each other: "+scheduleAdvice)
	case again != "":
		return &again, nil, nil
	case once != "":
		at, err = parseMoment(once, zone)
	}
	return nil, at, err
}

func parseMoment(text string, zone *time.Location) (*shoal.Time, error) {
	moment, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		moment, err = time.ParseInLocation(localTime, text, zone)
	}
	if err != nil {
		return nil, shoal.Invalid("scheduledAt", fmt.Sprintf("%q is not a time; write it as 2026-11-20T09:30:00Z", cut(text, maxNoteText)))
	}
	at := shoal.At(moment)
	return &at, nil
}
