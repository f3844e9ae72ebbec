package hub_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// audited returns the records of a chain, the oldest first, one line each, and checks the chain.
func audited(t *testing.T, h *hub.Hub, session shoal.SessionID) (lines []string) {
	t.Helper()
	var records []audit.Record
	var head audit.Head
	var err error
	if session == "" {
		records, head, err = h.Audits.ListServer(t.Context(), root, storage.AuditFilter{Limit: 1000})
	} else {
		records, head, err = h.Audits.List(t.Context(), root, session, storage.AuditFilter{Limit: 1000})
	}
	must(t, err)
	v := audit.NewVerifier(head, audit.Head{})
	for _, r := range records {
		v.Next(r)
		who := string(r.Role)
		if r.EntityID != nil {
			who += ":" + string(*r.EntityID)
		}
		if r.ActingAs != nil {
			who += " as " + string(*r.ActingAs)
		}
		line := fmt.Sprintf("%s %s %s:%s", who, r.Act, r.Target.Kind, r.Target.ID)
		for _, name := range []string{"entity", "sessionRole", "sessionRoleBefore", "members", "code"} {
			if v, found := r.Details[name]; found {
				line += " " + name + "=" + v
			}
		}
		if r.Count != 1 {
			line += fmt.Sprintf(" ×%d", r.Count)
		}
		lines = append(lines, line)
	}
	if first, _, _ := v.End(); first != nil {
		t.Errorf("the chain of %q: %s", session, first)
	}
	slices.Reverse(lines)
	return lines
}

func wantLines(t *testing.T, got []string, want string) {
	t.Helper()
	if got := strings.Join(got, "\n"); got != strings.TrimSpace(want) {
		t.Errorf("recorded was\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}

// Every act is recorded with who did it, in the chain of its session; posts are not. An admin who acts
// as somebody is recorded as an admin.
func TestActsAreRecorded(t *testing.T) {
	ctx := t.Context()
	h, _ := openHub(t, sqlite(t))
	must(t, h.Start(ctx))
	asAnn := root
	asAnn.EntityID = "ann"
	_, err := h.Sessions.Create(ctx, root, shoal.NewSession{ID: "lab"}, "")
	must(t, err)
	for _, id := range []shoal.EntityID{"ann", "bob"} {
		_, err = h.Entities.Create(ctx, root, "lab", shoal.NewEntity{ID: id, Kind: shoal.Human}, "")
		must(t, err)
	}
	key, _, err := h.Keys.Create(ctx, asAnn, shoal.NewKey{Role: shoal.RoleEntity, SessionID: "lab", EntityID: "bob"}, "hash", "once")
	must(t, err)
	_, replayed, err := h.Keys.Create(ctx, asAnn, shoal.NewKey{Role: shoal.RoleEntity, SessionID: "lab", EntityID: "bob"}, "hash", "once")
	if must(t, err); !replayed {
		t.Fatal("the key was created again")
	}
	bob := shoal.Principal{KeyID: key.ID, Role: shoal.RoleEntity, SessionID: "lab", EntityID: "bob"}
	_, err = h.Spaces.Create(ctx, asAnn, "lab", shoal.NewSpace{ID: "room", Name: "Room"}, "")
	must(t, err)
	_, err = h.Spaces.Join(ctx, asAnn, "lab", "room", "bob")
	must(t, err)
	_, err = h.Spaces.Join(ctx, asAnn, "lab", "room", "bob") // changes nothing
	must(t, err)
	_, err = h.Messages.Post(ctx, bob, "lab", "room", shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}}, "")
	must(t, err)
	owner := shoal.SessionOwner
	_, err = h.Entities.Update(ctx, root, "lab", "bob", shoal.EntityChange{SessionRole: &owner})
	must(t, err)
	name := "Bob"
	_, err = h.Entities.Update(ctx, root, "lab", "bob", shoal.EntityChange{Name: &name}) // not about rights
	must(t, err)
	_, err = h.Spaces.Leave(ctx, bob, "lab", "room", "bob")
	must(t, err)
	_, err = h.Spaces.Close(ctx, asAnn, "lab", "room", "done")
	must(t, err)
	must(t, h.Spaces.Delete(ctx, root, "lab", "room"))
	signIn, err := h.Keys.SignIn(ctx, key, "sign-in", "", shoal.At(time.Now().Add(time.Hour)))
	must(t, err)
	must(t, h.Keys.SignOut(ctx, signIn.ID))
	exported(t, h, "lab")
	must(t, h.Keys.Revoke(ctx, root, key.ID))
	must(t, h.Entities.Delete(ctx, root, "lab", "bob"))
	wantLines(t, audited(t, h, "lab"), fmt.Sprintf(`
admin entity.create entity:ann sessionRole=member
admin entity.create entity:bob sessionRole=member
admin as ann key.create key:%[1]s entity=bob
admin as ann space.create space:room members=1
admin as ann member.add space:room entity=bob
admin entity.update entity:bob sessionRole=owner sessionRoleBefore=member
entity:bob member.remove space:room entity=bob
admin as ann space.close space:room
admin space.delete space:room
entity:bob signin.create key:%[2]s
entity:bob signin.end key:%[2]s entity=bob
admin session.export session:lab
admin key.revoke key:%[1]s entity=bob
admin entity.delete entity:bob`, key.ID, signIn.ID))

	must(t, h.Sessions.Delete(ctx, root, "lab"))
	wantLines(t, audited(t, h, ""), "admin session.create session:lab\nadmin session.delete session:lab")
	if n := len(audited(t, h, "lab")); n != 14 {
		t.Errorf("the log of the deleted session has %d records", n)
	}
	if _, _, err := h.Audits.List(ctx, root, "nowhere", storage.AuditFilter{Limit: 1}); !errors.Is(err, shoal.NotFound) {
		t.Errorf("of a session that never was: %v", err)
	}
}

// An act that fails leaves no record, and so does one whose transaction fails after it was recorded.
func TestFailedActsAreNotRecorded(t *testing.T) {
	h, _ := openHub(t, sqlite(t))
	must(t, h.Start(t.Context()))
	for range 2 {
		if _, err := h.Entities.Create(t.Context(), root, shoal.DefaultSession, shoal.NewEntity{ID: "ann"}, ""); err != nil && !errors.Is(err, shoal.AlreadyExists) {
			t.Fatal(err)
		}
	}
	if _, err := h.Sessions.Close(t.Context(), root, shoal.DefaultSession); !errors.Is(err, shoal.Conflict) {
		t.Fatal(err)
	}
	wantLines(t, audited(t, h, shoal.DefaultSession), "admin entity.create entity:ann sessionRole=member")
}

// forbidden is the error of a caller without the right.
var forbidden = shoal.E("", shoal.Forbidden, "A secret text.")

// auditCopy is a file that may fail.
type auditCopy struct {
	err     error
	records []audit.Record
}

// Write implements [core.AuditCopy].
func (c *auditCopy) Write(records []audit.Record) { c.records = append(c.records, records...) }

// Err implements [core.AuditCopy].
func (c *auditCopy) Err() error { return c.err }

// A server that must record refuses what it cannot record, and works on as before when it can.
func TestRequiredAuditLog(t *testing.T) {
	for _, required := range []bool{true, false} {
		into := &auditCopy{}
		h := hub.New(hub.Options{Store: shoaltest.OpenSQLite(t), Bus: localbus.New(), Audit: core.AuditOptions{Required: required, Copy: into}})
		must(t, h.Start(t.Context()))
		t.Cleanup(h.Stop)
		create := func(id shoal.EntityID) error {
			_, err := h.Entities.Create(t.Context(), root, shoal.DefaultSession, shoal.NewEntity{ID: id}, "")
			return err
		}
		must(t, create("ann"))
		into.err = errors.New("no space left on device")
		err := create("bob")
		if required != errors.Is(err, shoal.Busy) || !required && err != nil {
			t.Errorf("required %v: creating an entity that cannot be recorded: %v", required, err)
		}
		if refused := new(shoal.Error); errors.As(err, &refused) && strings.Contains(refused.Msg, "no space") {
			t.Errorf("the error reveals what is internal: %v", err)
		}
		if _, err := h.Entities.Get(t.Context(), root, shoal.DefaultSession, "bob"); required != errors.Is(err, shoal.NotFound) {
			t.Errorf("required %v: the entity: %v", required, err)
		}
		if err := h.Archive.Export(t.Context(), root, shoal.DefaultSession, "test", &strings.Builder{}); required != errors.Is(err, shoal.Busy) {
			t.Errorf("required %v: an export that cannot be recorded: %v", required, err)
		}
		h.Audits.Refuse(t.Context(), root, "GET /v1/keys", forbidden)
		h.Audits.Flush()
		if got := audited(t, h, ""); len(got) != 1 {
			t.Errorf("required %v: of a refusal that cannot be copied, recorded is %v", required, got)
		}
		into.err = nil
		must(t, create("zoe"))
		if last := into.records[len(into.records)-1]; last.Target.ID != "zoe" || last.Hash == "" {
			t.Errorf("the copy ends with %+v", last)
		}
	}
}

// Nothing is recorded when the log is off.
func TestAuditLogThatIsOff(t *testing.T) {
	h := hub.New(hub.Options{Store: shoaltest.OpenSQLite(t), Bus: localbus.New(), Audit: core.AuditOptions{Off: true}})
	must(t, h.Start(t.Context()))
	t.Cleanup(h.Stop)
	_, err := h.Entities.Create(t.Context(), root, shoal.DefaultSession, shoal.NewEntity{ID: "ann"}, "")
	must(t, err)
	h.Audits.Refuse(t.Context(), shoal.Principal{}, "GET /v1/keys", shoal.E("", shoal.Unauthenticated, "no"))
	h.Audits.Flush()
	if got := append(audited(t, h, shoal.DefaultSession), audited(t, h, "")...); len(got) > 0 {
		t.Errorf("recorded was %v", got)
	}
}

// Refusals are counted and recorded together. A caller that is refused a million times fills neither the
// memory nor the log, and does not hide the refusals of others.
func TestRefusalsAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Options{Store: shoaltest.OpenSQLite(t), Bus: localbus.New()})
		must(t, h.Start(t.Context()))
		bob := shoal.Principal{KeyID: "key_1", Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "bob"}
		for range 5 {
			h.Audits.Refuse(t.Context(), bob, "POST /v1/keys", forbidden)
		}
		h.Audits.Refuse(t.Context(), bob, "GET /v1/nodes", shoal.E("", shoal.NotFound, "Not recorded: it may not exist."))
		h.Audits.Refuse(t.Context(), shoal.Principal{}, "GET /v1/keys", shoal.E("", shoal.Unauthenticated, "no"))
		<-time.After(11 * time.Second)
		wantLines(t, audited(t, h, shoal.DefaultSession), "entity:bob call.refuse call:POST /v1/keys code=forbidden ×5")
		wantLines(t, audited(t, h, ""), "nobody call.refuse call:GET /v1/keys code=unauthenticated")

		for hour := range 3 {
			for i := range 5000 {
				h.Audits.Refuse(t.Context(), shoal.Principal{KeyID: shoal.KeyID(fmt.Sprintf("key_%d", i%1500))}, fmt.Sprintf("call %d.%d", hour, i), forbidden)
			}
			<-time.After(time.Hour)
		}
		h.Audits.Refuse(t.Context(), bob, "POST /v1/keys", forbidden)
		h.Stop()
		var stored, counted int64
		records, _, err := h.Audits.ListServer(t.Context(), root, storage.AuditFilter{Limit: 10_000})
		must(t, err)
		for _, r := range records {
			stored++
			counted += r.Count
		}
		if counted != 1+3*5000 || stored > 3*500+10 {
			t.Errorf("%d records count %d refusals", stored, counted)
		}
		if got := audited(t, h, shoal.DefaultSession); len(got) != 2 {
			t.Errorf("the refusals in the session are %v", got)
		}
	})
}

// Owners, admins and auditors of a session read its log; others do not, and nobody reads that of another.
func TestWhoReadsTheAuditLog(t *testing.T) {
	h, _ := openHub(t, sqlite(t))
	must(t, h.Start(t.Context()))
	_, err := h.Sessions.Create(t.Context(), root, shoal.NewSession{ID: "lab"}, "")
	must(t, err)
	for role, want := range map[shoal.SessionRole]shoal.Kind{shoal.SessionOwner: "", shoal.SessionAdmin: "", shoal.SessionAuditor: "", shoal.SessionMember: shoal.Forbidden, shoal.SessionGuest: shoal.Forbidden} {
		id := shoal.EntityID("the-" + role)
		_, err := h.Entities.Create(t.Context(), root, "lab", shoal.NewEntity{ID: id, Kind: shoal.Human, SessionRole: role}, "")
		must(t, err)
		caller := shoal.Principal{KeyID: "key_1", Role: shoal.RoleEntity, SessionID: "lab", EntityID: id, SessionRole: role}
		if _, _, err := h.Audits.List(t.Context(), caller, "lab", storage.AuditFilter{Limit: 1}); err != nil && shoal.KindOf(err) != want || err == nil && want != "" {
			t.Errorf("%s: %v, want %q", role, err, want)
		}
		if _, _, err := h.Audits.List(t.Context(), caller, shoal.DefaultSession, storage.AuditFilter{Limit: 1}); !errors.Is(err, shoal.NotFound) {
			t.Errorf("%s in another session: %v", role, err)
		}
		if _, _, err := h.Audits.ListServer(t.Context(), caller, storage.AuditFilter{Limit: 1}); !errors.Is(err, shoal.Forbidden) {
			t.Errorf("%s on the server: %v", role, err)
		}
	}
}
