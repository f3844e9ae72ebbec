package auth_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// at gives a request another query.
func at(r *http.Request, query string) *http.Request {
	r.URL.Path, r.URL.RawQuery = "/mcp", query
	return r
}

// On MCP the session comes with the caller: an entity's is its key's, an admin
// names one or is in the default one.
func TestMCP(t *testing.T) {
	d := open(t, shoaltest.OpenSQLite(t), auth.Options{})
	_, admin := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	_, entity := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bot"})
	for name, c := range map[string]struct {
		request *http.Request
		session shoal.SessionID
		entity  shoal.EntityID
		kind    shoal.Kind
	}{
		"an entity":                       {request(entity), "default", "bot", ""},
		"an entity names its session":     {request(entity, "X-Shoal-Session", "default"), "default", "bot", ""},
		"an entity names another session": {request(entity, "X-Shoal-Session", "lab"), "", "", shoal.NotFound},
		"an entity names another":         {request(entity, "X-Shoal-Entity", "ann"), "", "", shoal.IdentityMismatch},
		"an admin":                        {request(admin), "default", "", ""},
		"an admin names both":             {request(admin, "X-Shoal-Entity", "ann", "X-Shoal-Session", "lab"), "lab", "ann", ""},
		"the URL names nobody":            {at(request(admin), "agent=ann&session=lab"), "default", "", ""},
		"the URL is not a key":            {at(request(""), "agent=ann"), "", "", shoal.Unauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			caller, session, err := d.MCP(c.request)
			d.wantKind(err, c.kind)
			if err == nil && (session != c.session || caller.EntityID != c.entity) {
				t.Errorf("the caller is %q in %q, want %q in %q", caller.EntityID, session, c.entity, c.session)
			}
		})
	}
	e, err := d.hub.Entities.Get(context.Background(), root, shoal.DefaultSession, "bot")
	if err != nil || e.State != shoal.Connected {
		t.Errorf("after its calls the entity is %s, %v", e.State, err)
	}
}

// If the server requires no keys, every caller is an admin and names the actor, in a
// header or, on MCP, in the URL. MCP registers an agent that is new.
func TestOff(t *testing.T) {
	d := open(t, shoaltest.OpenSQLite(t), auth.Options{Off: true})
	ctx := context.Background()
	if _, err := d.hub.Sessions.Create(ctx, root, shoal.NewSession{ID: "lab"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := d.hub.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: "gone"}, ""); err != nil {
		t.Fatal(err)
	}
	if err := d.hub.Entities.Delete(ctx, root, shoal.DefaultSession, "gone"); err != nil {
		t.Fatal(err)
	}
	_, entity := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "keyed"})
	for name, c := range map[string]struct {
		request *http.Request
		session shoal.SessionID
		entity  shoal.EntityID
		kind    shoal.Kind
	}{
		"nobody":                         {request(""), "default", "", ""},
		"by the URL":                     {at(request(""), "agent=ann"), "default", "ann", ""},
		"by the URL, in another session": {at(request(""), "agent=ann&session=lab"), "lab", "ann", ""},
		"by header":                      {request("", "X-Shoal-Entity", "ann", "X-Shoal-Session", "lab"), "lab", "ann", ""},
		"by header before the URL":       {at(request("", "X-Shoal-Entity", "ann"), "agent=zoe"), "default", "ann", ""},
		"in an unknown session":          {at(request(""), "agent=ann&session=nowhere"), "", "", shoal.NotFound},
		"by nonsense":                    {at(request(""), "agent=a%20b"), "", "", shoal.InvalidArgument},
		"as the system":                  {at(request(""), "agent=system"), "", "", shoal.InvalidArgument},
		"by the id of a deleted one":     {at(request(""), "agent=gone"), "", "", shoal.AlreadyExists},
		"by a key":                       {request(entity), "default", "keyed", ""},
		"by an invalid key":              {request("garbage"), "", "", shoal.Unauthenticated},
		"by a key, naming another":       {at(request(entity), "agent=ann"), "", "", shoal.IdentityMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			for range 2 { // the second time it is known
				caller, session, err := d.MCP(c.request)
				d.wantKind(err, c.kind)
				if err != nil {
					continue
				}
				if session != c.session || caller.EntityID != c.entity {
					t.Errorf("the caller is %q in %q, want %q in %q", caller.EntityID, session, c.entity, c.session)
				}
				if c.entity == "" {
					continue
				}
				if e, err := d.hub.Entities.Get(ctx, root, c.session, c.entity); err != nil || e.Kind != shoal.Agent {
					t.Errorf("the entity is %+v, %v; want an agent", e, err)
				}
			}
		})
	}

	caller, err := d.Principal(at(request("", "X-Shoal-Entity", "zoe"), "agent=ann"))
	if err != nil || !caller.Admin() || caller.EntityID != "zoe" {
		t.Errorf("on REST the caller is %+v, %v; want an admin who acts as zoe", caller, err)
	}
	_, err = d.hub.Entities.Get(ctx, root, shoal.DefaultSession, "zoe")
	d.wantKind(err, shoal.NotFound) // REST registers nobody
}

// An agent that was registered by connecting and deleted since is not made again.
func TestOffForgetsWhoIsDeleted(t *testing.T) {
	d := open(t, shoaltest.OpenSQLite(t), auth.Options{Off: true})
	if _, _, err := d.MCP(at(request(""), "agent=ann")); err != nil {
		t.Fatal(err)
	}
	if err := d.hub.Entities.Delete(context.Background(), root, shoal.DefaultSession, "ann"); err != nil {
		t.Fatal(err)
	}
	_, _, err := d.MCP(at(request(""), "agent=ann"))
	d.wantKind(err, shoal.AlreadyExists)
}
