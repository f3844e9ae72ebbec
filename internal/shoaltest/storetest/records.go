package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// newFilledSession returns a new session with a record of every type.
func newFilledSession(c *storecase.Case) shoal.SessionID {
	c.Helper()
	id := storecase.SessionID("filled")
	Fill(c.T, c.Store, id)
	return id
}

// records returns all records of a session as lines.
func records(c *storecase.Case, id shoal.SessionID) string {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) (string, error) {
		var lines []byte
		for _, of := range storage.RecordTypes[1:] {
			err := tx.EachRecord(id, of, func(values []any) (err error) {
				lines, err = of.Append(lines, values)
				return err
			})
			if err != nil {
				return "", err
			}
		}
		return string(lines), nil
	})
}

// insertRecords imports lines into a hidden session.
func insertRecords(tx storage.Tx, stage shoal.SessionID, lines string) error {
	for line := range strings.Lines(lines) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		at := slices.IndexFunc(storage.RecordTypes, func(of *storage.RecordType) bool { return of.Name == name })
		values, err := storage.RecordTypes[at].Parse([]byte(line))
		if err != nil {
			return err
		}
		if err := tx.InsertRecord(stage, storage.RecordTypes[at], values); err != nil {
			return err
		}
	}
	return nil
}

func beginImport(c *storecase.Case, stage shoal.SessionID) {
	c.Helper()
	c.Update(func(tx storage.Tx) error { return tx.BeginImport(stage, "token", storecase.Time(1)) })
}

// importedSession is the session that an import becomes.
func importedSession(id shoal.SessionID) shoal.Session {
	return shoal.Session{
		ID: id, Name: storecase.Hostile, Status: shoal.SessionStatusClosed, CreatedAt: storecase.Time(3), ClosedAt: storecase.Ptr(storecase.Time(4)),
		Limits: shoal.Limits{MaxCostPerRequest: 1.5, MaxTokensPerRequest: 9}, SpaceRights: shoal.SpaceRightsModerators,
		Retention: shoal.Retention{MessagesForMs: 3, RunsForMs: 4, PromptsForMs: 5},
	}
}

var recordTests = map[string]func(*storecase.Case){
	"a session is exported and imported record by record, and hidden until the import ends": func(c *storecase.Case) {
		from := newFilledSession(c)
		lines := records(c, from)
		for _, of := range storage.RecordTypes[1:] {
			if !of.Old && !strings.Contains(lines, `{"type":"`+of.Name+`"`) {
				c.Errorf("there is no %s", of.Name)
			}
		}
		to := from + "-copy"
		beginImport(c, to)
		c.Update(func(tx storage.Tx) error { return insertRecords(tx, to, lines) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Session(to); return err })
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error {
			return tx.InsertSession(shoal.Session{ID: to, Status: shoal.SessionStatusOpen})
		})
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.BeginImport(to, "another", storecase.Time(1)) })
		c.Update(func(tx storage.Tx) error { return tx.EndImport(to, "token", importedSession(to)) })
		storecase.Equal(c, "the records", records(c, to), lines)
		storecase.Equal(c, "the session", storecase.Read(c, func(tx storage.Tx) (shoal.Session, error) { return tx.Session(to) }), importedSession(to))
		copied := &storecase.Case{T: c.T, Store: c.Store, Session: to}
		storecase.Equal(c, "its hosted members", storecase.HostedMembers(copied, "shop"), []shoal.EntityID{"bot"})
		spacesOf := func(session shoal.SessionID) []shoal.Space {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.Space, error) { return tx.Spaces(session, storage.SpaceFilter{}) })
		}
		for i, s := range spacesOf(to) {
			if original := spacesOf(from)[i]; s.MemberCount != original.MemberCount {
				c.Errorf("%s has %d members, the original %d", s.ID, s.MemberCount, original.MemberCount)
			}
		}
		storecase.Equal(c, "the spaces of its run", storecase.Read(c, func(tx storage.Tx) ([]shoal.SpaceID, error) { return tx.RunSpaces(to, "r1") }), []shoal.SpaceID{"shop", "attic"})
		copied.Say("shop", "ann", "it goes on", "bob")
		storecase.Equal(c, "the next place in an inbox", storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.InboxEnd(to) }), 7)
		storecase.UpdateIndex(copied)
		storecase.Equal(c, "what is found in it", len(storecase.Find(copied, storage.SearchQuery{Query: storecase.Query("second"), Limit: 5})), 1)
		storecase.Equal(c, "the original", records(c, from), lines)
	},

	"due runs, actions and schedules of a hidden session are not found": func(c *storecase.Case) {
		c.AddEntities("bot")
		c.AddRuns(func() storage.Run { r := c.NewRun("r1", "bot", ""); r.Awake = true; return r }())
		p := c.NewPending("pnd_1", shoal.PendingQuestion, "r1", "")
		p.Due = storecase.Ptr(storecase.Time(1))
		c.AddPending(p)
		plan := storecase.NewPlan("p1")
		plan.NextRunAt = storecase.Ptr(storecase.Time(1))
		c.AddPlans(plan)
		lines, to := records(c, c.Session), c.Session+"-hidden"
		beginImport(c, to)
		c.Update(func(tx storage.Tx) error { return insertRecords(tx, to, lines) })
		hidden := &storecase.Case{T: c.T, Store: c.Store, Session: to}
		due := func(s *storecase.Case) string {
			later := shoal.At(time.Now().Add(time.Hour))
			runs := storecase.OwnRuns(s, storecase.Read(s, func(tx storage.Tx) ([]storage.Run, error) { return tx.ClaimableRuns(later, 10_000) }))
			settle := storecase.OwnPending(s, func(tx storage.Tx) ([]storage.Pending, error) { return tx.DuePending(later, 10_000) })
			plans := slices.DeleteFunc(storecase.Read(s, func(tx storage.Tx) ([]storage.DuePlan, error) { return tx.DuePlans(later, 10_000) }),
				func(p storage.DuePlan) bool { return p.Session != s.Session })
			return fmt.Sprint(len(runs), len(settle), len(plans))
		}
		storecase.Equal(c, "what is due in the one that is seen", due(c), "1 1 1")
		storecase.Equal(c, "what is due in the hidden one", due(hidden), "0 0 0")
		c.Update(func(tx storage.Tx) error { return tx.DeleteSession(c.Session) })
		c.Update(func(tx storage.Tx) error { return tx.EndImport(to, "token", importedSession(to)) })
		storecase.Equal(c, "what is due when it is shown", due(hidden), "1 1 1")
		c.Update(func(tx storage.Tx) error { return tx.DeleteSession(to) })
	},

	"inserting an existing record fails with AlreadyExists, and HasRecord finds it": func(c *storecase.Case) {
		lines, to := records(c, newFilledSession(c)), c.Session+"-twice"
		beginImport(c, to)
		c.Update(func(tx storage.Tx) error { return insertRecords(tx, to, lines) })
		for line := range strings.Lines(lines) {
			if !strings.HasPrefix(line, `{"type":"pendingAction"`) && !strings.HasPrefix(line, `{"type":"run"`) {
				c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return insertRecords(tx, to, line) })
			}
		}
		has := func(name string, key ...any) bool {
			at := slices.IndexFunc(storage.RecordTypes, func(of *storage.RecordType) bool { return of.Name == name })
			return storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.HasRecord(to, storage.RecordTypes[at], key) })
		}
		storecase.Equal(c, "a message", has("message", "shop", int64(1)), true)
		storecase.Equal(c, "a message that is not there", has("message", "shop", int64(99)), false)
		storecase.Equal(c, "an entity", has("entity", "ann"), true)
		storecase.Equal(c, "an entity that is not there", has("entity", "eve"), false)
		c.Update(func(tx storage.Tx) error { _, err := tx.DropImport(to); return err })
	},

	"the end of an import refuses timelines and inboxes with gaps": func(c *storecase.Case) {
		lines := records(c, newFilledSession(c))
		for what, change := range map[string][2]string{
			"a space that says too much":          {`"lastSeq":6,`, `"lastSeq":7,`},
			"an entry before its message":         {`"type":"inboxEntry","entityId":"bob","place":5`, `"type":"inboxEntry","entityId":"bob","place":4`},
			"two messages with one place":         {`"arrival":2,"place":3}`, `"arrival":2,"place":2}`},
			"arrivals with a gap":                 {`"arrival":5,`, `"arrival":7,`},
			"arrivals in another order":           {`"arrival":3,"place":4}`, `"arrival":3,"place":9}`},
			"a position after the end":            {`"readUpto":0,`, `"readUpto":9,`},
			"a member that is paused for nothing": {`"readUpto":0,"pausedAt":null`, `"readUpto":0,"pausedAt":3`},
			"a range that is read already":        {`"first":5,`, `"first":0,`},
			"a range after the end":               {`"last":5}`, `"last":6}`},
		} {
			if !strings.Contains(lines, change[0]) {
				c.Fatalf("no %s in the records", change[0])
			}
			to := storecase.SessionID("gaps")
			beginImport(c, to)
			c.Update(func(tx storage.Tx) error {
				return insertRecords(tx, to, strings.Replace(lines, change[0], change[1], 1))
			})
			c.WantError(shoal.InvalidArgument, func(tx storage.Tx) error {
				if err := tx.EndImport(to, "token", importedSession(to)); err != nil {
					return err
				}
				return fmt.Errorf("%s passes", what)
			})
		}
	},

	"a dropped import leaves nothing, and its id can be used again": func(c *storecase.Case) {
		lines, to := records(c, newFilledSession(c)), c.Session+"-dropped"
		drop := func() bool { return storecase.Do(c, func(tx storage.Tx) (bool, error) { return tx.DropImport(to) }) }
		storecase.Equal(c, "of one that is not there", drop(), false)
		for range 2 {
			beginImport(c, to)
			c.Update(func(tx storage.Tx) error { return insertRecords(tx, to, lines) })
			imports := func(n int) bool {
				all := storecase.Read(c, func(tx storage.Tx) ([]shoal.SessionID, error) { return tx.Imports(storecase.Time(n)) })
				return slices.Contains(all, to)
			}
			storecase.Equal(c, "felt before then", imports(2), true)
			storecase.Equal(c, "felt since", imports(1), false)
			for drop() { // a part at a time
			}
			storecase.Equal(c, "after it was dropped", imports(2), false)
			storecase.Equal(c, "what is left", records(c, to), "")
			c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.TouchImport(to, "token", storecase.Time(9)) })
		}
		beginImport(c, to)
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.TouchImport(to, "another", storecase.Time(9)) })
		c.Update(func(tx storage.Tx) error { return tx.TouchImport(to, "token", storecase.Time(9)) })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.EndImport(to, "another", importedSession(to)) })
		c.Update(func(tx storage.Tx) error { return tx.EndImport(to, "token", importedSession(to)) })
		storecase.Equal(c, "of one that has ended", drop(), false)
		storecase.Equal(c, "the ended one", storecase.Read(c, func(tx storage.Tx) (shoal.Session, error) { return tx.Session(to) }), importedSession(to))
	},

	"an import that replaces a session replaces everything except keys": func(c *storecase.Case) {
		from, to := newFilledSession(c), newFilledSession(c)
		stage := to + "-stage"
		lines := InboxesAfter(records(c, to), records(c, from))
		session := to
		c.Update(func(tx storage.Tx) error {
			e := shoal.Entity{SessionID: to, ID: "operator", Kind: shoal.Human, Name: "Operator", CreatedAt: storecase.Time(0)}
			key := shoal.Key{ID: shoal.KeyID("key-" + to), Role: shoal.RoleEntity, SessionID: &session, EntityID: &e.ID}
			if err := tx.InsertEntity(e); err != nil {
				return err
			}
			return tx.InsertKey(key, "hash-"+string(to))
		})
		before := storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.EventEnd(to) })
		storecase.Equal(c, "whether it is empty", storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.EmptySession(to) }), false)
		storecase.Equal(c, "whether a new one is", storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.EmptySession(c.Session) }), true)
		beginImport(c, stage)
		c.Update(func(tx storage.Tx) error { return insertRecords(tx, stage, records(c, from)) })
		c.Update(func(tx storage.Tx) error { return tx.EndImport(stage, "token", importedSession(to)) })
		entity, rest, _ := strings.Cut(records(c, to), "\n")
		for strings.HasPrefix(rest, `{"type":"entity"`) {
			next, behind, _ := strings.Cut(rest, "\n")
			if !strings.Contains(next, `"id":"operator"`) {
				entity += "\n" + next
			}
			rest = behind
		}
		storecase.Equal(c, "the records", entity+"\n"+rest, lines)
		storecase.Equal(c, "what is left of the hidden one", records(c, stage), "")
		storecase.Equal(c, "the session", storecase.Read(c, func(tx storage.Tx) (shoal.Session, error) { return tx.Session(to) }), importedSession(to))
		replaced := &storecase.Case{T: c.T, Store: c.Store, Session: to}
		storecase.UpdateIndex(replaced)
		storecase.Equal(c, "what is found in it", len(storecase.Find(replaced, storage.SearchQuery{Query: storecase.Query("second"), Limit: 5})), 1)
		storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(to, "operator") })
		storecase.Read(c, func(tx storage.Tx) (shoal.Key, error) { return tx.KeyByHash("hash-" + string(to)) })
		for what, filter := range map[string]storage.EventFilter{"of a space": {Space: "shop"}, "of an entity": {Entity: "ann"}, "of all": {}, "of a run": {Run: "r1"}} {
			if floor := storecase.EventFloor(&storecase.Case{T: c.T, Store: c.Store, Session: to}, filter); floor <= before {
				c.Errorf("a cursor %s is not too old: the floor is %d, and there were %d", what, floor, before)
			}
		}
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.EndImport(stage, "token", importedSession(to)) })
	},

	"an error of the reader ends the export": func(c *storecase.Case) {
		from, n := newFilledSession(c), 0
		err := c.Store.View(c.Context(), func(tx storage.Tx) error {
			return tx.EachRecord(from, storage.RecordTypes[1], func([]any) error { n++; return storecase.ErrCaller })
		})
		if err != storecase.ErrCaller || n != 1 { //nolint:errorlint // the very error is promised
			c.Errorf("got %v after %d", err, n)
		}
		if lines := records(c, from); !bytes.Contains([]byte(lines), []byte(`"usage"`)) {
			c.Error("nothing can be read after it")
		}
	},
}
