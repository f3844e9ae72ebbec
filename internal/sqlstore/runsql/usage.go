package runsql

import (
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// AddUsage implements [hub.UsageTx].
func (t *Tx) AddUsage(session shoal.SessionID, u storage.StepUsage) error {
	_, err := t.c.Exec(
		`INSERT INTO usage (session_id, run_id, step, agent_id, model, at, day, input, cached_input, output, reasoning, cost)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		 ON CONFLICT (session_id, run_id, step) DO UPDATE SET agent_id = excluded.agent_id, model = excluded.model, at = excluded.at, day = excluded.day,
		   input = excluded.input, cached_input = excluded.cached_input, output = excluded.output, reasoning = excluded.reasoning, cost = excluded.cost`,
		session, u.Run, u.Step, u.Agent, u.Model, u.At, u.At.UTC().Format(time.DateOnly),
		u.InputTokens, u.CachedInputTokens, u.OutputTokens, u.ReasoningTokens, u.Cost)
	return err
}

// Spend implements [hub.UsageTx].
func (t *Tx) Spend(session shoal.SessionID, root string, s storage.Spending) (storage.Spending, error) {
	_, err := t.c.Exec(
		`INSERT INTO request_spending (session_id, root, cost, tokens) VALUES ($1, $2, $3, $4)
		 ON CONFLICT (session_id, root) DO UPDATE SET cost = request_spending.cost + excluded.cost, tokens = request_spending.tokens + excluded.tokens`,
		session, root, s.Cost, s.Tokens)
	if err != nil {
		return s, err
	}
	sum, _, err := sqlconn.One(t.c, func(r *sqlconn.Rows) storage.Spending { return storage.Spending{Cost: r.Float(0), Tokens: r.Int(1)} },
		`SELECT cost, tokens FROM request_spending WHERE session_id = $1 AND root = $2`, session, root)
	return sum, err
}

// usageColumns are the columns by which usage can be grouped.
var usageColumns = map[string]string{"day": "u.day", "agent": "u.agent_id", "model": "u.model", "run": "u.run_id"}

// Usage implements [hub.UsageTx]. Without names it returns one sum, or no
// row if nothing was used.
func (t *Tx) Usage(session shoal.SessionID, q storage.UsageQuery) ([]shoal.UsageRow, error) {
	columns := make([]string, len(q.By))
	for i, name := range q.By {
		if columns[i] = usageColumns[name]; columns[i] == "" {
			return nil, shoal.E("sqlstore.Usage", shoal.InvalidArgument, fmt.Sprintf("Usage cannot be grouped by %q; only by day, agent, model and run.", name))
		}
	}
	var b sqlconn.Builder
	b.Add(`SELECT `)
	for _, column := range columns {
		b.Add(column + `, `)
	}
	b.Add(`COUNT(*), CAST(SUM(u.input) AS BIGINT), CAST(SUM(u.cached_input) AS BIGINT), CAST(SUM(u.output) AS BIGINT),
		CAST(SUM(u.reasoning) AS BIGINT), SUM(u.cost) FROM usage AS u WHERE u.session_id = ?`, session)
	if q.Agent != "" {
		b.Add(` AND u.agent_id = ?`, q.Agent)
	}
	if q.Run != "" {
		b.Add(` AND u.run_id = ?`, q.Run)
	}
	if q.From != nil {
		b.Add(` AND u.at >= ?`, q.From)
	}
	if q.To != nil {
		b.Add(` AND u.at < ?`, q.To)
	}
	if by := strings.Join(columns, `, `); by != "" {
		b.Add(` GROUP BY ` + by + ` ORDER BY ` + by)
	} else {
		b.Add(` HAVING COUNT(*) > 0`)
	}
	return sqlconn.List(t.c, func(r *sqlconn.Rows) shoal.UsageRow { return usageOf(r, q.By) }, b.Text(), b.Args...)
}

// usageOf reads a group: the columns by which it was grouped, then the sums.
func usageOf(r *sqlconn.Rows, by []string) (row shoal.UsageRow) {
	for i, name := range by {
		switch text := r.Text(i); name {
		case "day":
			row.Day = text
		case "agent":
			row.AgentID = shoal.EntityID(text)
		case "model":
			row.Model = text
		case "run":
			row.RunID = shoal.RunID(text)
		}
	}
	n := len(by)
	row.Calls = r.Int(n)
	row.Usage = shoal.Usage{
		InputTokens: r.Int(n + 1), CachedInputTokens: r.Int(n + 2), OutputTokens: r.Int(n + 3), ReasoningTokens: r.Int(n + 4),
		Cost: r.Float(n + 5), Currency: shoal.Currency,
	}
	return row
}
