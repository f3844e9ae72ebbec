package httpapi

import (
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

func TestPlans(t *testing.T) {
	w := newWorld(t)
	w.host("default", "shop-agent")
	once := into[shoal.Plan](w.do(w.admin, "POST", agentBase+"/plans", `{"name": "once", "scheduledAt": "2126-11-20T10:00:00.000Z"}`, "Idempotency-Key", "k").wants(201))
	again := into[shoal.Plan](w.do(w.admin, "POST", agentBase+"/plans", `{"name": "once", "scheduledAt": "2126-11-20T10:00:00.000Z"}`, "Idempotency-Key", "k").wants(201))
	if once.ID != again.ID || once.AgentID != "shop-agent" || once.Status != shoal.PlanPending || once.NextRunAt == nil {
		t.Errorf("the plan = %+v, and again %+v", once, again)
	}
	second := into[shoal.Plan](w.do(w.admin, "POST", agentBase+"/plans", `{"name": "second", "scheduledAt": "2126-11-20T10:00:00.000Z"}`).wants(201))
	first := into[page[shoal.Plan]](w.do(w.admin, "GET", agentBase+"/plans?limit=1", nil).wants(200))
	rest := into[page[shoal.Plan]](w.do(w.admin, "GET", agentBase+"/plans?cursor="+*first.NextCursor, nil).wants(200))
	if first.Items[0].ID != once.ID || len(rest.Items) != 1 || rest.Items[0].ID != second.ID {
		t.Errorf("the pages are %+v, %+v", first, rest)
	}
	plan := base + "/plans/" + string(once.ID)
	if paused := into[shoal.Plan](w.do(w.admin, "PATCH", plan, `{"status": "paused", "name": "later"}`).wants(200)); paused.Status != shoal.PlanPaused || paused.Name != "later" {
		t.Errorf("the paused plan = %+v", paused)
	}
	w.do(w.admin, "DELETE", plan, nil).wants(204)
	w.do(w.admin, "DELETE", plan, nil).refuses(shoal.NotFound)
	for _, c := range []struct {
		path, body string
		kind       shoal.Kind
	}{
		{agentBase, `{}`, shoal.InvalidArgument},
		{agentBase, `{"name": "a", "cron": "* * * * *", "scheduledAt": "2126-11-20T10:00:00.000Z"}`, shoal.InvalidArgument},
		{agentBase, `{"name": "a", "scheduledAt": "soon"}`, shoal.InvalidArgument},
		{base + "/agents/nobody", `{"name": "a", "scheduledAt": "2126-11-20T10:00:00.000Z"}`, shoal.NotFound},
	} {
		w.do(w.admin, "POST", c.path+"/plans", c.body).refuses(c.kind)
	}
}

func TestUsageIsGrouped(t *testing.T) {
	w, ann, _ := shop(t)
	run := w.runOf(w.post(ann, "shop", "Which laptops are there?"))
	lease := w.claimed("default", run)
	w.must(w.hub.Work.Write(w.Context(), lease, func(c *runs.RunChange) error {
		for step := range 2 {
			u := storage.StepUsage{Run: run, Step: step, Agent: "shop-agent", Model: "none", At: shoal.Now(), Usage: shoal.Usage{InputTokens: 10, OutputTokens: 2, Cost: 0.5, Currency: shoal.Currency}}
			if err := c.AddUsage("default", u); err != nil {
				return err
			}
		}
		return c.Start()
	}))
	rows := into[page[shoal.UsageRow]](w.do(w.admin, "GET", base+"/usage?by=agent,run", nil).wants(200)).Items
	if len(rows) != 1 || rows[0].AgentID != "shop-agent" || rows[0].RunID != run || rows[0].Calls != 2 || rows[0].InputTokens != 20 || rows[0].Cost != 1 {
		t.Errorf("the usage = %+v", rows)
	}
	day := time.Now().UTC().Format(time.DateOnly)
	for query, n := range map[string]int{"by=day&from=" + day: 1, "by=day&to=2020-01-01": 0, "by=model&agent=nobody": 0, "by=day&from=2126-11-20T10:00:00Z": 0} {
		if got := into[page[shoal.UsageRow]](w.do(w.admin, "GET", base+"/usage?"+query, nil).wants(200)).Items; len(got) != n {
			t.Errorf("usage?%s = %+v", query, got)
		}
	}
	for query, place := range map[string]string{"by=week": "query.by", "by=day,day": "query.by", "from=soon": "query.from", "to=7": "query.to"} {
		if p := w.do(w.admin, "GET", base+"/usage?"+query, nil).refuses(shoal.InvalidArgument); p.Errors[0].Location != place {
			t.Errorf("usage?%s names %s", query, p.Errors[0].Location)
		}
	}
}
