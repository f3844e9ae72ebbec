package runstest

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var usageTests = map[string]func(*storecase.Case){
	"the spending of the runs of a root is summed up": func(c *storecase.Case) {
		spend := func(root string, s storage.Spending) (sum storage.Spending) {
			c.Update(func(tx storage.Tx) (err error) { sum, err = tx.Spend(c.Session, root, s); return err })
			return sum
		}
		storecase.Equal(c, "the first", spend("m1", storage.Spending{Cost: 0.5, Tokens: 1 << 40}), storage.Spending{Cost: 0.5, Tokens: 1 << 40})
		storecase.Equal(c, "of another root", spend("m2", storage.Spending{Tokens: 7}), storage.Spending{Tokens: 7})
		storecase.Equal(c, "more and less", spend("m1", storage.Spending{Cost: 0.25, Tokens: -1}), storage.Spending{Cost: 0.75, Tokens: 1<<40 - 1})
		storecase.Equal(c, "nothing", spend("m1", storage.Spending{}), storage.Spending{Cost: 0.75, Tokens: 1<<40 - 1})
		other := storecase.New(c.T, c.Store)
		other.Update(func(tx storage.Tx) error {
			sum, err := tx.Spend(other.Session, "m1", storage.Spending{Cost: 1})
			storecase.Equal(other, "in another session", sum, storage.Spending{Cost: 1})
			return err
		})
	},

	"usage is summed up by the requested names, in order": func(c *storecase.Case) {
		noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		add := func(run shoal.RunID, step int, agent shoal.EntityID, model string, at time.Time, tokens int64) {
			u := storage.StepUsage{Run: run, Step: step, Agent: agent, Model: model, At: shoal.At(at)}
			u.Usage = shoal.Usage{InputTokens: tokens, CachedInputTokens: 2, OutputTokens: 3, ReasoningTokens: 4, Cost: 0.25, Currency: shoal.Currency}
			c.Update(func(tx storage.Tx) error { return tx.AddUsage(c.Session, u) })
		}
		add("r1", 0, "bot", "m1", noon, 99)
		add("r1", 0, "bot", "m1", noon, 1) // the same step again
		add("r1", 1, "bot", "m2", noon.Add(12*time.Hour-time.Microsecond), 10)
		add("r2", 0, "bee", "m1", noon.Add(12*time.Hour), 100)
		add("r3", 0, "bot", "m1", noon.Add(24*time.Hour), 1<<40)
		storecase.New(c.T, c.Store).Update(func(tx storage.Tx) error { return tx.AddUsage("elsewhere", storage.StepUsage{Run: "r1"}) })
		row := func(calls, input int64) shoal.UsageRow {
			return shoal.UsageRow{Calls: calls, Usage: shoal.Usage{
				InputTokens: input, CachedInputTokens: 2 * calls, OutputTokens: 3 * calls, ReasoningTokens: 4 * calls, Cost: 0.25 * float64(calls), Currency: shoal.Currency,
			}}
		}
		named := func(r shoal.UsageRow, day string, agent shoal.EntityID, model string, run shoal.RunID) shoal.UsageRow {
			r.Day, r.AgentID, r.Model, r.RunID = day, agent, model, run
			return r
		}
		type rows = []shoal.UsageRow
		for _, q := range []struct {
			query storage.UsageQuery
			want  rows
		}{
			{storage.UsageQuery{}, rows{row(4, 1<<40+111)}},
			{storage.UsageQuery{By: []string{"day"}}, rows{named(row(2, 11), "2026-03-01", "", "", ""), named(row(2, 1<<40+100), "2026-03-02", "", "", "")}},
			{storage.UsageQuery{By: []string{"agent"}}, rows{named(row(1, 100), "", "bee", "", ""), named(row(3, 1<<40+11), "", "bot", "", "")}},
			{storage.UsageQuery{By: []string{"model", "agent"}}, rows{
				named(row(1, 100), "", "bee", "m1", ""), named(row(2, 1<<40+1), "", "bot", "m1", ""), named(row(1, 10), "", "bot", "m2", ""),
			}},
			{storage.UsageQuery{By: []string{"run"}, Agent: "bot"}, rows{named(row(2, 11), "", "", "", "r1"), named(row(1, 1<<40), "", "", "", "r3")}},
			{storage.UsageQuery{Run: "r1"}, rows{row(2, 11)}},
			{storage.UsageQuery{From: storecase.Ptr(shoal.At(noon.Add(12 * time.Hour)))}, rows{row(2, 1<<40+100)}},
			{storage.UsageQuery{Agent: "bot", From: storecase.Ptr(shoal.At(noon.Add(time.Hour))), To: storecase.Ptr(shoal.At(noon.Add(24 * time.Hour)))}, rows{row(1, 10)}},
			{storage.UsageQuery{Agent: "nobody"}, rows{}},
			{storage.UsageQuery{Agent: "nobody", By: []string{"day"}}, rows{}},
		} {
			storecase.Equal(c, fmt.Sprintf("the usage of %+v", q.query), storecase.Read(c, func(tx storage.Tx) ([]shoal.UsageRow, error) { return tx.Usage(c.Session, q.query) }), q.want)
		}
	},

	"grouping by another name is refused": func(c *storecase.Case) {
		c.WantError(shoal.InvalidArgument, func(tx storage.Tx) error {
			_, err := tx.Usage(c.Session, storage.UsageQuery{By: []string{"day; DROP TABLE usage"}})
			return err
		})
	},
}
