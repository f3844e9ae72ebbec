package console_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
)

const noInvitation = "This invitation does not work any more"

// invite creates an invitation and returns it with its code.
func (w *world) invite(caller shoal.Principal, n shoal.NewInvite) (shoal.Invite, string) {
	w.Helper()
	made, err := w.auth.Invite(context.Background(), caller, shoal.DefaultSession, "http://"+here, n, "")
	if err != nil {
		w.Fatal(err)
	}
	_, code, found := strings.Cut(*made.URL, "http://"+here+"/join#invite=")
	if !found {
		w.Fatalf("the link is %s", *made.URL)
	}
	return made, code
}

func joining(code, name string) string {
	text, _ := json.Marshal(shoal.Joining{Code: code, Name: name}) // it has only strings
	return string(text)
}

// A person who opens an invitation chooses a name and is in: a human with the role and the spaces
// of the invitation, signed in, with a key for later. The link works once.
func TestAPersonJoins(t *testing.T) {
	w := newWorld(t, false)
	ctx := t.Context()
	space, err := w.hub.Spaces.Create(ctx, shoal.Principal{Role: shoal.RoleAdmin, EntityID: w.human("boss")}, shoal.DefaultSession, shoal.NewSpace{ID: "shop", Name: "Shop"}, "")
	if err != nil {
		t.Fatal(err)
	}
	_, code := w.invite(root, shoal.NewInvite{Name: "Ann", SessionRole: shoal.SessionGuest, Spaces: []shoal.SpaceID{space.ID}})
	b := w.browser()
	in := b.does("POST", "/console/join", joining(code, "Zoë Müller-Lüdenscheidt")).wants(201, `"entityId":"zoe-muller-ludenscheidt"`)
	if b.is() != "entity zoe-muller-ludenscheidt" {
		t.Errorf("the browser is %q", b.is())
	}
	var said struct{ Key string }
	if err := json.Unmarshal([]byte(in.body), &said); err != nil || said.Key == "" {
		t.Fatalf("the answer has the key %q, %v", said.Key, err)
	}
	e, err := w.hub.Entities.Get(ctx, root, shoal.DefaultSession, "zoe-muller-ludenscheidt")
	if err != nil || e.Kind != shoal.Human || e.Name != "Zoë Müller-Lüdenscheidt" || e.SessionRole != shoal.SessionGuest || e.OwnerID != nil {
		t.Errorf("the person is %+v, %v", e, err)
	}
	members, err := w.hub.Spaces.Members(ctx, root, shoal.DefaultSession, space.ID, spaces.MemberFilter{Limit: 10})
	if err != nil || len(members) != 2 || members[1].EntityID != e.ID {
		t.Errorf("the members are %+v, %v", members, err)
	}
	// The key signs another browser in, and revoking it ends both sign-ins.
	other := w.browser()
	other.does("POST", "/console/login", `{"key": "`+said.Key+`"}`).wants(200, `"keyId":"`)
	if other.is() != b.is() {
		t.Errorf("the key makes another browser %q", other.is())
	}
	thief := w.browser()
	thief.does("POST", "/console/join", joining(code, "Mallory")).wants(401, noInvitation)
	if thief.is() != "unauthenticated" || len(thief.kept) != 0 {
		t.Errorf("a used link makes the browser %q", thief.is())
	}
}

// human creates a person.
func (w *world) human(id shoal.EntityID) shoal.EntityID {
	w.Helper()
	if _, err := w.hub.Entities.Create(context.Background(), root, shoal.DefaultSession, shoal.NewEntity{ID: id, Kind: shoal.Human}, ""); err != nil {
		w.Fatal(err)
	}
	return id
}

// However many browsers accept an invitation at once, one person joins.
func TestAnInvitationIsAcceptedOnce(t *testing.T) {
	w := newWorld(t, false)
	_, code := w.invite(root, shoal.NewInvite{})
	var browsers sync.WaitGroup
	var in atomic.Int64
	for range 8 {
		browsers.Go(func() {
			if got := w.browser().does("POST", "/console/join", joining(code, "Ann")); got.status == 201 {
				in.Add(1)
			} else {
				got.wants(401, noInvitation)
			}
		})
	}
	browsers.Wait()
	people, err := w.hub.Entities.List(t.Context(), root, shoal.DefaultSession, "", 10)
	if err != nil || in.Load() != 1 || len(people) != 1 {
		t.Errorf("%d browsers joined, and there are %d people, %v", in.Load(), len(people), err)
	}
}

// An invitation ends when its time is over, when it is withdrawn, and with the rights of who made
// it; a name that is refused leaves it as it was.
func TestInvitationsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false)
		refuses := func(why, code string) {
			t.Helper()
			if got := w.browser().does("POST", "/console/join", joining(code, "Ann")); got.status != 401 || !strings.Contains(got.body, noInvitation) {
				t.Errorf("%s: the answer is %d %s", why, got.status, got.body)
			}
		}
		_, old := w.invite(root, shoal.NewInvite{})
		withdrawn, gone := w.invite(root, shoal.NewInvite{})
		if err := w.hub.Invites.Delete(t.Context(), root, shoal.DefaultSession, withdrawn.ID); err != nil {
			t.Fatal(err)
		}
		refuses("withdrawn", gone)
		for _, code := range []string{"nonsense", old[:20], strings.ToLower(old)} {
			refuses("no code", code)
		}

		owner := func(id shoal.EntityID) shoal.Principal {
			w.human(id)
			role := shoal.SessionOwner
			if _, err := w.hub.Entities.Update(t.Context(), root, shoal.DefaultSession, id, shoal.EntityChange{SessionRole: &role}); err != nil {
				t.Fatal(err)
			}
			return shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id, SessionRole: shoal.SessionOwner}
		}
		_, ofDemoted := w.invite(owner("demoted"), shoal.NewInvite{SessionRole: shoal.SessionOwner})
		_, ofDeleted := w.invite(owner("deleted"), shoal.NewInvite{SessionRole: shoal.SessionOwner})
		_, ofOther := w.invite(owner("other"), shoal.NewInvite{})
		member := shoal.SessionMember
		if _, err := w.hub.Entities.Update(t.Context(), root, shoal.DefaultSession, "demoted", shoal.EntityChange{SessionRole: &member}); err != nil {
			t.Fatal(err)
		}
		if err := w.hub.Entities.Delete(t.Context(), root, shoal.DefaultSession, "deleted"); err != nil {
			t.Fatal(err)
		}
		refuses("of a former owner", ofDemoted)
		refuses("of an owner that was deleted", ofDeleted)
		w.browser().does("POST", "/console/join", joining(ofOther, "Oz")).wants(201, `"oz"`)

		b := w.browser()
		for _, name := range []string{"", " ", "a\u202eb", "a\nb", strings.Repeat("n", 300), "system"} {
			b.does("POST", "/console/join", joining(old, name)).wants(422, "name")
		}
		<-time.After(shoal.InviteLife - time.Millisecond)
		b.does("POST", "/console/join", joining(old, "Ann")).wants(201, `"ann"`)
		_, late := w.invite(root, shoal.NewInvite{})
		<-time.After(shoal.InviteLife)
		refuses("expired", late)
	})
}

// Two people of one name get different ids, and a name without letters gets one, too.
func TestIDsOfPeople(t *testing.T) {
	w := newWorld(t, false)
	for _, c := range []struct{ name, id string }{
		{"Ann Lee", "ann-lee"}, {"ann lee", "ann-lee-2"}, {"Ann  Lee!", "ann-lee-3"}, {"Ōé 7", "oe-7"}, {"王小明", "person"}, {"😀", "person-2"}, {"O’Brien", "obrien"},
	} {
		_, code := w.invite(root, shoal.NewInvite{})
		w.browser().does("POST", "/console/join", joining(code, c.name)).wants(201, `"entityId":"`+c.id+`"`)
	}
}

// What cannot be meant is refused and signs nobody in, also from another origin.
func TestJoinRefuses(t *testing.T) {
	w := newWorld(t, false)
	_, code := w.invite(root, shoal.NewInvite{})
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"nothing":           {"", nil, 422},
		"an empty object":   {`{}`, nil, 422},
		"something unknown": {`{"code": "` + code + `", "name": "Ann", "sessionRole": "owner"}`, nil, 422},
		"a foreign page":    {joining(code, "Ann"), []string{"Origin", "https://evil.example"}, 403},
		"a form":            {"code=" + code, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
	} {
		w.T = t
		b := w.browser()
		if got := b.does("POST", "/console/join", c.body, c.header...); got.status != c.status || len(b.kept) != 0 {
			t.Errorf("%s: the answer is %d %s, and the browser keeps %v", name, got.status, got.body, b.kept)
		}
	}
	w.browser().does("POST", "/console/join", joining(code, "Ann")).wants(201, "ann")
}

// No code and no key of a person is in a log, and none is stored.
func TestLogsHoldNoInvitation(t *testing.T) {
	w := newWorld(t, false)
	made, code := w.invite(root, shoal.NewInvite{})
	_, unused := w.invite(root, shoal.NewInvite{})
	var said struct{ Key, SignIn string }
	in := w.browser().does("POST", "/console/join", joining(code, "Ann")).wants(201, "ann")
	if err := json.Unmarshal([]byte(in.body), &said); err != nil {
		t.Fatal(err)
	}
	w.browser().does("POST", "/console/join", joining(code, "Ann")).wants(401, "")
	log := w.log.String()
	if !strings.Contains(log, string(made.ID)) || !strings.Contains(log, "entity=ann") {
		t.Errorf("the log does not say who joined:\n%s", log)
	}
	listed, err := w.hub.Invites.List(t.Context(), root, shoal.DefaultSession, "", 10)
	if err != nil || len(listed) != 1 || listed[0].URL != nil {
		t.Errorf("the list is %+v, %v", listed, err)
	}
	for _, secret := range []string{code, unused, said.Key, said.SignIn} {
		if secret == "" || strings.Contains(log, secret) {
			t.Errorf("the log holds %q:\n%s", secret, log)
		}
	}
}

// A space that was closed since an invitation does not keep a person out of the session.
func TestJoinWithoutItsSpace(t *testing.T) {
	w := newWorld(t, false)
	boss := shoal.Principal{Role: shoal.RoleAdmin, EntityID: w.human("boss")}
	for _, id := range []shoal.SpaceID{"shut", "kept"} {
		if _, err := w.hub.Spaces.Create(t.Context(), boss, shoal.DefaultSession, shoal.NewSpace{ID: id, Name: string(id)}, ""); err != nil {
			t.Fatal(err)
		}
	}
	_, code := w.invite(boss, shoal.NewInvite{Spaces: []shoal.SpaceID{"shut", "kept"}})
	if _, err := w.hub.Spaces.Close(t.Context(), boss, shoal.DefaultSession, "shut", "Done."); err != nil {
		t.Fatal(err)
	}
	w.browser().does("POST", "/console/join", joining(code, "Ann")).wants(201, "ann")
	for space, want := range map[shoal.SpaceID]int{"shut": 1, "kept": 2} {
		if members, err := w.hub.Spaces.Members(t.Context(), root, shoal.DefaultSession, space, spaces.MemberFilter{Limit: 10}); err != nil || len(members) != want {
			t.Errorf("%s has %d members, %v; want %d", space, len(members), err, want)
		}
	}
	if _, err := w.auth.Invite(t.Context(), boss, shoal.DefaultSession, "http://"+here, shoal.NewInvite{Spaces: []shoal.SpaceID{"nowhere"}}, ""); shoal.KindOf(err) != shoal.NotFound {
		t.Errorf("an invitation to a space that does not exist: %v", err)
	}
}
