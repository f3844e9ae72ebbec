package shoaltest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// filled returns a session with a record of every type.
func filled(c *storeCase) shoal.SessionID {
	c.Helper()
	id := shoal.SessionID(fmt.Sprintf("filled%03d", storeCases.Add(1)))
	Fill(c.T, c.store, id)
	return id
}

// records returns all records of a session as lines.
func records(c *storeCase, id shoal.SessionID) string {
	c.Helper()
	return seen(c, func(tx hub.Tx) (string, error) {
		var lines []byte
		for _, of := range hub.RecordTypes[1:] {
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

// bring imports lines into a hidden session.
func bring(tx hub.Tx, stage shoal.SessionID, lines string) error {
	for line := range strings.Lines(lines) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		at := slices.IndexFunc(hub.RecordTypes, func(of *hub.RecordType) bool { return of.Name == name })
		values, err := hub.RecordTypes[at].Parse([]byte(line))
		if err != nil {
			return err
		}
		if err := tx.InsertRecord(stage, hub.RecordTypes[at], values); err != nil {
			return err
		}
	}
	return nil
}

func (c *storeCase) begin(stage shoal.SessionID) {
	c.Helper()
	c.update(func(tx hub.Tx) error { return tx.BeginImport(stage, "token", storeTime(1)) })
}

// shut is the session that an import becomes.
func shut(id shoal.SessionID) shoal.Session {
	return shoal.Session{
		ID: id, Name: hostile, Status: shoal.SessionShut, CreatedAt: storeTime(3), ClosedAt: ref(storeTime(4)),
		Limits: shoal.Limits{MaxCostPerRequest: 1.5, MaxTokensPerRequest: 9}, SpaceRights: shoal.SpaceRightsModerators,
	}
}

var recordTests = map[string]func(*storeCase){
	"a session comes back record by record, and is hidden until its end": func(c *storeCase) {
		from := filled(c)
		lines := records(c, from)
		for _, of := range hub.RecordTypes[1:] {
			if !strings.Contains(lines, `{"type":"`+of.Name+`"`) {
				c.Errorf("there is no %s", of.Name)
			}
		}
		to := from + "-copy"
		c.begin(to)
		c.update(func(tx hub.Tx) error { return bring(tx, to, lines) })
		c.absent(func(tx hub.Tx) error { _, err := tx.Session(to); return err })
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertSession(shoal.Session{ID: to, Status: shoal.SessionOpen}) })
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.BeginImport(to, "another", storeTime(1)) })
		c.update(func(tx hub.Tx) error { return tx.EndImport(to, "token", shut(to)) })
		same(c, "the records", records(c, to), lines)
		same(c, "the session", seen(c, func(tx hub.Tx) (shoal.Session, error) { return tx.Session(to) }), shut(to))
		copied := &storeCase{T: c.T, store: c.store, session: to}
		same(c, "its hosted members", hostedMembers(copied, "shop"), []shoal.EntityID{"bot"})
		same(c, "the spaces of its run", seen(c, func(tx hub.Tx) ([]shoal.SpaceID, error) { return tx.RunSpaces(to, "r1") }), []shoal.SpaceID{"shop", "attic"})
		copied.say("shop", "ann", "it goes on", "bob")
		same(c, "the next place in an inbox", seen(c, func(tx hub.Tx) (int64, error) { return tx.InboxEnd(to, "bob") }), 2)
		feedIndex(copied)
		same(c, "what is found in it", len(find(copied, hub.SearchQuery{Query: Words("second"), Limit: 5})), 1)
		same(c, "the original", records(c, from), lines)
	},

	"what is due in a hidden session is not found": func(c *storeCase) {
		c.entities("bot")
		c.runs(func() hub.StoredRun { r := c.run("r1", "bot", ""); r.Awake = true; return r }())
		p := c.pending("pnd_1", shoal.PendingQuestion, "r1", "")
		p.Due = ref(storeTime(1))
		c.open(p)
		plan := planOf("p1")
		plan.NextRunAt = ref(storeTime(1))
		c.plans(plan)
		lines, to := records(c, c.session), c.session+"-hidden"
		c.begin(to)
		c.update(func(tx hub.Tx) error { return bring(tx, to, lines) })
		hidden := &storeCase{T: c.T, store: c.store, session: to}
		due := func(s *storeCase) string {
			later := shoal.At(time.Now().Add(time.Hour))
			runs := mine(s, seen(s, func(tx hub.Tx) ([]hub.StoredRun, error) { return tx.ClaimableRuns(later, 10_000) }))
			settle := pendings(s, func(tx hub.Tx) ([]hub.StoredPending, error) { return tx.DuePending(later, 10_000) })
			plans := slices.DeleteFunc(seen(s, func(tx hub.Tx) ([]hub.DuePlan, error) { return tx.DuePlans(later, 10_000) }),
				func(p hub.DuePlan) bool { return p.Session != s.session })
			return fmt.Sprint(len(runs), len(settle), len(plans))
		}
		same(c, "what is due in the one that is seen", due(c), "1 1 1")
		same(c, "what is due in the hidden one", due(hidden), "0 0 0")
		c.update(func(tx hub.Tx) error { return tx.DeleteSession(c.session) })
		c.update(func(tx hub.Tx) error { return tx.EndImport(to, "token", shut(to)) })
		same(c, "what is due when it is shown", due(hidden), "1 1 1")
		c.update(func(tx hub.Tx) error { return tx.DeleteSession(to) })
	},

	"a record that is there is AlreadyExists, and what is there is known": func(c *storeCase) {
		lines, to := records(c, filled(c)), c.session+"-twice"
		c.begin(to)
		c.update(func(tx hub.Tx) error { return bring(tx, to, lines) })
		for line := range strings.Lines(lines) {
			if !strings.HasPrefix(line, `{"type":"pendingAction"`) && !strings.HasPrefix(line, `{"type":"run"`) {
				c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return bring(tx, to, line) })
			}
		}
		has := func(name string, key ...any) bool {
			at := slices.IndexFunc(hub.RecordTypes, func(of *hub.RecordType) bool { return of.Name == name })
			return seen(c, func(tx hub.Tx) (bool, error) { return tx.HasRecord(to, hub.RecordTypes[at], key) })
		}
		same(c, "a message", has("message", "shop", int64(1)), true)
		same(c, "a message that is not there", has("message", "shop", int64(99)), false)
		same(c, "an entity", has("entity", "ann"), true)
		same(c, "an entity that is not there", has("entity", "eve"), false)
		c.update(func(tx hub.Tx) error { _, err := tx.DropImport(to); return err })
	},

	"a timeline or an inbox with gaps is refused at the end": func(c *storeCase) {
		lines := records(c, filled(c))
		for what, change := range map[string][2]string{
			"a space that says too much":  {`"lastSeq":3,`, `"lastSeq":4,`},
			"an inbox that says too much": {`"entityId":"bob","lastPlace":1}`, `"entityId":"bob","lastPlace":0}`},
		} {
			if !strings.Contains(lines, change[0]) {
				c.Fatalf("no %s in the records", change[0])
			}
			to := shoal.SessionID(fmt.Sprintf("gaps%03d", storeCases.Add(1)))
			c.begin(to)
			c.update(func(tx hub.Tx) error { return bring(tx, to, strings.Replace(lines, change[0], change[1], 1)) })
			c.refused(shoal.InvalidArgument, func(tx hub.Tx) error {
				if err := tx.EndImport(to, "token", shut(to)); err != nil {
					return err
				}
				return fmt.Errorf("%s passes", what)
			})
		}
	},

	"one that is dropped leaves nothing, and its id is free": func(c *storeCase) {
		lines, to := records(c, filled(c)), c.session+"-dropped"
		drop := func() bool { return done(c, func(tx hub.Tx) (bool, error) { return tx.DropImport(to) }) }
		same(c, "of one that is not there", drop(), false)
		for range 2 {
			c.begin(to)
			c.update(func(tx hub.Tx) error { return bring(tx, to, lines) })
			imports := func(n int) bool {
				all := seen(c, func(tx hub.Tx) ([]shoal.SessionID, error) { return tx.Imports(storeTime(n)) })
				return slices.Contains(all, to)
			}
			same(c, "felt before then", imports(2), true)
			same(c, "felt since", imports(1), false)
			for drop() { // a part at a time
			}
			same(c, "after it was dropped", imports(2), false)
			same(c, "what is left", records(c, to), "")
			c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.TouchImport(to, "token", storeTime(9)) })
		}
		c.begin(to)
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.TouchImport(to, "another", storeTime(9)) })
		c.update(func(tx hub.Tx) error { return tx.TouchImport(to, "token", storeTime(9)) })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.EndImport(to, "another", shut(to)) })
		c.update(func(tx hub.Tx) error { return tx.EndImport(to, "token", shut(to)) })
		same(c, "of one that has ended", drop(), false)
		same(c, "the ended one", seen(c, func(tx hub.Tx) (shoal.Session, error) { return tx.Session(to) }), shut(to))
	},

	"one in the place of another takes everything but keys": func(c *storeCase) {
		from, to := filled(c), filled(c)
		stage := to + "-stage"
		lines := InboxesBehind(records(c, to), records(c, from))
		session := to
		c.update(func(tx hub.Tx) error {
			e := shoal.Entity{SessionID: to, ID: "operator", Kind: shoal.Human, Name: "Operator", CreatedAt: storeTime(0)}
			key := shoal.Key{ID: shoal.KeyID("key-" + to), Role: shoal.RoleEntity, SessionID: &session, EntityID: &e.ID}
			if err := tx.InsertEntity(e); err != nil {
				return err
			}
			return tx.InsertKey(key, "hash-"+string(to))
		})
		before := seen(c, func(tx hub.Tx) (int64, error) { return tx.EventEnd(to) })
		same(c, "whether it is empty", seen(c, func(tx hub.Tx) (bool, error) { return tx.EmptySession(to) }), false)
		same(c, "whether a new one is", seen(c, func(tx hub.Tx) (bool, error) { return tx.EmptySession(c.session) }), true)
		c.begin(stage)
		c.update(func(tx hub.Tx) error { return bring(tx, stage, records(c, from)) })
		c.update(func(tx hub.Tx) error { return tx.EndImport(stage, "token", shut(to)) })
		entity, rest, _ := strings.Cut(records(c, to), "\n")
		for strings.HasPrefix(rest, `{"type":"entity"`) {
			next, behind, _ := strings.Cut(rest, "\n")
			if !strings.Contains(next, `"id":"operator"`) {
				entity += "\n" + next
			}
			rest = behind
		}
		same(c, "the records", entity+"\n"+rest, lines)
		same(c, "what is left of the hidden one", records(c, stage), "")
		same(c, "the session", seen(c, func(tx hub.Tx) (shoal.Session, error) { return tx.Session(to) }), shut(to))
		replaced := &storeCase{T: c.T, store: c.store, session: to}
		feedIndex(replaced)
		same(c, "what is found in it", len(find(replaced, hub.SearchQuery{Query: Words("second"), Limit: 5})), 1)
		seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(to, "operator") })
		seen(c, func(tx hub.Tx) (shoal.Key, error) { return tx.KeyByHash("hash-" + string(to)) })
		for what, filter := range map[string]hub.EventFilter{"of a space": {Space: "shop"}, "of an entity": {Entity: "ann"}, "of all": {}, "of a run": {Run: "r1"}} {
			if floor := floor(&storeCase{T: c.T, store: c.store, session: to}, filter); floor <= before {
				c.Errorf("a cursor %s is not too old: the floor is %d, and there were %d", what, floor, before)
			}
		}
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.EndImport(stage, "token", shut(to)) })
	},

	"an error of the reader ends it": func(c *storeCase) {
		from, n := filled(c), 0
		err := c.store.View(c.Context(), func(tx hub.Tx) error {
			return tx.EachRecord(from, hub.RecordTypes[1], func([]any) error { n++; return errOfTheCaller })
		})
		if err != errOfTheCaller || n != 1 { //nolint:errorlint // the very error is promised
			c.Errorf("got %v after %d", err, n)
		}
		if lines := records(c, from); !bytes.Contains([]byte(lines), []byte(`"usage"`)) {
			c.Error("nothing can be read after it")
		}
	},
}
