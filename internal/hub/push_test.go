package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/push"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// phone is what a browser says when it subscribes.
func phone(n int) push.NewSubscription {
	return push.NewSubscription{
		Endpoint: fmt.Sprintf("https://push.example/%d", n), Auth: "BTBZMqHH6r4Tts7J_aSIgg",
		P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
	}
}

// claimed returns what a server has to send, one line each.
func claimed(t *testing.T, h *hub.Hub, server string) (lines []string) {
	t.Helper()
	all, more, err := h.Push.Claim(context.Background(), server)
	must(t, err)
	if more {
		t.Error("there may be more")
	}
	for _, o := range all {
		n := o.Notice
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s by %s in %s %d", o.Target.Endpoint, n.Kind, n.By, n.Space, n.Seq)))
	}
	slices.Sort(lines)
	return lines
}

// people returns a hub with the humans ann, bob and cy in the space shop, and a hosted agent.
func people(t *testing.T) *hub.Hub {
	t.Helper()
	h := shop(t, nil)
	for _, id := range []shoal.EntityID{"bob", "cy"} {
		_, err := h.Entities.Create(t.Context(), root, shoal.DefaultSession, shoal.NewEntity{ID: id, Name: "B " + string(id), Kind: shoal.Human}, "")
		must(t, err)
		_, err = h.Spaces.Join(t.Context(), ann, shoal.DefaultSession, "shop", id)
		must(t, err)
	}
	return h
}

func as(id shoal.EntityID) shoal.Principal {
	return shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id, KeyID: shoal.KeyID(id)}
}

func tell(t *testing.T, h *hub.Hub, by shoal.Principal, text string, mentions ...shoal.EntityID) shoal.Message {
	t.Helper()
	m, err := h.Messages.Post(t.Context(), by, shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: mentions}, "")
	must(t, err)
	return m
}

// A person is notified of a mention once in each browser, by one server, after the time in which it
// can be read where the person is: not of what was read, deleted, said before or elsewhere, and not
// from a muted space.
func TestPeopleAreNotifiedOfMentions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, bob := t.Context(), as("bob")
		h := people(t)
		tell(t, h, ann, "before the subscription", "bob")
		for n := range 2 {
			_, err := h.Push.Subscribe(ctx, bob, shoal.DefaultSession, phone(n))
			must(t, err)
		}
		_, err := h.Push.Subscribe(ctx, as("cy"), shoal.DefaultSession, phone(9))
		must(t, err)
		step := func(what, server string, want ...string) {
			t.Helper()
			if got := claimed(t, h, server); !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", what, got, want)
			}
		}
		tell(t, h, ann, "nobody is mentioned")
		m := tell(t, h, ann, "hello", "bob")
		step("at once", "one")
		<-time.After(push.Grace)
		step("then", "one", fmt.Sprintf("https://push.example/0 mention by ann in shop %d", m.Seq), fmt.Sprintf("https://push.example/1 mention by ann in shop %d", m.Seq))
		step("again", "one")

		tell(t, h, ann, "read in time", "bob")
		must(t, second(h.Inbox.MarkRead(ctx, bob, shoal.DefaultSession, "shop", 100)))
		gone := tell(t, h, ann, "deleted in time", "bob")
		must(t, h.Messages.Delete(ctx, ann, shoal.DefaultSession, gone.ID))
		<-time.After(push.Grace)
		step("nothing is unread", "one")

		_, err = h.Spaces.Mute(ctx, bob, shoal.DefaultSession, "shop", true)
		must(t, err)
		tell(t, h, ann, "in a muted space", "bob")
		<-time.After(push.Grace)
		step("muted", "one")
		_, err = h.Spaces.Mute(ctx, bob, shoal.DefaultSession, "shop", false)
		must(t, err)
		<-time.After(push.Grace)
		step("what was skipped is not sent later", "one")

		for range 5 {
			m = tell(t, h, ann, "one of many", "cy")
		}
		<-time.After(push.Grace)
		step("another server, while the first is there", "two")
		step("the last one of a space", "one", fmt.Sprintf("https://push.example/9 mention by ann in shop %d", m.Seq))
		m = tell(t, h, ann, "the first server is gone", "cy")
		<-time.After(time.Minute)
		step("the other server continues", "two", fmt.Sprintf("https://push.example/9 mention by ann in shop %d", m.Seq))
	})
}

// Those who may answer a pending action are notified of it, once, unless somebody answers in time.
func TestPeopleAreNotifiedOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		h := people(t)
		for n, id := range []shoal.EntityID{"bob", "cy"} {
			_, err := h.Push.Subscribe(ctx, as(id), shoal.DefaultSession, phone(n))
			must(t, err)
		}
		putAgent(t, h, "helper", nil)
		_, err := h.Spaces.Join(ctx, ann, shoal.DefaultSession, "shop", "helper")
		must(t, err)
		tell(t, h, as("bob"), "order one", "helper")
		_, lease := claimOne(t, h, "executor")
		ask := func(request string) (id shoal.PendingID) {
			must(t, write(h, lease, func(c *runs.RunChange) (err error) {
				shop := shoal.SpaceID("shop")
				id, err = c.OpenPending(storage.Pending{
					PendingAction: shoal.PendingAction{Kind: shoal.PendingPermission, ToolName: "order", SpaceID: &shop, Args: json.RawMessage(`{}`)},
					Request:       request, Policy: storage.Policy{By: []shoal.EntityID{"bob"}},
				})
				return err
			}))
			return id
		}
		<-time.After(time.Second) // only what is asked after the subscription counts
		ask("r1")
		if got := claimed(t, h, "one"); len(got) != 0 {
			t.Errorf("at once: %q", got)
		}
		<-time.After(push.Grace)
		if got := claimed(t, h, "one"); !slices.Equal(got, []string{"https://push.example/0 pending by helper in shop 0"}) {
			t.Errorf("then: %q", got)
		}
		if got := claimed(t, h, "one"); len(got) != 0 {
			t.Errorf("again: %q", got)
		}
		yes := true
		_, err = h.Pending.Answer(ctx, as("bob"), shoal.DefaultSession, ask("r2"), shoal.PendingAnswer{Approved: &yes})
		must(t, err)
		<-time.After(push.Grace)
		if got := claimed(t, h, "one"); len(got) != 0 {
			t.Errorf("after an answer: %q", got)
		}
	})
}

// A subscription ends with what made it: its sign-in, the key, and the person; one
// that the same browser makes again moves it to the person who makes it.
func TestSubscriptionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		h := people(t)
		devices := func(id shoal.EntityID) (ids []string) {
			t.Helper()
			page, err := h.Push.List(ctx, as(id), shoal.DefaultSession)
			must(t, err)
			if len(page.PublicKey) != 87 {
				t.Errorf("the key of the server is %q", page.PublicKey)
			}
			for _, s := range page.Items {
				ids = append(ids, string(s.ID))
			}
			return ids
		}
		subscribe := func(caller shoal.Principal, n int) string {
			t.Helper()
			s, err := h.Push.Subscribe(ctx, caller, shoal.DefaultSession, phone(n))
			must(t, err)
			return string(s.ID)
		}
		want := func(what string, id shoal.EntityID, want ...string) {
			t.Helper()
			if got := devices(id); !slices.Equal(got, want) {
				t.Errorf("%s: %q has %q, want %q", what, id, got, want)
			}
		}
		one := subscribe(as("bob"), 1)
		if again := subscribe(as("bob"), 1); again != one {
			t.Errorf("the same browser got another subscription: %s, not %s", again, one)
		}
		want("twice", "bob", one)
		moved := subscribe(as("cy"), 1)
		want("another person in the browser", "bob")
		want("another person in the browser", "cy", moved)

		key, _, err := h.Keys.Create(ctx, root, shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "bob"}, "hash-of-a-key", "")
		must(t, err)
		until := shoal.At(time.Now().Add(30 * 24 * time.Hour))
		signIn, err := h.Keys.SignIn(ctx, key, "hash-of-a-sign-in", "", until)
		must(t, err)
		browser := as("bob")
		browser.KeyID, browser.SignIn = key.ID, signIn.ID
		two := subscribe(browser, 2)
		want("signed in", "bob", two)
		must(t, h.Keys.SignOut(ctx, signIn.ID))
		want("signed out", "bob")

		signIn, err = h.Keys.SignIn(ctx, key, "hash-of-another", "", until)
		must(t, err)
		browser.SignIn = signIn.ID
		three := subscribe(browser, 2)
		<-time.After(13 * time.Hour) // the sign-in is unused, and removed when somebody signs in
		_, err = h.Keys.SignIn(ctx, shoal.Key{Role: shoal.RoleAdmin}, "hash-of-a-third", "", until)
		must(t, err)
		want("the sign-in has lapsed", "bob", three)
		must(t, h.Keys.SignOutEverywhere(ctx, key.ID))
		want("signed out everywhere", "bob")

		browser.SignIn = ""
		subscribe(browser, 3)
		must(t, h.Keys.Revoke(ctx, root, key.ID))
		want("the key was revoked", "bob")
		for n := range 12 {
			subscribe(as("bob"), 10+n)
		}
		if got := devices("bob"); len(got) != 10 {
			t.Errorf("bob has %d subscriptions", len(got))
		}
		must(t, h.Entities.Delete(ctx, root, shoal.DefaultSession, "bob"))
		must(t, h.Push.Drop(ctx, shoal.DefaultSession, storage.PushID(moved)))
		must(t, h.Push.Drop(ctx, shoal.DefaultSession, storage.PushID(moved)))
	})
}

// What may not subscribe, and what is not a subscription.
func TestSubscriptionsThatAreRefused(t *testing.T) {
	h := people(t)
	scoped := as("bob")
	scoped.Scopes = "post"
	for name, c := range map[string]struct {
		caller shoal.Principal
		change func(*push.NewSubscription)
		kind   shoal.Kind
	}{
		"an agent":          {bot, nil, shoal.Forbidden},
		"a key with scopes": {scoped, nil, shoal.Forbidden},
		"plain HTTP":        {as("bob"), func(s *push.NewSubscription) { s.Endpoint = "http://push.example/1" }, shoal.InvalidArgument},
		"no host":           {as("bob"), func(s *push.NewSubscription) { s.Endpoint = "https:///1" }, shoal.InvalidArgument},
		"a password":        {as("bob"), func(s *push.NewSubscription) { s.Endpoint = "https://a:b@push.example/1" }, shoal.InvalidArgument},
		"too long":          {as("bob"), func(s *push.NewSubscription) { s.Endpoint += strings.Repeat("a", push.MaxEndpoint) }, shoal.InvalidArgument},
		"not a point":       {as("bob"), func(s *push.NewSubscription) { s.P256dh = "B" + strings.Repeat("A", 86) }, shoal.InvalidArgument},
		"a short secret":    {as("bob"), func(s *push.NewSubscription) { s.Auth = "AAAA" }, shoal.InvalidArgument},
	} {
		in := phone(1)
		if c.change != nil {
			c.change(&in)
		}
		if _, err := h.Push.Subscribe(t.Context(), c.caller, shoal.DefaultSession, in); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", name, err, c.kind)
		}
	}
	if err := h.Push.Unsubscribe(t.Context(), as("bob"), shoal.DefaultSession, "psh_none"); !errors.Is(err, shoal.NotFound) {
		t.Errorf("an unknown subscription: %v", err)
	}
}
