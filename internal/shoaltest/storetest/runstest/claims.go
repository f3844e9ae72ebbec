package runstest

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// claimTests read the runs of all sessions, so each must leave no awake or leased run.
var claimTests = map[string]func(*storecase.Case){
	"claimable runs are awake, due and not leased, the oldest first": func(c *storecase.Case) {
		claimable := func(at, limit int) []shoal.RunID {
			return storecase.OwnRuns(c, storecase.Read(c, func(tx storage.Tx) ([]storage.Run, error) { return tx.ClaimableRuns(storecase.Time(at), limit) }))
		}
		next := func() *shoal.Time {
			return storecase.Read(c, func(tx storage.Tx) (*shoal.Time, error) { return tx.NextClaim() })
		}
		storecase.Equal(c, "when nothing is awake", next(), nil)
		asleep, late, held, plain := c.NewRun("r1", "bot", ""), c.NewRun("r2", "bot", ""), c.NewRun("r3", "bot", ""), c.NewRun("r4", "bot", "")
		late.Awake, late.NotBefore = true, storecase.Time(10)
		held.Awake, held.NotBefore, held.Owner, held.LeaseUntil = true, storecase.Time(1), "one", storecase.Ptr(storecase.Time(20))
		c.AddRuns(asleep, late, held)
		storecase.Equal(c, "the next", next(), storecase.Ptr(storecase.Time(10)))
		plain.Awake, plain.NotBefore = true, storecase.Time(5)
		c.AddRuns(plain)
		for at, want := range map[int][]shoal.RunID{4: {}, 5: {"r4"}, 9: {"r4"}, 10: {"r2", "r4"}, 19: {"r2", "r4"}, 20: {"r2", "r3", "r4"}} {
			storecase.Equal(c, fmt.Sprintf("what is claimable at %d", at), claimable(at, 9), want)
		}
		storecase.Equal(c, "only two", claimable(20, 2), []shoal.RunID{"r2", "r3"})
		storecase.Equal(c, "the next of all", next(), storecase.Ptr(storecase.Time(5)))
		late.Awake, plain.Awake = false, false
		updateRuns(c, late, plain)
		storecase.Equal(c, "the next when only a held one is awake", next(), storecase.Ptr(storecase.Time(20)))
		held.Awake, held.LeaseUntil, held.Owner = false, nil, ""
		updateRuns(c, held)
		storecase.Equal(c, "the next at the end", next(), nil)
	},

	"requesters take turns": func(c *storecase.Case) {
		claimable := func(limit int) []shoal.RunID {
			return storecase.OwnRuns(c, storecase.Read(c, func(tx storage.Tx) ([]storage.Run, error) { return tx.ClaimableRuns(storecase.Time(9), limit) }))
		}
		var all []storage.Run
		for i, requester := range []string{"greedy", "greedy", "greedy", "greedy", "ann", "bob", "ann", ""} {
			r := c.NewRun(shoal.RunID(fmt.Sprintf("r%d", i)), "bot", "")
			r.Awake, r.NotBefore, r.Requester = true, storecase.Time(1), requester
			all = append(all, r)
		}
		c.AddRuns(all...)
		storecase.Equal(c, "all", claimable(9), []shoal.RunID{"r0", "r4", "r5", "r7", "r1", "r6", "r2", "r3"})
		storecase.Equal(c, "the first three", claimable(3), []shoal.RunID{"r0", "r4", "r5"})
		all[0].Awake, all[0].Owner, all[0].LeaseUntil = false, "one", storecase.Ptr(storecase.Time(20))
		updateRuns(c, all[0])
		storecase.Equal(c, "while one of greedy is held", claimable(9), []shoal.RunID{"r4", "r5", "r7", "r1", "r6", "r2", "r3"})
		all[1].Awake, all[1].Owner, all[1].LeaseUntil = false, "two", storecase.Ptr(storecase.Time(5)) // that server is gone
		updateRuns(c, all[1])
		storecase.Equal(c, "while another's lease has run out", claimable(4), []shoal.RunID{"r4", "r5", "r7", "r2"})
		for i := range all {
			all[i].Awake, all[i].Owner, all[i].LeaseUntil = false, "", nil
		}
		updateRuns(c, all...)
	},

	"leased runs of an owner, or of all": func(c *storecase.Case) {
		held := func(owner string) []shoal.RunID {
			return storecase.OwnRuns(c, storecase.Read(c, func(tx storage.Tx) ([]storage.Run, error) { return tx.HeldRuns(owner) }))
		}
		woken := func(owner string) []shoal.RunID {
			return storecase.OwnRuns(c, storecase.Read(c, func(tx storage.Tx) ([]storage.Run, error) { return tx.WokenRuns(owner) }))
		}
		expired := func(at int) []shoal.RunID {
			return storecase.OwnRuns(c, storecase.Read(c, func(tx storage.Tx) ([]storage.Run, error) { return tx.ExpiredRuns(storecase.Time(at)) }))
		}
		a, b, free, remote := c.NewRun("r1", "bot", ""), c.NewRun("r2", "bot", ""), c.NewRun("r3", "bot", ""), c.NewRun("r4", "bot", "")
		free.Awake, remote.Remote = true, true
		a.Owner, a.LeaseUntil = "one", storecase.Ptr(storecase.Time(1))
		b.Owner, b.LeaseUntil = "two", storecase.Ptr(storecase.Time(2))
		remote.Owner, remote.LeaseUntil = "program", storecase.Ptr(storecase.Time(0))
		c.AddRuns(a, b, free, remote)
		storecase.Equal(c, "the first's", held("one"), []shoal.RunID{"r1"})
		storecase.Equal(c, "the second's", held("two"), []shoal.RunID{"r2"})
		storecase.Equal(c, "another's", held("three"), []shoal.RunID{})
		storecase.Equal(c, "everybody's", held(""), []shoal.RunID{"r1", "r2", "r4"})
		storecase.Equal(c, "before a lease ends", expired(0), []shoal.RunID{})
		storecase.Equal(c, "when a lease ends", expired(1), []shoal.RunID{"r1"})
		storecase.Equal(c, "when both have ended", expired(3), []shoal.RunID{"r1", "r2"})
		next := storecase.Read(c, func(tx storage.Tx) (*shoal.Time, error) { return tx.NextExpiry() })
		if next == nil || next.After(storecase.Time(1).Time) { // other cases hold runs, too
			c.Errorf("the next lease ends at %v, want at most %v", next, storecase.Time(1))
		}
		storecase.Equal(c, "nobody was woken", woken("one"), []shoal.RunID{})
		a.Awake = true
		updateRuns(c, a)
		storecase.Equal(c, "the first's was woken", woken("one"), []shoal.RunID{"r1"})
		storecase.Equal(c, "the second's was not", woken("two"), []shoal.RunID{})
		a.Awake = false
		a.Owner, a.LeaseUntil = "", nil
		updateRuns(c, a)
		storecase.Equal(c, "after one was given up", held(""), []shoal.RunID{"r2", "r4"})
		c.Update(func(tx storage.Tx) error { return tx.DeleteSession(c.Session) })
		storecase.Equal(c, "after the session was deleted", held(""), []shoal.RunID{})
	},
}
