package audit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
)

// chain returns n records, the oldest first, and their head.
func chain(t *testing.T, n int) (records []audit.Record, head audit.Head) {
	t.Helper()
	session := shoal.DefaultSession
	for i := range n {
		r := audit.Record{
			SessionID: &session, At: shoal.At(time.UnixMicro(int64(i + 1))), Act: audit.KeyCreate, Decision: audit.Allowed,
			Target: audit.Target{Kind: "key", ID: "key_1"}, Details: map[string]string{"role": "entity", "of": "<ann> & bob"}, Count: 1,
		}
		r.By(shoal.Principal{KeyID: "root", Role: shoal.RoleAdmin})
		var err error
		if head, err = r.Link(head); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records, head
}

// verify checks a chain and returns its first problem, or "".
func verify(records []audit.Record, head, noted audit.Head) string {
	v := audit.NewVerifier(head, noted)
	for i := len(records) - 1; i >= 0; i-- {
		v.Next(records[i])
	}
	first, _, _ := v.End()
	if first == nil {
		return ""
	}
	return first.String()
}

func without(records []audit.Record, from, to int) []audit.Record {
	return append(append([]audit.Record{}, records[:from]...), records[to:]...)
}

func TestVerifierNamesTheFirstBrokenRecord(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(records []audit.Record, head audit.Head) ([]audit.Record, audit.Head)
		want   string
	}{
		"nothing": {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) { return r, h }, ""},
		"a field": {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) {
			r[3].Decision = audit.Refused
			return r, h
		}, "Record 4 was altered"},
		"a detail": {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) {
			r[3].Details = map[string]string{"role": "admin", "of": "<ann> & bob"}
			return r, h
		}, "Record 4 was altered"},
		"the hash before": {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) {
			r[3].PrevHash = r[1].Hash
			return r, h
		}, "Record 4 was altered"},
		"a record with a new hash": {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) {
			r[3].Decision = audit.Refused
			if _, err := r[3].Link(audit.Head{Seq: 3, Hash: r[2].Hash}); err != nil {
				panic(err)
			}
			return r, h
		}, "Record 4 was replaced"},
		"two records": {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) {
			r[2].RequestID, r[7].RequestID = "x", "x"
			return r, h
		}, "Record 3 was altered"},
		"removed in the middle": {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) { return without(r, 3, 5), h }, "Records 4 to 5 were removed"},
		"removed at the start":  {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) { return r[2:], h }, "Records 1 to 2 were removed"},
		"removed at the end":    {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) { return r[:8], h }, "Records 9 to 10 were removed at the end"},
		"all removed":           {func(_ []audit.Record, h audit.Head) ([]audit.Record, audit.Head) { return nil, h }, "Records 1 to 10 were removed at the end"},
		"the head is gone":      {func(r []audit.Record, _ audit.Head) ([]audit.Record, audit.Head) { return r, audit.Head{} }, "Record 10 was not part of the chain"},
		"the head went back": {func(r []audit.Record, _ audit.Head) ([]audit.Record, audit.Head) {
			return r, audit.Head{Seq: 9, Hash: r[8].Hash}
		}, "Record 10 was not part of the chain"},
		"of another session": {func(r []audit.Record, h audit.Head) ([]audit.Record, audit.Head) {
			other := shoal.SessionID("lab")
			r[4].SessionID = &other
			return r, h
		}, "Record 5 was altered"},
	} {
		t.Run(name, func(t *testing.T) {
			records, head := c.damage(chain(t, 10))
			got := verify(records, head, audit.Head{})
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Who computes a new chain is found only by a head that was noted elsewhere.
func TestNotedHead(t *testing.T) {
	records, head := chain(t, 10)
	noted, err := audit.ParseHead(audit.Head{Seq: 5, Hash: records[4].Hash}.String())
	if err != nil {
		t.Fatal(err)
	}
	if got := verify(records, head, noted); got != "" {
		t.Errorf("the chain has grown since, and is reported as broken: %s", got)
	}
	forged := append([]audit.Record{}, records[:4]...)
	last := audit.Head{Seq: 4, Hash: records[3].Hash}
	for _, r := range records[4:] {
		r.RequestID = "x"
		if last, err = r.Link(last); err != nil {
			t.Fatal(err)
		}
		forged = append(forged, r)
	}
	if got := verify(forged, last, audit.Head{}); got != "" {
		t.Errorf("a new chain is consistent, but is reported as broken: %s", got)
	}
	if got := verify(forged, last, noted); !strings.HasPrefix(got, "Record 5 was replaced") {
		t.Errorf("got %q", got)
	}
	if got := verify(records[:4], audit.Head{Seq: 4, Hash: records[3].Hash}, noted); !strings.HasPrefix(got, "Record 5 was removed at the end") {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{"", "5", "5:", "0:" + head.Hash, "x:" + head.Hash, "5:zz"} {
		if _, err := audit.ParseHead(text); shoal.KindOf(err) != shoal.InvalidArgument {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An admin who acts as somebody is recorded as themselves, and the entity apart from it.
func TestBy(t *testing.T) {
	var r audit.Record
	r.By(shoal.Principal{KeyID: "root", Role: shoal.RoleAdmin, EntityID: "ann"})
	if r.Role != "admin" || r.KeyID != "root" || r.EntityID != nil || r.ActingAs == nil || *r.ActingAs != "ann" {
		t.Errorf("an admin as ann: %+v", r)
	}
	r.By(shoal.Principal{KeyID: "key_1", Role: shoal.RoleEntity, SessionID: "lab", EntityID: "bob"})
	if r.Role != "entity" || r.EntityID == nil || *r.EntityID != "bob" || r.ActingAs != nil {
		t.Errorf("bob: %+v", r)
	}
	r.By(shoal.Principal{})
	if r.Role != audit.RoleServer || r.EntityID != nil || r.ActingAs != nil || r.KeyID != "" {
		t.Errorf("the server: %+v", r)
	}
}
