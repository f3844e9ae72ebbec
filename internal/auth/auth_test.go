package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var root = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "root"}

// door is an Authenticator on a hub.
type door struct {
	*auth.Authenticator
	t   *testing.T
	hub *hub.Hub
}

func open(t *testing.T, store storage.Store, o auth.Options) *door {
	t.Helper()
	h := hub.New(hub.Options{Store: store, Bus: localbus.New()})
	if err := h.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Stop)
	return &door{auth.New(h, o), t, h}
}

// createKey creates a key and returns it with its secret.
func (d *door) createKey(n shoal.NewKey) (shoal.Key, string) {
	d.t.Helper()
	key, err := d.CreateKey(context.Background(), root, n, "")
	if err != nil {
		d.t.Fatal(err)
	}
	return key, *key.Secret
}

func (d *door) revoke(id shoal.KeyID) {
	d.t.Helper()
	if err := d.hub.Keys.Revoke(context.Background(), root, id); err != nil {
		d.t.Fatal(err)
	}
}

// request is a call with a key, which may be empty, and more headers in pairs.
func request(secret string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/v1/keys", http.NoBody)
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (d *door) wantKind(err error, want shoal.Kind) {
	d.t.Helper()
	if shoal.KindOf(err) != want {
		d.t.Errorf("the error is %v, want %q", err, want)
	}
}

// A secret is shown in the one answer that makes the key, and no other key has
// it.
func TestMint(t *testing.T) {
	d := open(t, shoaltest.OpenSQLite(t), auth.Options{})
	ctx := context.Background()
	n := shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bot", Name: "laptop"}
	first, err := d.CreateKey(ctx, root, n, "once")
	if err != nil {
		t.Fatal(err)
	}
	if first.Secret == nil || len(*first.Secret) < 40 || *first.EntityID != "bot" || *first.SessionID != shoal.DefaultSession || first.Name != "laptop" {
		t.Errorf("the key is %+v", first)
	}
	again, err := d.CreateKey(ctx, root, n, "once")
	if err != nil || again.Secret != nil || again.ID != first.ID {
		t.Errorf("the same call again answers %+v, %v; want the same key without a secret", again, err)
	}
	n.Name = "phone"
	_, err = d.CreateKey(ctx, root, n, "once")
	d.wantKind(err, shoal.IdempotencyMismatch)
	other, secret := d.createKey(n)
	if secret == *first.Secret || other.ID == first.ID {
		t.Error("two keys are the same")
	}
	if e, err := d.hub.Entities.Get(ctx, root, shoal.DefaultSession, "bot"); err != nil || e.Kind != shoal.Agent {
		t.Errorf("the key's entity is %+v, %v; want a new agent", e, err)
	}
	bot := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "bot"}
	_, err = d.CreateKey(ctx, bot, n, "")
	d.wantKind(err, shoal.Forbidden)
}

// The key alone identifies the caller. It is accepted in one header only.
func TestPrincipal(t *testing.T) {
	d := open(t, shoaltest.OpenSQLite(t), auth.Options{})
	admin, adminSecret := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	service, serviceSecret := d.createKey(shoal.NewKey{Role: shoal.RoleService})
	entity, entitySecret := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bot"})
	revoked, revokedSecret := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	d.revoke(revoked.ID)

	asAdmin := shoal.Principal{KeyID: admin.ID, Role: shoal.RoleAdmin}
	asService := shoal.Principal{KeyID: service.ID, Role: shoal.RoleService, SessionID: shoal.DefaultSession}
	asBot := shoal.Principal{KeyID: entity.ID, Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "bot", SessionRole: shoal.SessionMember}
	asAdminFor := func(id shoal.EntityID) shoal.Principal {
		p := asAdmin
		p.EntityID = id
		return p
	}
	inURL := request("")
	inURL.URL.RawQuery = "key=" + adminSecret + "&access_token=" + adminSecret + "&agent=bot"

	for name, c := range map[string]struct {
		request *http.Request
		want    shoal.Principal
		kind    shoal.Kind
	}{
		"admin":                       {request(adminSecret), asAdmin, ""},
		"service":                     {request(serviceSecret), asService, ""},
		"entity":                      {request(entitySecret), asBot, ""},
		"the scheme in another case":  {request("", "Authorization", "bearer  "+entitySecret), asBot, ""},
		"no key":                      {request(""), shoal.Principal{}, shoal.Unauthenticated},
		"a key in the URL":            {inURL, shoal.Principal{}, shoal.Unauthenticated},
		"an empty key":                {request("", "Authorization", "Bearer "), shoal.Principal{}, shoal.Unauthenticated},
		"no scheme":                   {request("", "Authorization", adminSecret), shoal.Principal{}, shoal.Unauthenticated},
		"another scheme":              {request("", "Authorization", "Basic "+adminSecret), shoal.Principal{}, shoal.Unauthenticated},
		"garbage":                     {request("shoal_garbage"), shoal.Principal{}, shoal.Unauthenticated},
		"a hash instead of a secret":  {request(auth.Hash(adminSecret)), shoal.Principal{}, shoal.Unauthenticated},
		"half a secret":               {request(adminSecret[:20]), shoal.Principal{}, shoal.Unauthenticated},
		"a secret and more":           {request(adminSecret + "x"), shoal.Principal{}, shoal.Unauthenticated},
		"a revoked key":               {request(revokedSecret), shoal.Principal{}, shoal.Unauthenticated},
		"an admin names an actor":     {request(adminSecret, "X-Shoal-Entity", "ann"), asAdminFor("ann"), ""},
		"an admin names nonsense":     {request(adminSecret, "X-Shoal-Entity", "a/b"), shoal.Principal{}, shoal.InvalidArgument},
		"an admin names the system":   {request(adminSecret, "X-Shoal-Entity", "system"), shoal.Principal{}, shoal.InvalidArgument},
		"an entity names itself":      {request(entitySecret, "X-Shoal-Entity", "bot"), asBot, ""},
		"an entity names another":     {request(entitySecret, "X-Shoal-Entity", "ann"), shoal.Principal{}, shoal.IdentityMismatch},
		"a service names an actor":    {request(serviceSecret, "X-Shoal-Entity", "ann"), shoal.Principal{}, shoal.Forbidden},
		"no key, but an actor's name": {request("", "X-Shoal-Entity", "ann"), shoal.Principal{}, shoal.Unauthenticated},
		"a header that is MCP's":      {request(entitySecret, "X-Shoal-Session", "lab"), asBot, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			got, err := d.Principal(c.request)
			d.wantKind(err, c.kind)
			if err == nil && got != c.want {
				t.Errorf("the caller is %+v, want %+v", got, c.want)
			}
			for _, secret := range []string{adminSecret, serviceSecret, entitySecret, revokedSecret, "garbage"} {
				if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), auth.Hash(secret))) {
					t.Errorf("the error reveals a key: %v", err)
				}
			}
		})
	}
}

// Guessing reveals nothing: a key that never existed and one that was revoked are
// refused with the same error.
func TestRefusalsLookAlike(t *testing.T) {
	d := open(t, shoaltest.OpenSQLite(t), auth.Options{})
	key, secret := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	d.revoke(key.ID)
	_, revoked := d.Principal(request(secret))
	_, unknown := d.Principal(request(auth.NewSecret()))
	if revoked == nil || unknown == nil || revoked.Error() != unknown.Error() {
		t.Errorf("a revoked key is refused with %q, an unknown one with %q", revoked, unknown)
	}
}

// A key that was believed a moment ago is refused as soon as it is gone: by
// itself, with its entity, or with its session.
func TestRevokedAtOnce(t *testing.T) {
	d := open(t, shoaltest.OpenSQLite(t), auth.Options{})
	ctx := context.Background()
	if _, err := d.hub.Sessions.Create(ctx, root, shoal.NewSession{ID: "lab"}, ""); err != nil {
		t.Fatal(err)
	}
	entity := func(session shoal.SessionID, id shoal.EntityID) shoal.NewKey {
		return shoal.NewKey{Role: shoal.RoleEntity, SessionID: session, EntityID: id}
	}
	for name, c := range map[string]struct {
		key  shoal.NewKey
		gone func(shoal.KeyID) error
	}{
		"the key is revoked": {
			entity(shoal.DefaultSession, "bot"),
			func(id shoal.KeyID) error { return d.hub.Keys.Revoke(ctx, root, id) },
		},
		"its entity is deleted": {
			entity(shoal.DefaultSession, "cat"),
			func(shoal.KeyID) error { return d.hub.Entities.Delete(ctx, root, shoal.DefaultSession, "cat") },
		},
		"its session is deleted": {
			entity("lab", "bot"),
			func(shoal.KeyID) error { return d.hub.Sessions.Delete(ctx, root, "lab") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			key, secret := d.createKey(c.key)
			for range 3 {
				if _, err := d.Principal(request(secret)); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.gone(key.ID); err != nil {
				t.Fatal(err)
			}
			_, err := d.Principal(request(secret))
			d.wantKind(err, shoal.Unauthenticated)
		})
	}
}

// A key that is revoked while it is looked up is not remembered as one that
// works.
func TestRevokedWhileLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{Store: shoaltest.OpenSQLite(t)}
		d := open(t, store, auth.Options{})
		key, secret := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
		store.hold = make(chan struct{})
		var first sync.WaitGroup
		first.Go(func() {
			if _, err := d.Principal(request(secret)); err != nil {
				t.Errorf("looked up before it was revoked: %v", err)
			}
		})
		synctest.Wait()
		d.revoke(key.ID)
		close(store.hold)
		first.Wait()
		_, err := d.Principal(request(secret))
		d.wantKind(err, shoal.Unauthenticated)
	})
}

// slowStore delays the results of reads.
type slowStore struct {
	storage.Store
	hold chan struct{} // nil for a quick one
}

// View implements [hub.Store].
func (s *slowStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	err := s.Store.View(ctx, fn)
	if s.hold != nil {
		<-s.hold
	}
	return err
}

// What another server of the same database revokes is refused here within two
// seconds.
func TestRevokedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := shoaltest.OpenSQLite(t)
		here, there := open(t, store, auth.Options{}), open(t, store, auth.Options{})
		key, secret := here.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
		if _, err := here.Principal(request(secret)); err != nil {
			t.Fatal(err)
		}
		there.revoke(key.ID)
		<-time.After(2 * time.Second)
		_, err := here.Principal(request(secret))
		here.wantKind(err, shoal.Unauthenticated)
	})
}

// An expiry holds to the moment, also for a key that was believed just before.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, shoaltest.OpenSQLite(t), auth.Options{})
		at := shoal.At(time.Now().Add(time.Hour))
		_, secret := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin, ExpiresAt: &at})
		<-time.After(time.Hour - time.Millisecond)
		if _, err := d.Principal(request(secret)); err != nil {
			t.Errorf("a millisecond before its end: %v", err)
		}
		<-time.After(time.Millisecond)
		_, err := d.Principal(request(secret))
		d.wantKind(err, shoal.Unauthenticated)
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error reveals the key: %v", err)
		}
		_, err = d.CreateKey(context.Background(), root, shoal.NewKey{Role: shoal.RoleAdmin, ExpiresAt: &at}, "")
		d.wantKind(err, shoal.InvalidArgument)
	})
}

// When a key was used last is kept.
func TestLastUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, shoaltest.OpenSQLite(t), auth.Options{})
		key, secret := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
		<-time.After(time.Hour)
		used := shoal.Now()
		if _, err := d.Principal(request(secret)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		all, err := d.hub.Keys.List(context.Background(), root, "", shoal.MaxPage)
		if err != nil || len(all) != 1 || all[0].ID != key.ID || all[0].LastUsedAt == nil || *all[0].LastUsedAt != used {
			t.Errorf("the keys are %+v, %v; want one that was used at %v", all, err, used)
		}
	})
}

// The race detector watches this: keys come, are used and go. None that is gone
// is ever believed again.
func TestKeysComeAndGo(t *testing.T) {
	d := open(t, shoaltest.OpenSQLite(t), auth.Options{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			key, err := d.CreateKey(context.Background(), root, shoal.NewKey{Role: shoal.RoleAdmin}, "")
			if err != nil {
				t.Error(err)
				return
			}
			var users sync.WaitGroup
			for range 4 {
				users.Go(func() {
					if _, err := d.Principal(request(*key.Secret)); err != nil && !errors.Is(err, shoal.Unauthenticated) {
						t.Error(err)
					}
				})
			}
			if err := d.hub.Keys.Revoke(context.Background(), root, key.ID); err != nil {
				t.Error(err)
			}
			if _, err := d.Principal(request(*key.Secret)); !errors.Is(err, shoal.Unauthenticated) {
				t.Errorf("right after it was revoked: %v", err)
			}
			users.Wait()
			if _, err := d.Principal(request(*key.Secret)); !errors.Is(err, shoal.Unauthenticated) {
				t.Errorf("when its last users are gone: %v", err)
			}
		})
	}
	all.Wait()
}
