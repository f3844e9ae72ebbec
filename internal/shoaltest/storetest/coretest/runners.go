package coretest

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var runnerTests = map[string]func(*storecase.Case){
	"runners are listed with their last reports, and forgotten": func(c *storecase.Case) {
		other := storecase.New(c.T, c.Store)
		save := func(of *storecase.Case, runner shoal.RunnerID, agent shoal.EntityID, mode string, key *shoal.KeyID) {
			report := shoal.RunnerReport{Version: "1.0.0", Kind: "codex", Dir: storecase.Hostile, Mode: mode, RespondTo: []string{"owner"}, Approve: []string{"owner"}, MaxCostPerDay: 2.5}
			c.Update(func(tx storage.Tx) error {
				return tx.SaveRunner(of.Session, storage.RunnerRow{Runner: runner, Agent: agent, Key: key, Report: report}, 2)
			})
		}
		listed := func(of *storecase.Case, after shoal.RunnerID, limit int) (out []string) {
			for _, r := range storecase.Read(c, func(tx storage.Tx) ([]storage.RunnerRow, error) { return tx.Runners(of.Session, after, limit) }) {
				out = append(out, string(r.Runner)+" "+string(r.Agent)+" "+r.Report.Mode)
			}
			return out
		}
		key := shoal.KeyID("key_1")
		save(c, "ada", "scout", "ask", nil)
		save(c, "ada", "clerk", "read", nil)
		save(c, "bob", "clerk", "edit", nil)
		save(other, "ada", "clerk", "edit", nil)
		before := storecase.Read(c, func(tx storage.Tx) ([]storage.RunnerRow, error) { return tx.Runners(c.Session, "", 1) })
		save(c, "ada", "scout", "read", &key)
		after := storecase.Read(c, func(tx storage.Tx) ([]storage.RunnerRow, error) { return tx.Runners(c.Session, "", 1) })
		if len(after) != 2 || !after[1].EnrolledAt.Equal(before[1].EnrolledAt.Time) || after[1].SeenAt.Before(before[1].SeenAt.Time) || after[1].Key == nil || *after[1].Key != key {
			c.Errorf("a second report: %+v", after)
		}
		want := before[1].Report
		want.Mode = "read"
		storecase.Equal(c, "the report", after[1].Report, want)
		storecase.Equal(c, "those of one machine", listed(c, "", 1), []string{"ada clerk read", "ada scout read"})
		storecase.Equal(c, "the next one", listed(c, "ada", 5), []string{"bob clerk edit"})

		storecase.Equal(c, "the keys", storecase.Read(c, func(tx storage.Tx) ([]shoal.KeyID, error) { return tx.RunnerKeys(c.Session, "ada") }), []shoal.KeyID{key})
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.RunnerKeys(c.Session, "zoe"); return err })
		c.Update(func(tx storage.Tx) error { return tx.DeleteRunnersOf(c.Session, "scout") })
		storecase.Equal(c, "without an agent", listed(c, "", 5), []string{"ada clerk read", "bob clerk edit"})
		c.Update(func(tx storage.Tx) error { return tx.DeleteRunner(c.Session, "ada") })
		c.Update(func(tx storage.Tx) error { return tx.DeleteRunner(c.Session, "ada") })
		storecase.Equal(c, "without a machine", listed(c, "", 5), []string{"bob clerk edit"})
		storecase.Equal(c, "those of another session", listed(other, "", 5), []string{"ada clerk edit"})
	},

	"of the machines of an agent those are kept that were seen last": func(c *storecase.Case) {
		for _, runner := range []shoal.RunnerID{"a", "b", "a", "c"} {
			c.Update(func(tx storage.Tx) error {
				return tx.SaveRunner(c.Session, storage.RunnerRow{Runner: runner, Agent: "scout", Report: shoal.RunnerReport{Kind: "codex"}}, 2)
			})
		}
		var kept []shoal.RunnerID
		for _, r := range storecase.Read(c, func(tx storage.Tx) ([]storage.RunnerRow, error) { return tx.Runners(c.Session, "", 5) }) {
			kept = append(kept, r.Runner)
		}
		storecase.Equal(c, "the machines", kept, []shoal.RunnerID{"a", "c"})
	},
}
