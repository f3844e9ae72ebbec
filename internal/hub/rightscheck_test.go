package hub_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// openCall is a call that stays open, and the error that it ends with.
type openCall struct {
	name string
	err  chan error
}

// openCalls opens every kind of call that a caller can have open in a session on h: a wait, a
// wait for agents, a follower and a watched connection.
func openCalls(t *testing.T, h *hub.Hub, caller shoal.Principal, session shoal.SessionID) []openCall {
	t.Helper()
	calls := []openCall{{"wait", make(chan error, 1)}, {"wait for agents", make(chan error, 1)}, {"follower", make(chan error, 1)}, {"connection", make(chan error, 1)}}
	go func() {
		_, err := h.Inbox.Wait(context.Background(), caller, &inbox.WaitRequest{Session: session, Kind: shoal.WaitMessages, Timeout: time.Minute})
		calls[0].err <- err
	}()
	go func() {
		_, _, _, err := h.Inbox.WaitForAgents(context.Background(), caller, session, []shoal.EntityID{"nobody"}, 0, time.Minute)
		calls[1].err <- err
	}()
	f, err := h.Events.Follow(t.Context(), caller, feed.FollowRequest{Session: session})
	must(t, err)
	go func() {
		defer f.Close()
		for err = error(nil); err == nil; {
			_, err = f.Next(context.Background(), time.Now().Add(time.Hour))
		}
		calls[2].err <- err
	}()
	stop := h.Keys.Watch(caller, session, func(err error) { calls[3].err <- err })
	t.Cleanup(stop)
	return calls
}

// wantEnded checks that every call ends with want within 5 s of since.
func wantEnded(t *testing.T, calls []openCall, since time.Time, want shoal.Kind) {
	t.Helper()
	for _, c := range calls {
		if err := <-c.err; !errors.Is(err, want) {
			t.Errorf("%s: ended with %v, want %s", c.name, err, want)
		}
		if took := time.Since(since); took > 5*time.Second {
			t.Errorf("%s: ended after %v, want at most 5s", c.name, took)
		}
	}
}

// lab creates the session lab, if it does not exist, with the member eve, and returns the
// principal of a new key of eve.
func lab(t *testing.T, h *hub.Hub, eve shoal.EntityID) shoal.Principal {
	t.Helper()
	ctx := context.Background()
	if _, err := h.Sessions.Create(ctx, root, shoal.NewSession{ID: "lab", Name: "lab"}, ""); err != nil && !errors.Is(err, shoal.AlreadyExists) {
		t.Fatal(err)
	}
	key, _, err := h.Keys.Create(ctx, root, shoal.NewKey{Role: shoal.RoleEntity, SessionID: "lab", EntityID: eve}, string(shoal.NewID[shoal.KeyID]("hash")), "")
	must(t, err)
	return shoal.Principal{Role: shoal.RoleEntity, KeyID: key.ID, SessionID: "lab", EntityID: eve}
}

// checkRightsEnd withdraws rights on one server and checks that the calls end that are open
// on the other.
func checkRightsEnd(t *testing.T, one, other *hub.Hub) {
	ctx := context.Background()
	owner := lab(t, one, "owner")
	give := func(id shoal.EntityID, role shoal.SessionRole) error {
		_, err := one.Entities.Update(ctx, root, "lab", id, shoal.EntityChange{SessionRole: &role})
		return err
	}
	in := func(caller shoal.Principal, role shoal.SessionRole) shoal.Principal {
		caller.SessionRole = role
		return caller
	}
	must(t, give("owner", shoal.SessionOwner))
	for _, c := range []struct {
		name   string
		caller shoal.Principal
		want   shoal.Kind
		do     func(caller shoal.Principal) error
	}{
		{"a revoked key", lab(t, one, "revoked"), shoal.Unauthenticated, func(caller shoal.Principal) error { return one.Keys.Revoke(ctx, root, caller.KeyID) }},
		{"a removed entity", lab(t, one, "removed"), shoal.NotFound, func(caller shoal.Principal) error { return one.Entities.Delete(ctx, root, "lab", caller.EntityID) }},
		{"a former owner", in(owner, shoal.SessionOwner), shoal.Unauthenticated, func(shoal.Principal) error { return give("owner", shoal.SessionAuditor) }},
		{"a former auditor", in(owner, shoal.SessionAuditor), shoal.Unauthenticated, func(shoal.Principal) error { return give("owner", shoal.SessionMember) }},
		{"a member that is a guest now", in(owner, shoal.SessionMember), shoal.Unauthenticated, func(shoal.Principal) error { return give("owner", shoal.SessionGuest) }},
		{"a removed guest", in(owner, shoal.SessionGuest), shoal.NotFound, func(shoal.Principal) error { return one.Entities.Delete(ctx, root, "lab", "owner") }},
		{"a deleted session", lab(t, one, "left"), shoal.NotFound, func(shoal.Principal) error { return one.Sessions.Delete(ctx, root, "lab") }},
	} {
		calls, bystander := openCalls(t, other, c.caller, "lab"), openCalls(t, other, ann, shoal.DefaultSession)
		since := time.Now()
		must(t, c.do(c.caller))
		wantEnded(t, calls, since, c.want)
		for _, b := range bystander {
			select {
			case err := <-b.err:
				t.Errorf("%s: the %s of another caller ended too: %v", c.name, b.name, err)
			default:
			}
		}
	}
}

// Rights that one server withdraws end the open calls on other servers within five seconds,
// even if no bus connects them.
func TestRevokedRightsEndCallsOnAllServers(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			one, other := twoServers(t)
			checkRightsEnd(t, one, other)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := postgrestest.Database(t)
		openStore := func() storage.Store {
			s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
			must(t, err)
			t.Cleanup(func() { must(t, s.Close()) })
			return s
		}
		one := shop(t, func(o *hub.Options) { o.Store = openStore() })
		other := hub.New(hub.Options{Store: openStore(), Bus: localbus.New()})
		must(t, other.Start(t.Context()))
		t.Cleanup(other.Stop)
		checkRightsEnd(t, one, other)
	})
}

// unresponsiveStore is a store that can stop answering reads.
type unresponsiveStore struct {
	storage.Store
	stopped atomic.Bool
}

func (s *unresponsiveStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	if s.stopped.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.View(ctx, fn)
}

func (s *unresponsiveStore) ViewFirst(ctx context.Context, fn func(storage.Tx) error) error {
	return s.View(ctx, fn)
}

// A server that cannot read its callers' rights for five seconds ends their open calls.
func TestUncheckedRightsEndCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &unresponsiveStore{Store: shoaltest.OpenSQLite(t)}
		h := shop(t, func(o *hub.Options) { o.Store = store })
		calls := openCalls(t, h, ann, shoal.DefaultSession)
		synctest.Wait()
		<-time.After(20 * time.Second)
		synctest.Wait()
		for _, c := range calls {
			if len(c.err) > 0 {
				t.Fatalf("%s: ended with %v while the store answers", c.name, <-c.err)
			}
		}
		store.stopped.Store(true)
		began := time.Now()
		for _, c := range calls {
			if err := <-c.err; !errors.Is(err, shoal.Busy) {
				t.Errorf("%s: ended with %v, want %s", c.name, err, shoal.Busy)
			}
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the calls ended after %v, want at most 6s", took)
		}
	})
}
