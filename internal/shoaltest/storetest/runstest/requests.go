package runstest

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

func unknownTexts(c *storecase.Case, hashes ...string) []string {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) ([]string, error) { return tx.UnknownTexts(c.Session, hashes) })
}

func modelTexts(c *storecase.Case, hashes ...string) map[string]string {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) (map[string]string, error) { return tx.ModelTexts(c.Session, hashes) })
}

var requestTests = map[string]func(*storecase.Case){
	"texts are read as they were stored, and the first one of a hash is kept": func(c *storecase.Case) {
		c.AddTexts(storage.ModelText{Hash: "a", Body: storecase.Hostile}, storage.ModelText{Hash: "B", Body: string(storecase.RawJSON)}, storage.ModelText{Hash: "b", Body: ""})
		c.AddTexts(storage.ModelText{Hash: "a", Body: "another"}, storage.ModelText{Hash: "c", Body: "c"})
		storecase.Equal(c, "the texts", modelTexts(c, "c", "b", "B", "a", "a", "d"), map[string]string{"a": storecase.Hostile, "b": "", "B": string(storecase.RawJSON), "c": "c"})
		storecase.Equal(c, "what is unknown", unknownTexts(c, "x", "b", "A", "c", "d"), []string{"x", "A", "d"})
		storecase.Equal(c, "no texts", modelTexts(c), map[string]string{})
		c.AddTexts()
		other := storecase.New(c.T, c.Store)
		storecase.Equal(c, "another session's", unknownTexts(other, "a"), []string{"a"})
		storecase.Equal(c, "another session's texts", modelTexts(other, "a"), map[string]string{})
	},

	"many texts at once": func(c *storecase.Case) {
		var all []storage.ModelText
		var hashes []string
		for i := range 300 {
			hash := fmt.Sprintf("h%03d", i)
			all, hashes = append(all, storage.ModelText{Hash: hash, Body: strings.Repeat(hash, i)}), append(hashes, hash)
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
		get := func(run shoal.RunID, step int) storage.Request {
			return storecase.Read(c, func(tx storage.Tx) (storage.Request, error) { return tx.ModelRequest(c.Session, run, step) })
		}
		put := func(run shoal.RunID, r storage.Request) {
			c.Update(func(tx storage.Tx) error { return tx.PutRequest(c.Session, run, r) })
		}
		full := storage.Request{Step: 2, Model: storecase.Hostile, System: "s", Tools: "t", Messages: [][]string{{"a", "b"}, {}, {"c"}}}
		bare := storage.Request{Messages: [][]string{}}
		put("r1", full)
		put("r1", bare)
		put("r2", bare)
		storecase.Equal(c, "the full one", get("r1", 2), full)
		storecase.Equal(c, "the bare one", get("r1", 0), bare)
		full.System, full.Messages = "s2", [][]string{{"d"}}
		put("r1", full)
		storecase.Equal(c, "the one in its place", get("r1", 2), full)
		storecase.Equal(c, "another run's", get("r2", 0), bare)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.ModelRequest(c.Session, "r1", 1); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.ModelRequest("nowhere", "r1", 2); return err })
		c.Update(func(tx storage.Tx) error { return tx.DropSteps(c.Session, "r1", 0) })
		storecase.Equal(c, "after its step was dropped", get("r1", 2), full)
	},

	"requests of runs that ended long ago are dropped in portions": func(c *storecase.Case) {
		ended := func(id shoal.RunID, at *shoal.Time) storage.Run {
			r := c.NewRun(id, "bot", "")
			r.Status, r.EndedAt = shoal.RunCompleted, at
			return r
		}
		c.AddRuns(ended("r1", storecase.Ptr(storecase.Time(1))), ended("r2", storecase.Ptr(storecase.Time(2))), ended("r3", nil))
		all := []storage.Request{}
		for _, run := range []shoal.RunID{"r1", "r2", "r3"} {
			for step := range 3 {
				r := storage.Request{Step: step, Model: string(run), System: "s", Tools: "t", Messages: [][]string{{"a"}}}
				c.Update(func(tx storage.Tx) error { return tx.PutRequest(c.Session, run, r) })
				all = append(all, r)
			}
		}
		listed := func() (out []storage.Request) {
			out = []storage.Request{}
			storecase.Read(c, func(tx storage.Tx) (struct{}, error) {
				for place := (storage.RequestPosition{}); ; {
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
		drop := func(session shoal.SessionID) int {
			return storecase.Do(c, func(tx storage.Tx) (int, error) { return tx.DropRequests(session, storecase.Time(2), 2) })
		}
		storecase.Equal(c, "how many of another session", drop("nowhere"), 0)
		storecase.Equal(c, "how many", drop(c.Session), 2)
		storecase.Equal(c, "after two", listed(), all[2:])
		storecase.Equal(c, "how many are left", drop(c.Session), 1)
		storecase.Equal(c, "when none is left", drop(c.Session), 0)
		storecase.Equal(c, "what is left", listed(), all[3:])
	},

	"texts are listed and dropped, and claims are counted": func(c *storecase.Case) {
		c.AddTexts(storage.ModelText{Hash: "b"}, storage.ModelText{Hash: "B"}, storage.ModelText{Hash: "a"}, storage.ModelText{Hash: "c"})
		other := storecase.New(c.T, c.Store)
		other.AddTexts(storage.ModelText{Hash: "b"})
		hashes := func(after string, limit int) []string {
			return storecase.Read(c, func(tx storage.Tx) ([]string, error) { return tx.TextHashes(c.Session, after, limit) })
		}
		storecase.Equal(c, "the first", hashes("", 3), []string{"B", "a", "b"})
		storecase.Equal(c, "those after", hashes("b", 3), []string{"c"})
		c.Update(func(tx storage.Tx) error { return tx.DropTexts(c.Session, []string{"b", "c", "x"}) })
		storecase.Equal(c, "what is left", hashes("", 3), []string{"B", "a"})
		storecase.Equal(c, "what is unknown to the other session", unknownTexts(other, "b"), []string{})
		claims := func() string {
			return storecase.Read(c, func(tx storage.Tx) (string, error) {
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
		updateRuns(c, func() storage.Run { r2.LeaseUntil = nil; return r2 }())
	},
}
