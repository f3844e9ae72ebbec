package runstest

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

func unknownTexts(c *storecase.Case, hashes ...string) []string {
	c.Helper()
	return storecase.Read(c, func(tx hub.Tx) ([]string, error) { return tx.UnknownTexts(c.Session, hashes) })
}

func modelTexts(c *storecase.Case, hashes ...string) map[string]string {
	c.Helper()
	return storecase.Read(c, func(tx hub.Tx) (map[string]string, error) { return tx.ModelTexts(c.Session, hashes) })
}

var requestTests = map[string]func(*storecase.Case){
	"texts are read as they were stored, and the first one of a hash is kept": func(c *storecase.Case) {
		c.AddTexts(hub.ModelText{Hash: "a", Body: storecase.Hostile}, hub.ModelText{Hash: "B", Body: string(storecase.RawJSON)}, hub.ModelText{Hash: "b", Body: ""})
		c.AddTexts(hub.ModelText{Hash: "a", Body: "another"}, hub.ModelText{Hash: "c", Body: "c"})
		storecase.Equal(c, "the texts", modelTexts(c, "c", "b", "B", "a", "a", "d"), map[string]string{"a": storecase.Hostile, "b": "", "B": string(storecase.RawJSON), "c": "c"})
		storecase.Equal(c, "what is unknown", unknownTexts(c, "x", "b", "A", "c", "d"), []string{"x", "A", "d"})
		storecase.Equal(c, "no texts", modelTexts(c), map[string]string{})
		c.AddTexts()
		other := storecase.New(c.T, c.Store)
		storecase.Equal(c, "another session's", unknownTexts(other, "a"), []string{"a"})
		storecase.Equal(c, "another session's texts", modelTexts(other, "a"), map[string]string{})
	},

	"many texts at once": func(c *storecase.Case) {
		var all []hub.ModelText
		var hashes []string
		for i := range 300 {
			hash := fmt.Sprintf("h%03d", i)
			all, hashes = append(all, hub.ModelText{Hash: hash, Body: strings.Repeat(hash, i)}), append(hashes, hash)
		}
		c.AddTexts(all...)
		got := modelTexts(c, hashes...)
		storecase.Equal(c, "how many there are", len(got), 300)
		for _, text := range all {
			storecase.Equal(c, text.Hash, got[text.Hash], text.Body)
		}
		storecase.Equal(c, "what is unknown", unknownTexts(c, append(hashes, "more")...), []string{"more"})
	},

	"a request is read as it was stored, and replaces that of the same step": func(c *storecase.Case) {
		get := func(run shoal.RunID, step int) hub.StoredRequest {
			return storecase.Read(c, func(tx hub.Tx) (hub.StoredRequest, error) { return tx.ModelRequest(c.Session, run, step) })
		}
		put := func(run shoal.RunID, r hub.StoredRequest) {
			c.Update(func(tx hub.Tx) error { return tx.PutRequest(c.Session, run, r) })
		}
		full := hub.StoredRequest{Step: 2, Model: storecase.Hostile, System: "s", Tools: "t", Messages: [][]string{{"a", "b"}, {}, {"c"}}}
		bare := hub.StoredRequest{Messages: [][]string{}}
		put("r1", full)
		put("r1", bare)
		put("r2", bare)
		storecase.Equal(c, "the full one", get("r1", 2), full)
		storecase.Equal(c, "the bare one", get("r1", 0), bare)
		full.System, full.Messages = "s2", [][]string{{"d"}}
		put("r1", full)
		storecase.Equal(c, "the one in its place", get("r1", 2), full)
		storecase.Equal(c, "another run's", get("r2", 0), bare)
		c.WantNotFound(func(tx hub.Tx) error { _, err := tx.ModelRequest(c.Session, "r1", 1); return err })
		c.WantNotFound(func(tx hub.Tx) error { _, err := tx.ModelRequest("nowhere", "r1", 2); return err })
		c.Update(func(tx hub.Tx) error { return tx.DropSteps(c.Session, "r1", 0) })
		storecase.Equal(c, "after its step was dropped", get("r1", 2), full)
	},

	"requests of runs that ended long ago are dropped in portions": func(c *storecase.Case) {
		ended := func(id shoal.RunID, at *shoal.Time) hub.StoredRun {
			r := c.NewRun(id, "bot", "")
			r.Status, r.EndedAt = shoal.RunCompleted, at
			return r
		}
		c.AddRuns(ended("r1", storecase.Ptr(storecase.Time(1))), ended("r2", storecase.Ptr(storecase.Time(2))), ended("r3", nil))
		all := []hub.StoredRequest{}
		for _, run := range []shoal.RunID{"r1", "r2", "r3"} {
			for step := range 3 {
				r := hub.StoredRequest{Step: step, Model: string(run), System: "s", Tools: "t", Messages: [][]string{{"a"}}}
				c.Update(func(tx hub.Tx) error { return tx.PutRequest(c.Session, run, r) })
				all = append(all, r)
			}
		}
		listed := func() (out []hub.StoredRequest) {
			out = []hub.StoredRequest{}
			storecase.Read(c, func(tx hub.Tx) (struct{}, error) {
				for place := (hub.RequestPlace{}); ; {
					some, last, err := tx.Requests(c.Session, place, 2)
					if out = append(out, some...); err != nil || len(some) == 0 {
						return struct{}{}, err
					}
					place = last
				}
			})
			return out
		}
		storecase.Equal(c, "all of them", listed(), all)
		drop := func() []shoal.SessionID {
			return storecase.Do(c, func(tx hub.Tx) ([]shoal.SessionID, error) { return tx.DropRequests(storecase.Time(2), 2) })
		}
		storecase.Equal(c, "whose they were", drop(), []shoal.SessionID{c.Session})
		storecase.Equal(c, "after two", listed(), all[2:])
		storecase.Equal(c, "whose the last was", drop(), []shoal.SessionID{c.Session})
		storecase.Equal(c, "when none is left", drop(), []shoal.SessionID{})
		storecase.Equal(c, "what is left", listed(), all[3:])
	},

	"texts are listed and dropped, and claims are counted": func(c *storecase.Case) {
		c.AddTexts(hub.ModelText{Hash: "b"}, hub.ModelText{Hash: "B"}, hub.ModelText{Hash: "a"}, hub.ModelText{Hash: "c"})
		other := storecase.New(c.T, c.Store)
		other.AddTexts(hub.ModelText{Hash: "b"})
		hashes := func(after string, limit int) []string {
			return storecase.Read(c, func(tx hub.Tx) ([]string, error) { return tx.TextHashes(c.Session, after, limit) })
		}
		storecase.Equal(c, "the first", hashes("", 3), []string{"B", "a", "b"})
		storecase.Equal(c, "those after", hashes("b", 3), []string{"c"})
		c.Update(func(tx hub.Tx) error { return tx.DropTexts(c.Session, []string{"b", "c", "x"}) })
		storecase.Equal(c, "what is left", hashes("", 3), []string{"B", "a"})
		storecase.Equal(c, "what is unknown to the other session", unknownTexts(other, "b"), []string{})
		claims := func() string {
			return storecase.Read(c, func(tx hub.Tx) (string, error) {
				n, held, err := tx.Claims(c.Session)
				return fmt.Sprint(n, held), err
			})
		}
		storecase.Equal(c, "without runs", claims(), "0 false")
		r1, r2 := c.NewRun("r1", "bot", ""), c.NewRun("r2", "bot", "")
		r1.Generation, r2.Generation = 2, 3
		c.AddRuns(r1, r2)
		storecase.Equal(c, "when none is in progress", claims(), "5 false")
		r2.LeaseUntil = storecase.Ptr(storecase.Time(1))
		updateRuns(c, r2)
		storecase.Equal(c, "when one is", claims(), "5 true")
		updateRuns(c, func() hub.StoredRun { r2.LeaseUntil = nil; return r2 }())
	},
}
