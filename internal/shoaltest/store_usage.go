package shoaltest

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

var usageTests = map[string]func(*storeCase){
	"what the runs of a root spend is summed up": func(c *storeCase) {
		spend := func(root string, s hub.Spending) (sum hub.Spending) {
			c.update(func(tx hub.Tx) (err error) { sum, err = tx.Spend(c.session, root, s); return err })
			return sum
		}
		same(c, "the first", spend("m1", hub.Spending{Cost: 0.5, Tokens: 1 << 40}), hub.Spending{Cost: 0.5, Tokens: 1 << 40})
		same(c, "of another root", spend("m2", hub.Spending{Tokens: 7}), hub.Spending{Tokens: 7})
		same(c, "more and less", spend("m1", hub.Spending{Cost: 0.25, Tokens: -1}), hub.Spending{Cost: 0.75, Tokens: 1<<40 - 1})
		same(c, "nothing", spend("m1", hub.Spending{}), hub.Spending{Cost: 0.75, Tokens: 1<<40 - 1})
		other := newStoreCase(c.T, c.store)
		other.update(func(tx hub.Tx) error {
			sum, err := tx.Spend(other.session, "m1", hub.Spending{Cost: 1})
			same(other, "in another session", sum, hub.Spending{Cost: 1})
			return err
		})
	},

	"it is summed up by what was asked, in order": func(c *storeCase) {
		noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		add := func(run shoal.RunID, step int, agent shoal.EntityID, model string, at time.Time, tokens int64) {
			u := hub.StepUsage{Run: run, Step: step, Agent: agent, Model: model, At: shoal.At(at)}
			u.Usage = shoal.Usage{InputTokens: tokens, CachedInputTokens: 2, OutputTokens: 3, ReasoningTokens: 4, Cost: 0.25, Currency: shoal.Currency}
			c.update(func(tx hub.Tx) error { return tx.AddUsage(c.session, u) })
		}
		add("r1", 0, "bot", "m1", noon, 99)
		add("r1", 0, "bot", "m1", noon, 1) // the same step again
		add("r1", 1, "bot", "m2", noon.Add(12*time.Hour-time.Microsecond), 10)
		add("r2", 0, "bee", "m1", noon.Add(12*time.Hour), 100)
		add("r3", 0, "bot", "m1", noon.Add(24*time.Hour), 1<<40)
		newStoreCase(c.T, c.store).update(func(tx hub.Tx) error { return tx.AddUsage("elsewhere", hub.StepUsage{Run: "r1"}) })
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
			query hub.UsageQuery
			want  rows
		}{
			{hub.UsageQuery{}, rows{row(4, 1<<40+111)}},
			{hub.UsageQuery{By: []string{"day"}}, rows{named(row(2, 11), "2026-03-01", "", "", ""), named(row(2, 1<<40+100), "2026-03-02", "", "", "")}},
			{hub.UsageQuery{By: []string{"agent"}}, rows{named(row(1, 100), "", "bee", "", ""), named(row(3, 1<<40+11), "", "bot", "", "")}},
			{hub.UsageQuery{By: []string{"model", "agent"}}, rows{
				named(row(1, 100), "", "bee", "m1", ""), named(row(2, 1<<40+1), "", "bot", "m1", ""), named(row(1, 10), "", "bot", "m2", ""),
			}},
			{hub.UsageQuery{By: []string{"run"}, Agent: "bot"}, rows{named(row(2, 11), "", "", "", "r1"), named(row(1, 1<<40), "", "", "", "r3")}},
			{hub.UsageQuery{Run: "r1"}, rows{row(2, 11)}},
			{hub.UsageQuery{From: ref(shoal.At(noon.Add(12 * time.Hour)))}, rows{row(2, 1<<40+100)}},
			{hub.UsageQuery{Agent: "bot", From: ref(shoal.At(noon.Add(time.Hour))), To: ref(shoal.At(noon.Add(24 * time.Hour)))}, rows{row(1, 10)}},
			{hub.UsageQuery{Agent: "nobody"}, rows{}},
			{hub.UsageQuery{Agent: "nobody", By: []string{"day"}}, rows{}},
		} {
			same(c, fmt.Sprintf("the usage of %+v", q.query), seen(c, func(tx hub.Tx) ([]shoal.UsageRow, error) { return tx.Usage(c.session, q.query) }), q.want)
		}
	},

	"another name to group by is refused": func(c *storeCase) {
		c.refused(shoal.InvalidArgument, func(tx hub.Tx) error {
			_, err := tx.Usage(c.session, hub.UsageQuery{By: []string{"day; DROP TABLE usage"}})
			return err
		})
	},
}

// upload stores a file.
func (c *storeCase) upload(f shoal.File, by shoal.EntityID, data []byte) {
	c.Helper()
	c.update(func(tx hub.Tx) error { return tx.InsertFile(c.session, f, by, storeTime(1), data) })
}

var fileTests = map[string]func(*storeCase){
	"it comes back as it was stored": func(c *storeCase) {
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		for _, want := range []struct {
			file shoal.File
			by   shoal.EntityID
			data []byte
		}{
			{shoal.File{ID: "f1", Name: hostile, MediaType: "image/png", Size: 1 << 20, URL: "/v1/x"}, "ann", bytes.Repeat(every, 4096)},
			{shoal.File{ID: "f2"}, "", nil},
		} {
			c.upload(want.file, want.by, want.data)
			var by shoal.EntityID
			var data []byte
			got := seen(c, func(tx hub.Tx) (f shoal.File, err error) {
				f, by, data, err = tx.File(c.session, want.file.ID)
				return f, err
			})
			same(c, "the file", got, want.file)
			same(c, "who uploaded it", by, want.by)
			if !bytes.Equal(data, want.data) {
				c.Errorf("%d bytes came back instead of %d", len(data), len(want.data))
			}
			same(c, "the file alone", seen(c, func(tx hub.Tx) (f shoal.File, err error) {
				f, by, err = tx.FileHead(c.session, want.file.ID)
				return f, err
			}), want.file)
			same(c, "whose it is", by, want.by)
		}
	},

	"a deleted file is gone, and so is the answer to its upload": func(c *storeCase) {
		c.entities("ann")
		c.space("shop", "ann")
		c.upload(shoal.File{ID: "f1", Size: 4}, "bob", []byte("data"))
		c.upload(shoal.File{ID: "f2", Size: 4}, "bob", []byte("data"))
		key := func(id string) hub.AnswerKey {
			return hub.AnswerKey{Session: c.session, Scope: "entity:bob", Route: "hub.Files.Upload", Key: id}
		}
		c.update(func(tx hub.Tx) error {
			return errors.Join(tx.ShowFile(c.session, "f1", "shop"),
				tx.InsertAnswer(key("k1"), hub.Answer{Hash: "h", Body: []byte(`{"id":"f1"}`), At: storeTime(1)}),
				tx.InsertAnswer(key("k2"), hub.Answer{Hash: "h", Body: []byte(`{"id":"f2"}`), At: storeTime(1)}))
		})
		c.update(func(tx hub.Tx) error { return tx.DeleteFile(c.session, "f1") })
		c.absent(func(tx hub.Tx) error { _, _, _, err := tx.File(c.session, "f1"); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.Answer(key("k1")); return err })
		same(c, "it is shown", seen(c, func(tx hub.Tx) (bool, error) { return tx.FileShownTo(c.session, "f1", "ann") }), false)
		same(c, "the other answer", string(seen(c, func(tx hub.Tx) (hub.Answer, error) { return tx.Answer(key("k2")) }).Body), `{"id":"f2"}`)
		same(c, "what is stored", seen(c, func(tx hub.Tx) (int64, error) { return tx.StoredBytes(c.session, "bob") }), 4)
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteFile(c.session, "f1") })
	},

	"what an entity stored is added up": func(c *storeCase) {
		for i, by := range []shoal.EntityID{"ann", "ann", "bob", ""} {
			c.upload(shoal.File{ID: shoal.FileID(fmt.Sprint("f", i)), Size: int64(1 << (i + 30))}, by, nil)
		}
		var all []int64
		for _, by := range []shoal.EntityID{"ann", "bob", "", "eve"} {
			all = append(all, seen(c, func(tx hub.Tx) (int64, error) { return tx.StoredBytes(c.session, by) }))
		}
		same(c, "the bytes", all, []int64{3 << 30, 4 << 30, 8 << 30, 0})
	},

	"a missing one is NotFound, a taken id AlreadyExists, in each session for itself": func(c *storeCase) {
		c.absent(func(tx hub.Tx) error { _, _, _, err := tx.File(c.session, "f1"); return err })
		c.absent(func(tx hub.Tx) error { _, _, err := tx.FileHead(c.session, "f1"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.ShowFile(c.session, "f1", "shop") })
		c.upload(shoal.File{ID: "f1"}, "", nil)
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertFile(c.session, shoal.File{ID: "f1"}, "", storeTime(1), nil) })
		newStoreCase(c.T, c.store).upload(shoal.File{ID: "f1"}, "", nil)
	},

	"those may see it who are in a space that shows it": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann")
		c.space("yard", "bob")
		c.upload(shoal.File{ID: "f1"}, "ann", nil)
		shown := func(id shoal.FileID, to shoal.EntityID) bool {
			return seen(c, func(tx hub.Tx) (bool, error) { return tx.FileShownTo(c.session, id, to) })
		}
		same(c, "ann at first", shown("f1", "ann"), false)
		for range 2 {
			c.update(func(tx hub.Tx) error { return tx.ShowFile(c.session, "f1", "shop") })
		}
		same(c, "ann", shown("f1", "ann"), true)
		same(c, "bob", shown("f1", "bob"), false)
		same(c, "another file", shown("f2", "ann"), false)
		c.update(func(tx hub.Tx) error { return tx.ShowFile(c.session, "f1", "yard") })
		same(c, "bob, when his space shows it", shown("f1", "bob"), true)
		c.update(func(tx hub.Tx) error { return tx.DeleteMember(c.session, "shop", "ann") })
		same(c, "ann after leaving", shown("f1", "ann"), false)
	},
}
