package sqlstore_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// appendAudit appends a record to the chain of a session, or of the server if it is empty.
func appendAudit(tx storage.Tx, session shoal.SessionID, act audit.Act) error {
	r := audit.Record{At: shoal.Now(), Act: act, Decision: audit.Allowed, Target: audit.Target{Kind: "key", ID: "key_1"}, Details: map[string]string{"name": `"ann" <&>`}, Address: "192.0.2.1", RequestID: "req_1", Count: 1}
	if session != "" {
		r.SessionID = &session
	}
	r.By(shoal.Principal{KeyID: "root", Role: shoal.RoleAdmin, EntityID: "ann"})
	_, err := tx.AppendAudit(r)
	return err
}

// verifyAudit reads the chain of a session page by page and returns its first problem, or "".
func verifyAudit(t *testing.T, s storage.Store, session shoal.SessionID) (problem string, records int64) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(s.View(t.Context(), func(tx storage.Tx) error {
		head, err := tx.AuditHead(session)
		must(err)
		v := audit.NewVerifier(head, audit.Head{})
		for before := int64(0); ; {
			page, err := tx.Audit(session, storage.AuditFilter{Before: before, Limit: 3})
			must(err)
			for _, r := range page {
				v.Next(r)
				before = r.Seq
			}
			if len(page) < 3 {
				break
			}
		}
		first, _, n := v.End()
		if records = n; first != nil {
			problem = first.String()
		}
		return nil
	}))
	return problem, records
}

// Every change that is made in the tables by hand is found, with its place.
func TestAlteredAuditLog(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		for range 8 {
			updateAt(t, s, storage.In("default"), func(tx storage.Tx) error { return appendAudit(tx, "default", audit.KeyCreate) })
		}
		update(t, s, func(tx storage.Tx) error { return appendAudit(tx, "", audit.SessionCreate) })
		for session, want := range map[shoal.SessionID]int64{"default": 8, "": 1, "lab": 0} {
			if problem, n := verifyAudit(t, s, session); problem != "" || n != want {
				t.Fatalf("the chain of %q has %d records and is reported as broken: %q", session, n, problem)
			}
		}
		for _, c := range []struct{ statement, want string }{
			{`UPDATE audit SET decision = 'refused' WHERE session_id = 'default' AND seq = 3`, "Record 3 was altered"},
			{`UPDATE audit SET key_id = 'key_2' WHERE session_id = 'default' AND seq = 1`, "Record 1 was altered"},
			{`UPDATE audit SET acting_as = '' WHERE session_id = 'default' AND seq = 5`, "Record 5 was altered"},
			{`UPDATE audit SET at = at + 1000 WHERE session_id = 'default' AND seq = 8`, "Record 8 was altered"},
			{`UPDATE audit SET details = '{"name":"bob"}' WHERE session_id = 'default' AND seq = 2`, "Record 2 was altered"},
			{`UPDATE audit SET hash = prev_hash WHERE session_id = 'default' AND seq = 4`, "Record 4 was altered"},
			{`DELETE FROM audit WHERE session_id = 'default' AND seq = 4`, "Record 4 was removed."},
			{`DELETE FROM audit WHERE session_id = 'default' AND seq IN (1, 2)`, "Records 1 to 2 were removed."},
			{`DELETE FROM audit WHERE session_id = 'default' AND seq > 6`, "Records 7 to 8 were removed at the end"},
			{`DELETE FROM audit WHERE session_id = 'default'`, "Records 1 to 8 were removed at the end"},
			{`DELETE FROM audit_heads WHERE session_id = 'default'`, "Record 8 was not part of the chain"},
			{`UPDATE audit SET session_id = 'lab' WHERE session_id = 'default' AND seq = 8`, "Record 8 was removed at the end"},
		} {
			update(t, s, func(tx storage.Tx) error {
				for _, table := range []string{"audit", "audit_heads"} {
					if err := sqlstore.Exec(tx, `CREATE TABLE kept_`+table+` AS SELECT * FROM `+table); err != nil {
						return err
					}
				}
				return sqlstore.Exec(tx, c.statement)
			})
			if problem, _ := verifyAudit(t, s, "default"); !strings.HasPrefix(problem, c.want) {
				t.Errorf("%s: got %q, want %q", c.statement, problem, c.want)
			}
			update(t, s, func(tx storage.Tx) error {
				for _, table := range []string{"audit", "audit_heads"} {
					for _, statement := range []string{`DELETE FROM ` + table, `INSERT INTO ` + table + ` SELECT * FROM kept_` + table, `DROP TABLE kept_` + table} {
						if err := sqlstore.Exec(tx, statement); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
		if problem, n := verifyAudit(t, s, "default"); problem != "" || n != 8 {
			t.Errorf("the chain that was put back has %d records and is reported as broken: %q", n, problem)
		}
	})
}

// Servers append to the same chains at the same time, in transactions that lock sessions, nothing or
// everything, and roll some of them back. No chain has a gap or a fork.
func TestAuditLogOfSeveralServers(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		stores := []*sqlstore.Store{open(t, url), open(t, url)}
		settle(t, stores[0])
		const each = 20
		var all sync.WaitGroup
		appendAll := func(s storage.Store, at storage.At, chains ...shoal.SessionID) {
			for i := range each {
				err := s.Update(context.Background(), at, func(tx storage.Tx) error {
					for _, chain := range chains {
						if err := appendAudit(tx, chain, audit.SessionUpdate); err != nil {
							return err
						}
					}
					if i%5 == 4 {
						return shoal.E("", shoal.Conflict, "not this one")
					}
					return nil
				})
				if err != nil && shoal.KindOf(err) != shoal.Conflict {
					t.Error(err)
				}
			}
		}
		for _, s := range stores {
			all.Go(func() { appendAll(s, storage.In("default"), "default") })
			all.Go(func() { appendAll(s, storage.In("lab"), "lab", "") })
			all.Go(func() { appendAll(s, storage.In("default", "lab"), "default", "lab", "") })
			all.Go(func() { appendAll(s, storage.NoSession, "") })
			all.Go(func() { appendAll(s, storage.Global, "") })
		}
		all.Wait()
		const stored = 2 * each * 4 / 5 // of one goroutine on both servers
		for chain, want := range map[shoal.SessionID]int64{"default": 2 * stored, "lab": 2 * stored, "": 4 * stored} {
			problem, n := verifyAudit(t, stores[1], chain)
			if problem != "" || n != want {
				t.Errorf("the chain of %q has %d records, want %d: %s", chain, n, want, problem)
			}
		}
	})
}

// Each filter selects what it says, in pages, the newest first.
func TestAuditFilters(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		session, ann := shoal.DefaultSession, shoal.EntityID("ann")
		start := shoal.Now()
		for i := range 6 {
			r := audit.Record{SessionID: &session, At: shoal.At(start.Add(time.Minute)), Act: audit.KeyCreate, Decision: audit.Allowed, Target: audit.Target{Kind: "key", ID: fmt.Sprintf("key_%d", i)}, Count: 1}
			r.KeyID = shoal.KeyID(fmt.Sprintf("by_%d", i%2))
			switch i {
			case 1:
				r.Act, r.Decision = audit.CallRefuse, audit.Refused
			case 2:
				r.EntityID = &ann
			case 3:
				r.ActingAs = &ann
			case 4:
				r.SignInID = "ann"
			case 5:
				r.At = start
			}
			updateAt(t, s, storage.In(session), func(tx storage.Tx) error { return errorOf(tx.AppendAudit(r)) })
		}
		later := shoal.At(start.Add(time.Second))
		for name, c := range map[string]struct {
			filter storage.AuditFilter
			want   string
		}{
			"all":                 {storage.AuditFilter{Limit: 9}, "[6 5 4 3 2 1]"},
			"a page":              {storage.AuditFilter{Before: 4, Limit: 2}, "[3 2]"},
			"an entity":           {storage.AuditFilter{By: "ann", Limit: 9}, "[5 4 3]"},
			"a key":               {storage.AuditFilter{By: "by_1", Limit: 9}, "[6 4 2]"},
			"an act":              {storage.AuditFilter{Acts: []audit.Act{audit.CallRefuse}, Limit: 9}, "[2]"},
			"two acts":            {storage.AuditFilter{Acts: []audit.Act{audit.CallRefuse, audit.KeyCreate}, Limit: 3}, "[6 5 4]"},
			"refused":             {storage.AuditFilter{Decision: audit.Refused, Limit: 9}, "[2]"},
			"a target":            {storage.AuditFilter{Target: "key_3", Limit: 9}, "[4]"},
			"since":               {storage.AuditFilter{Since: &later, Limit: 9}, "[5 4 3 2 1]"},
			"until":               {storage.AuditFilter{Until: &later, Limit: 9}, "[6]"},
			"nothing has its id":  {storage.AuditFilter{By: "zoe", Limit: 9}, "[]"},
			"a text that is hard": {storage.AuditFilter{Target: `' OR 1=1 --`, Limit: 9}, "[]"},
		} {
			var got []int64
			err := s.View(t.Context(), func(tx storage.Tx) error {
				found, err := tx.Audit(session, c.filter)
				for _, r := range found {
					got = append(got, r.Seq)
				}
				return err
			})
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%s: got %v, %v; want %s", name, got, err, c.want)
			}
		}
	})
}
