package coretest

import (
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// grants adds clients and grants, each with a key, to a case.
type grants struct{ *storecase.Case }

func (g grants) id(name string) string { return name + "-" + string(g.Session) }

func (g grants) client(name string, at int) storage.OAuthClient {
	c := storage.OAuthClient{ID: g.id(name), Name: storecase.Hostile, RedirectURIs: []string{"http://127.0.0.1/", "https://a.example/?x=" + storecase.Hostile}, CreatedAt: storecase.Time(at)}
	g.Update(func(tx storage.Tx) error { return tx.PutOAuthClient(c) })
	return c
}

func (g grants) grant(name, client string, ends int) storage.OAuthGrant {
	out := storage.OAuthGrant{
		Key: shoal.KeyID(g.id(name)), Session: g.Session, ClientID: g.id(client), RedirectURI: "http://127.0.0.1:1/", Challenge: "challenge", Resource: "https://a.example/mcp",
		CodeHash: "code " + g.id(name), EndsAt: storecase.Time(ends),
	}
	key := shoal.Key{ID: out.Key, Role: shoal.RoleEntity, SessionID: &g.Session, EntityID: storecase.Ptr(shoal.EntityID(name)), CreatedAt: storecase.Time(1), ExpiresAt: storecase.Ptr(storecase.Time(ends)), Scopes: []string{}}
	g.Update(func(tx storage.Tx) error {
		return errors.Join(tx.InsertKey(key, "unused "+g.id(name)), tx.InsertOAuthGrant(out))
	})
	return out
}

// kept returns the names of the grants that are stored.
func (g grants) kept(names ...string) (out []string) {
	for _, name := range names {
		g.Update(func(tx storage.Tx) error {
			_, err := tx.OAuthGrant(shoal.KeyID(g.id(name)))
			if err == nil {
				out = append(out, name)
			} else if !errors.Is(err, shoal.NotFound) {
				return err
			}
			return nil
		})
	}
	return out
}

var oauthTests = map[string]func(*storecase.Case){
	"a grant is found by its hashes, and renews its key": func(c *storecase.Case) {
		g := grants{c}
		client := g.client("app", 1)
		storecase.Equal(c, "the client", storecase.Read(c, func(tx storage.Tx) (storage.OAuthClient, error) { return tx.OAuthClient(client.ID) }), client)
		renamed := client
		renamed.Name, renamed.RedirectURIs, renamed.FreshUntil = "renamed", []string{"https://b.example/"}, storecase.Ptr(storecase.Time(7))
		again := renamed
		again.CreatedAt = storecase.Time(9)
		c.Update(func(tx storage.Tx) error { return tx.PutOAuthClient(again) })
		storecase.Equal(c, "the client that was stored again", storecase.Read(c, func(tx storage.Tx) (storage.OAuthClient, error) { return tx.OAuthClient(client.ID) }), renamed)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.OAuthClient(g.id("none")); return err })
		grant := g.grant("ann", "app", 50)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertOAuthGrant(grant) })
		byCode := storecase.Read(c, func(tx storage.Tx) (storage.OAuthGrant, error) { return tx.OAuthGrantByCode(grant.CodeHash) })
		storecase.Equal(c, "the grant of the code", byCode, grant)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.OAuthGrantByFamily(g.id("family")); return err })
		grant.FamilyHash, grant.RefreshHash, grant.EndsAt = storecase.Ptr(g.id("family")), storecase.Ptr("refresh"), storecase.Time(90)
		c.Update(func(tx storage.Tx) error { return tx.RenewOAuthGrant(grant, g.id("token"), storecase.Time(60)) })
		byFamily := storecase.Read(c, func(tx storage.Tx) (storage.OAuthGrant, error) { return tx.OAuthGrantByFamily(g.id("family")) })
		storecase.Equal(c, "the grant of the family", byFamily, grant)
		key := storecase.Read(c, func(tx storage.Tx) (shoal.Key, error) { return tx.KeyByHash(g.id("token")) })
		storecase.Equal(c, "the key", fmt.Sprint(key.ID, " ", key.ExpiresAt), fmt.Sprint(grant.Key, " ", storecase.Time(60)))
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.KeyByHash("unused " + g.id("ann")); return err })
	},

	"a grant ends with its key, its entity and its time": func(c *storecase.Case) {
		g := grants{c}
		for i, name := range []string{"idle-1", "idle-2", "app"} {
			g.client(name, i+1)
		}
		all := []string{"revoked", "left", "ended", "kept"}
		for i, name := range all {
			g.grant(name, "app", 10*(i+1))
		}
		c.Update(func(tx storage.Tx) error {
			return errors.Join(tx.DeleteKey("", shoal.KeyID(g.id("revoked"))), tx.DeleteEntityKeys(c.Session, "left"))
		})
		storecase.Equal(c, "after their keys", g.kept(all...), []string{"ended", "kept"})
		c.Update(func(tx storage.Tx) error { return tx.SweepOAuthGrants(storecase.Time(30)) })
		storecase.Equal(c, "after their time", g.kept(all...), []string{"kept"})
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Key(shoal.KeyID(g.id("ended"))); return err })
		storecase.Equal(c, "whether it counts as revoked", storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.RevokedKey("unused " + g.id("ended")) }), false)
		c.Update(func(tx storage.Tx) error { return tx.TrimOAuthClients(0) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.OAuthClient(g.id("idle-2")); return err })
		storecase.Read(c, func(tx storage.Tx) (storage.OAuthClient, error) { return tx.OAuthClient(g.id("app")) })
	},
}
