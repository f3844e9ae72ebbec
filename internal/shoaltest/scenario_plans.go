package shoaltest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
)

// planTime returns the value of an option that is a time since the start of the scenario.
func (s *stage) planTime(c *command, name string) (*shoal.Time, error) {
	if !c.has(name) {
		return nil, nil
	}
	in, err := c.duration(name, 0)
	at := shoal.At(s.start.Add(in))
	return &at, err
}

// optional returns the value of an option, nil if it is missing.
func (c *command) optional(name string) *string {
	if !c.has(name) {
		return nil
	}
	v := c.option(name)
	return &v
}

func newPlan(s *stage, c *command) (err error) {
	caller, session := s.actor(c, c.word())
	agent := shoal.EntityID(c.word())
	n := shoal.NewPlan{Name: c.word(), Cron: c.optional("cron"), TimeZone: c.option("zone"), Instruction: c.option("instruction")}
	if n.ScheduledAt, err = s.planTime(c, "at"); err != nil {
		return err
	}
	made, err := s.hub.Plans.Create(ctx, caller, session, agent, n, c.option("once"))
	return s.printPlan(made, err)
}

func setPlan(s *stage, c *command) (err error) {
	caller, session := s.actor(c, c.word())
	id := s.planID(c.word())
	change := shoal.PlanChange{Name: c.optional("name"), Cron: c.optional("cron"), TimeZone: c.optional("zone")}
	if status := c.optional("status"); status != nil {
		change.Status = (*shoal.PlanStatus)(status)
	}
	if change.ScheduledAt, err = s.planTime(c, "at"); err != nil {
		return err
	}
	changed, err := s.hub.Plans.Update(ctx, caller, session, id, change)
	return s.printPlan(changed, err)
}

func listPlans(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	all, err := s.hub.Plans.List(ctx, caller, session, shoal.EntityID(c.word()))
	// The order of ids of the same moment is undefined.
	slices.SortFunc(all, func(a, b shoal.Plan) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range all {
		s.say("%s", s.plan(p))
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

func deletePlan(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	return s.hub.Plans.Delete(ctx, caller, session, s.planID(c.word()))
}

func (s *stage) printPlan(p shoal.Plan, err error) error {
	if err == nil {
		s.say("%s", s.plan(p))
	}
	return err
}

// plan formats a plan; plan1 is the first that was printed.
func (s *stage) plan(p shoal.Plan) string {
	if s.planNames[p.ID] == "" {
		s.planNames[p.ID] = "plan" + strconv.Itoa(len(s.planNames)+1)
	}
	out := fmt.Sprintf("%s %q of %s %s", s.planNames[p.ID], p.Name, p.AgentID, p.Status)
	if p.NextRunAt != nil {
		out += " next " + p.NextRunAt.UTC().Format(time.DateTime)
	}
	if p.LastRunAt != nil {
		out += " last " + p.LastRunAt.UTC().Format(time.DateTime)
	}
	return out
}

func (s *stage) planID(name string) shoal.PlanID {
	for id, have := range s.planNames {
		if have == name {
			return id
		}
	}
	return shoal.PlanID(name)
}
