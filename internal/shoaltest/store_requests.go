package shoaltest

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// texts keeps texts in one transaction.
func (c *storeCase) texts(all ...hub.ModelText) {
	c.Helper()
	c.update(func(tx hub.Tx) error { return tx.PutTexts(c.session, all) })
}

func unknownTexts(c *storeCase, hashes ...string) []string {
	c.Helper()
	return seen(c, func(tx hub.Tx) ([]string, error) { return tx.UnknownTexts(c.session, hashes) })
}

func modelTexts(c *storeCase, hashes ...string) map[string]string {
	c.Helper()
	return seen(c, func(tx hub.Tx) (map[string]string, error) { return tx.ModelTexts(c.session, hashes) })
}

var requestTests = map[string]func(*storeCase){
	"texts come back as they were kept, and the first one stays": func(c *storeCase) {
		c.texts(hub.ModelText{Hash: "a", Body: hostile}, hub.ModelText{Hash: "B", Body: string(rawJSON)}, hub.ModelText{Hash: "b", Body: ""})
		c.texts(hub.ModelText{Hash: "a", Body: "another"}, hub.ModelText{Hash: "c", Body: "c"})
		same(c, "the texts", modelTexts(c, "c", "b", "B", "a", "a", "d"), map[string]string{"a": hostile, "b": "", "B": string(rawJSON), "c": "c"})
		same(c, "what is unknown", unknownTexts(c, "x", "b", "A", "c", "d"), []string{"x", "A", "d"})
		same(c, "no texts", modelTexts(c), map[string]string{})
		c.texts()
		other := newStoreCase(c.T, c.store)
		same(c, "another session's", unknownTexts(other, "a"), []string{"a"})
		same(c, "another session's texts", modelTexts(other, "a"), map[string]string{})
	},

	"many texts at once": func(c *storeCase) {
		var all []hub.ModelText
		var hashes []string
		for i := range 300 {
			hash := fmt.Sprintf("h%03d", i)
			all, hashes = append(all, hub.ModelText{Hash: hash, Body: strings.Repeat(hash, i)}), append(hashes, hash)
		}
		c.texts(all...)
		got := modelTexts(c, hashes...)
		same(c, "how many there are", len(got), 300)
		for _, text := range all {
			same(c, text.Hash, got[text.Hash], text.Body)
		}
		same(c, "what is unknown", unknownTexts(c, append(hashes, "more")...), []string{"more"})
	},

	"a request comes back as it was stored, and that of the same step is replaced": func(c *storeCase) {
		get := func(run shoal.RunID, step int) hub.StoredRequest {
			return seen(c, func(tx hub.Tx) (hub.StoredRequest, error) { return tx.ModelRequest(c.session, run, step) })
		}
		put := func(run shoal.RunID, r hub.StoredRequest) {
			c.update(func(tx hub.Tx) error { return tx.PutRequest(c.session, run, r) })
		}
		full := hub.StoredRequest{Step: 2, Model: hostile, System: "s", Tools: "t", Messages: [][]string{{"a", "b"}, {}, {"c"}}}
		bare := hub.StoredRequest{Messages: [][]string{}}
		put("r1", full)
		put("r1", bare)
		put("r2", bare)
		same(c, "the full one", get("r1", 2), full)
		same(c, "the bare one", get("r1", 0), bare)
		full.System, full.Messages = "s2", [][]string{{"d"}}
		put("r1", full)
		same(c, "the one in its place", get("r1", 2), full)
		same(c, "another run's", get("r2", 0), bare)
		c.absent(func(tx hub.Tx) error { _, err := tx.ModelRequest(c.session, "r1", 1); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.ModelRequest("nowhere", "r1", 2); return err })
		c.update(func(tx hub.Tx) error { return tx.DropSteps(c.session, "r1", 0) })
		same(c, "after its step was dropped", get("r1", 2), full)
	},

	"what was sent for runs that ended long ago is dropped, a part at a time": func(c *storeCase) {
		ended := func(id shoal.RunID, at *shoal.Time) hub.StoredRun {
			r := c.run(id, "bot", "")
			r.Status, r.EndedAt = shoal.RunCompleted, at
			return r
		}
		c.runs(ended("r1", ref(storeTime(1))), ended("r2", ref(storeTime(2))), ended("r3", nil))
		all := []hub.StoredRequest{}
		for _, run := range []shoal.RunID{"r1", "r2", "r3"} {
			for step := range 3 {
				r := hub.StoredRequest{Step: step, Model: string(run), System: "s", Tools: "t", Messages: [][]string{{"a"}}}
				c.update(func(tx hub.Tx) error { return tx.PutRequest(c.session, run, r) })
				all = append(all, r)
			}
		}
		listed := func() (out []hub.StoredRequest) {
			out = []hub.StoredRequest{}
			seen(c, func(tx hub.Tx) (struct{}, error) {
				for place := (hub.RequestPlace{}); ; {
					some, last, err := tx.Requests(c.session, place, 2)
					if out = append(out, some...); err != nil || len(some) == 0 {
						return struct{}{}, err
					}
					place = last
				}
			})
			return out
		}
		same(c, "all of them", listed(), all)
		drop := func() []shoal.SessionID {
			return done(c, func(tx hub.Tx) ([]shoal.SessionID, error) { return tx.DropRequests(storeTime(2), 2) })
		}
		same(c, "whose they were", drop(), []shoal.SessionID{c.session})
		same(c, "after two", listed(), all[2:])
		same(c, "whose the last was", drop(), []shoal.SessionID{c.session})
		same(c, "when none is left", drop(), []shoal.SessionID{})
		same(c, "what is left", listed(), all[3:])
	},

	"texts are listed and dropped, and claims are counted": func(c *storeCase) {
		c.texts(hub.ModelText{Hash: "b"}, hub.ModelText{Hash: "B"}, hub.ModelText{Hash: "a"}, hub.ModelText{Hash: "c"})
		other := newStoreCase(c.T, c.store)
		other.texts(hub.ModelText{Hash: "b"})
		hashes := func(after string, limit int) []string {
			return seen(c, func(tx hub.Tx) ([]string, error) { return tx.TextHashes(c.session, after, limit) })
		}
		same(c, "the first", hashes("", 3), []string{"B", "a", "b"})
		same(c, "those after", hashes("b", 3), []string{"c"})
		c.update(func(tx hub.Tx) error { return tx.DropTexts(c.session, []string{"b", "c", "x"}) })
		same(c, "what is left", hashes("", 3), []string{"B", "a"})
		same(c, "what is unknown to the other session", unknownTexts(other, "b"), []string{})
		claims := func() string {
			return seen(c, func(tx hub.Tx) (string, error) {
				n, held, err := tx.Claims(c.session)
				return fmt.Sprint(n, held), err
			})
		}
		same(c, "without runs", claims(), "0 false")
		r1, r2 := c.run("r1", "bot", ""), c.run("r2", "bot", "")
		r1.Generation, r2.Generation = 2, 3
		c.runs(r1, r2)
		same(c, "when none is in progress", claims(), "5 false")
		r2.LeaseUntil = ref(storeTime(1))
		c.rerun(r2)
		same(c, "when one is", claims(), "5 true")
		c.rerun(func() hub.StoredRun { r2.LeaseUntil = nil; return r2 }())
	},
}
