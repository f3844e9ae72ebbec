package hub_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// largeShop is shop with n more members in the space "shop". They are agents.
func largeShop(t *testing.T, n int) (*hub.Hub, []shoal.EntityID) {
	t.Helper()
	store := shoaltest.OpenSQLite(t)
	h := shop(t, func(o *hub.Options) { o.Store = store })
	ids := crowd(t, store, n)
	join(t, store, "shop", ids)
	return h, ids
}

func entityKey(id shoal.EntityID) shoal.Principal {
	return shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id}
}

// followed returns the next events of a follower, until nothing more happens.
func followed(t *testing.T, f *feed.Follower) (all []shoal.Event) {
	t.Helper()
	for {
		events, err := f.Next(t.Context(), time.Now().Add(time.Second))
		must(t, err)
		if len(events) == 0 {
			return all
		}
		for _, e := range events {
			e.Data = slices.Clone(e.Data)
			all = append(all, e)
		}
	}
}

func follow(t *testing.T, h *hub.Hub, caller shoal.Principal, req feed.FollowRequest) *feed.Follower {
	t.Helper()
	req.Session = shoal.DefaultSession
	f, err := h.Events.Follow(t.Context(), caller, req)
	must(t, err)
	t.Cleanup(f.Close)
	return f
}

func decodeEvent[T any](t *testing.T, e shoal.Event) (out T) {
	t.Helper()
	must(t, json.Unmarshal(e.Data, &out))
	return out
}

// What a member does in a space of 10,000 works for each of them, whether the space lists it
// or not.
func TestUnlistedMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ids := largeShop(t, shoal.MaxMembers-2)
		ctx, session := t.Context(), shoal.DefaultSession
		last := ids[len(ids)-1]
		s, err := h.Spaces.Get(ctx, entityKey(last), session, "shop")
		must(t, err)
		if s.MemberCount != shoal.MaxMembers || len(s.Members) != shoal.MaxListedMembers || s.Members[0].EntityID != last || s.Complete() {
			t.Errorf("it sees %d members and %d listed ones, of which %s is first", s.MemberCount, len(s.Members), s.Members[0].EntityID)
		}
		all, err := h.Spaces.List(ctx, entityKey(last), session, storage.SpaceFilter{})
		if err != nil || len(all) != 1 || all[0].Members[0].EntityID != last {
			t.Errorf("its spaces are %+v, %v", all, err)
		}

		wait := make(chan shoal.WaitResult, 1)
		go func() {
			d, err := h.Inbox.Wait(ctx, entityKey(last), &inbox.WaitRequest{Session: session, Kind: shoal.WaitMentions, Timeout: time.Minute})
			if err != nil {
				t.Error(err)
			}
			wait <- d.Result
		}()
		synctest.Wait()
		m, err := h.Messages.Post(ctx, ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}, Mentions: []shoal.EntityID{last, "nobody"}}, "")
		if err != nil || !slices.Equal(m.Mentions, []shoal.EntityID{last}) || len(m.DroppedMentions) != 1 {
			t.Errorf("the mentions are %v, dropped are %v, %v", m.Mentions, m.DroppedMentions, err)
		}
		if r := <-wait; len(r.Items) != 1 || r.Items[0].Messages[0].ID != m.ID {
			t.Errorf("the wait returned %+v", r)
		}

		admin := last
		s, err = h.Spaces.Update(ctx, ann, session, "shop", shoal.SpaceChange{AdminAgentID: &admin})
		if err != nil || s.AdminAgentID == nil || *s.AdminAgentID != last {
			t.Errorf("it became the admin agent: %v", err)
		}
		seen, err := h.Spaces.Get(ctx, ann, session, "shop")
		if err != nil || seen.Members[0].EntityID != "ann" || seen.Members[1].EntityID != last {
			t.Errorf("the reader and the admin agent are not first: %v, %v", seen.Members[:2], err)
		}
		s, err = h.Spaces.Leave(ctx, ann, session, "shop", last)
		if err != nil || s.AdminAgentID != nil || s.MemberCount != shoal.MaxMembers-1 {
			t.Errorf("after it has left: %d members, admin agent %v, %v", s.MemberCount, s.AdminAgentID, err)
		}
		if _, err := h.Spaces.Get(ctx, entityKey(last), session, "shop"); !errors.Is(err, shoal.NotFound) {
			t.Errorf("it reads the space after it has left: %v", err)
		}
	})
}

func TestMemberPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := largeShop(t, 1500)
		ctx, session := t.Context(), shoal.DefaultSession
		var all []shoal.EntityID
		for after := shoal.EntityID(""); ; after = all[len(all)-1] {
			page, err := h.Spaces.Members(ctx, ann, session, "shop", spaces.MemberFilter{After: after, Limit: 200})
			must(t, err)
			for _, m := range page {
				all = append(all, m.EntityID)
			}
			if len(page) < 200 {
				break
			}
		}
		if len(all) != 1502 || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != 1502 {
			t.Errorf("the pages have %d members", len(all))
		}
		found := func(f spaces.MemberFilter) []shoal.Member {
			f.Limit = 10
			page, err := h.Spaces.Members(ctx, ann, session, "shop", f)
			must(t, err)
			return page
		}
		if page := found(spaces.MemberFilter{Text: "NR. 149"}); len(page) != 10 || page[0].EntityID != "e00149" || page[1].EntityID != "e01490" {
			t.Errorf("names that contain a text: %v", page)
		}
		if page := found(spaces.MemberFilter{Text: "e01499"}); len(page) != 1 {
			t.Errorf("ids that contain a text: %v", page)
		}
		if page := found(spaces.MemberFilter{Kind: shoal.Human}); len(page) != 0 {
			t.Errorf("people: %v", page)
		}
		if m, err := h.Spaces.Member(ctx, ann, session, "shop", "e01499"); err != nil || m.Name != "Nr. 1499" {
			t.Errorf("one member: %+v, %v", m, err)
		}
		for _, id := range []shoal.EntityID{"nobody", "..", "b\x00"} {
			if _, err := h.Spaces.Member(ctx, ann, session, "shop", id); !errors.Is(err, shoal.NotFound) {
				t.Errorf("the member %q: %v, want %v", id, err, shoal.NotFound)
			}
		}
	})
}

// A light snapshot has the counts and the open messages of a space.
func TestLightSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ids := largeShop(t, 300)
		ctx, session := t.Context(), shoal.DefaultSession
		_, err := h.Messages.Post(ctx, ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("one")}, Mentions: ids[299:]}, "")
		must(t, err)
		_, err = h.Spaces.Mute(ctx, entityKey(ids[299]), session, "shop", true)
		must(t, err)
		for _, req := range []feed.FollowRequest{{Light: true}, {Light: true, Space: "shop"}} {
			events := followed(t, follow(t, h, entityKey(ids[299]), req))
			snapshot := decodeEvent[shoal.SnapshotData](t, events[0])
			s := snapshot.Space
			if s.MemberCount != 302 || s.UnreadCount != 1 || s.MentionCount != 1 || !s.Muted || s.LastSeq != 1 {
				t.Errorf("the space is %+v", s)
			}
			if len(s.Members)+len(snapshot.Members)+len(snapshot.Messages) != 0 || s.Members == nil || snapshot.Members == nil || snapshot.Messages == nil {
				t.Errorf("the snapshot has members %v and messages %v", snapshot.Members, snapshot.Messages)
			}
		}
		full := decodeEvent[shoal.SnapshotData](t, followed(t, follow(t, h, entityKey(ids[299]), feed.FollowRequest{Space: "shop"}))[0])
		if len(full.Members) != shoal.MaxListedMembers || len(full.Messages) != 1 || !full.Space.Muted {
			t.Errorf("a full snapshot has %d members, %d messages, muted: %v", len(full.Members), len(full.Messages), full.Space.Muted)
		}
	})
}

// Events of a large space carry its count. They are the same for all readers, so a renamed
// member is in the event that says so, listed or not.
func TestEventsOfALargeSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ids := largeShop(t, 300)
		ctx, session := t.Context(), shoal.DefaultSession
		f := follow(t, h, ann, feed.FollowRequest{})
		followed(t, f)
		last, name := ids[299], "Renamed"
		_, err := h.Entities.Update(ctx, root, session, last, shoal.EntityChange{Name: &name})
		must(t, err)
		_, err = h.Spaces.Leave(ctx, ann, session, "shop", last)
		must(t, err)
		_, err = h.Spaces.Join(ctx, ann, session, "shop", last)
		must(t, err)
		var seen []string
		for _, e := range followed(t, f) {
			switch e.Type {
			case shoal.EventSpaceUpdated:
				s := decodeEvent[shoal.SpaceData](t, e).Space
				renamed := slices.ContainsFunc(s.Members, func(m shoal.Member) bool { return m.Name == name })
				seen = append(seen, fmt.Sprint(e.Type, s.MemberCount, len(s.Members), renamed))
			case shoal.EventMemberJoined, shoal.EventMemberLeft:
				seen = append(seen, fmt.Sprint(e.Type, decodeEvent[shoal.MemberData](t, e).MemberCount))
			}
		}
		want := []string{"space.updated302 100 true", "member.left301", "member.joined302"}
		if !slices.Equal(seen, want) {
			t.Errorf("the events are %q, want %q", seen, want)
		}
	})
}

// A space that is deleted ends for all of its members.
func TestDeletingALargeSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ids := largeShop(t, 700)
		ctx, session := t.Context(), shoal.DefaultSession
		last := entityKey(ids[699])
		f := follow(t, h, last, feed.FollowRequest{})
		followed(t, f)
		must(t, h.Spaces.Delete(ctx, root, session, "shop"))
		events := followed(t, f)
		if len(events) == 0 || events[len(events)-1].Type != shoal.EventMemberLeft {
			t.Errorf("a member received %d events, %+v", len(events), events)
		}
		left, err := h.Spaces.List(ctx, last, session, storage.SpaceFilter{})
		if err != nil || len(left) != 0 {
			t.Errorf("a member still sees %v, %v", left, err)
		}
	})
}
