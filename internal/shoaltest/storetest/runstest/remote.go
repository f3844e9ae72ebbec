package runstest

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// remoteRun is an awake run of a remote agent that is due at 5.
func remoteRun(c *storecase.Case, id shoal.RunID, agent shoal.EntityID) storage.Run {
	r := c.NewRun(id, agent, "")
	r.Awake, r.Remote, r.NotBefore = true, true, storecase.Time(5)
	return r
}

// remoteTests read the runs of all sessions, so each must leave no awake or leased run.
var remoteTests = map[string]func(*storecase.Case){
	"remote runs are claimed by their agent's programs only": func(c *storecase.Case) {
		leased, expired, own, canceled := remoteRun(c, "r2", "bot"), remoteRun(c, "r3", "bot"), remoteRun(c, "r5", "bot"), remoteRun(c, "r4", "other")
		leased.Owner, leased.LeaseUntil = "x", storecase.Ptr(storecase.Time(20))
		expired.Owner, expired.LeaseUntil, expired.Awake = "x", storecase.Ptr(storecase.Time(9)), false
		own.Remote, canceled.Cancel = false, true
		all := []storage.Run{remoteRun(c, "r1", "bot"), leased, expired, canceled, own}
		c.AddRuns(all...)
		now := storecase.Time(9)
		ids := func(runs []storage.Run, err error) (out []shoal.RunID, failed error) {
			for _, r := range runs {
				out = append(out, r.ID)
			}
			return out, err
		}
		read := func(fn func(storage.Tx) ([]storage.Run, error)) []shoal.RunID {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.RunID, error) { return ids(fn(tx)) })
		}
		storecase.Equal(c, "the runs of bot", read(func(tx storage.Tx) ([]storage.Run, error) { return tx.ClaimableRemote(c.Session, "bot", now, 9) }), []shoal.RunID{"r1", "r3"})
		storecase.Equal(c, "the first of them", read(func(tx storage.Tx) ([]storage.Run, error) { return tx.ClaimableRemote(c.Session, "bot", now, 1) }), []shoal.RunID{"r1"})
		storecase.Equal(c, "runs to cancel", read(func(tx storage.Tx) ([]storage.Run, error) { return tx.CanceledRemote(9) }), []shoal.RunID{"r4"})
		storecase.Equal(c, "the runs of the server", read(func(tx storage.Tx) ([]storage.Run, error) { return tx.ClaimableRuns(now, 9) }), []shoal.RunID{"r5"})
		storecase.Equal(c, "leased runs", storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.CountRemote(c.Session, "bot", now) }), 1)
		for i := range all {
			all[i].Awake, all[i].Owner, all[i].LeaseUntil = false, "", nil
		}
		updateRuns(c, all...)
	},

	"reports about a run are read in order, and go together": func(c *storecase.Case) {
		read := func(after int64) []storage.RunWork {
			return storecase.Read(c, func(tx storage.Tx) ([]storage.RunWork, error) { return tx.RunWork(c.Session, "r1", after) })
		}
		one := storage.RunWork{Place: 1, Generation: 2, N: 3, Data: json.RawMessage(`[{"delta":"\u2028 <ü>"}]`)}
		two := storage.RunWork{Place: 2, Generation: 2, N: 4, Data: json.RawMessage(`[]`)}
		for _, w := range []storage.RunWork{one, two} {
			c.Update(func(tx storage.Tx) error { return tx.AppendRunWork(c.Session, "r1", w) })
		}
		storecase.Equal(c, "all", read(0), []storage.RunWork{one, two})
		storecase.Equal(c, "the last", read(1), []storage.RunWork{two})
		c.Update(func(tx storage.Tx) error { return tx.DropRunWork(c.Session, "r2") })
		storecase.Equal(c, "those of another run", len(read(0)), 2)
		c.Update(func(tx storage.Tx) error { return tx.DropRunWork(c.Session, "r1") })
		storecase.Equal(c, "none", len(read(0)), 0)
	},
}
