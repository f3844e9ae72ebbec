package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
)

// A cursor has at most MaxCursor bytes, however many senders the wait names and however
// long their ids are. It acknowledges exactly its batch: every message is returned once,
// and the messages of other senders stay unread.
func TestCursorLengthWithManySenders(t *testing.T) {
	space := shoal.SpaceID(strings.Repeat("s", shoal.MaxID))
	reader := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: shoal.EntityID(strings.Repeat("r", shoal.MaxID)), KeyID: "key_r"}
	for _, explicit := range []bool{true, false} {
		for _, length := range []int{4, 20, shoal.MaxID} {
			t.Run(fmt.Sprintf("explicit %v ids of %d", explicit, length), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := shop(t, nil)
					var senders []shoal.EntityID
					for i := range shoal.MaxMentions {
						senders = append(senders, shoal.EntityID(fmt.Sprintf("%0*d", length, i)))
					}
					const stranger = "stranger"
					for _, id := range append([]shoal.EntityID{reader.EntityID, stranger}, senders...) {
						_, err := h.Entities.Create(t.Context(), root, shoal.DefaultSession, shoal.NewEntity{ID: id}, "")
						must(t, err)
					}
					_, err := h.Spaces.Create(t.Context(), ann, shoal.DefaultSession, shoal.NewSpace{ID: space, Name: "x", Members: append([]shoal.EntityID{reader.EntityID, stranger}, senders...)}, "")
					must(t, err)
					var posted []string
					post := func(id shoal.EntityID, text string) {
						caller := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id, KeyID: shoal.KeyID("key_" + string(id))}
						_, err := h.Messages.Post(t.Context(), caller, shoal.DefaultSession, space, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}, "")
						must(t, err)
					}
					for i, id := range senders {
						posted = append(posted, fmt.Sprint("from ", i))
						post(id, posted[i])
						if i%10 == 0 {
							post(stranger, fmt.Sprint("unheard ", i))
						}
					}
					request := func(from []shoal.EntityID, ack string) *inbox.WaitRequest {
						return &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMessages, Space: space, From: from, Ack: ack}
					}
					var got []string
					ack := ""
					for range len(posted) + 1 {
						d, err := h.Inbox.Wait(t.Context(), reader, request(senders, ack))
						must(t, err)
						d.Settle(true)
						if d.Result.TimedOut {
							break
						}
						cursor := cursorOf(d)
						if len(cursor) > shoal.MaxCursor {
							t.Fatalf("a cursor of %d bytes: %s", len(cursor), cursor)
						}
						got = append(got, textsOf(d)...)
						if explicit {
							ack = cursor
						}
					}
					if !slices.Equal(got, posted) {
						t.Errorf("got %d messages %q, want each of %d once", len(got), got, len(posted))
					}
					left, err := h.Inbox.Wait(t.Context(), reader, request(nil, ack))
					must(t, err)
					if texts := textsOf(left); len(texts) != shoal.MaxMentions/10 || !strings.HasPrefix(texts[0], "unheard") {
						t.Errorf("unread messages of other senders: got %q, want %d", texts, shoal.MaxMentions/10)
					}
				})
			})
		}
	}
}

// A cursor that is too long is rejected, and so is the cursor of another entity.
func TestForeignCursorsAreRejected(t *testing.T) {
	h := shop(t, nil)
	_, err := say(h, "one")
	must(t, err)
	_, cursor := waitNow(t, h, "")
	for _, ack := range []string{strings.Repeat("x", shoal.MaxCursor+1), cursor + strings.Repeat("x", shoal.MaxCursor), "w:", "x", cursor + ":"} {
		if _, err := h.Inbox.Wait(t.Context(), bot, mentions(0, ack)); err == nil || !strings.Contains(err.Error(), "ack must be the cursor") {
			t.Errorf("ack %.40q: %v", ack, err)
		}
	}
	if _, err := h.Inbox.Wait(t.Context(), ann, mentions(0, cursor)); err == nil || !strings.Contains(err.Error(), "of this entity") {
		t.Errorf("ann acknowledges with the cursor of bot: %v", err)
	}
	for _, after := range []shoal.Cursor{shoal.Cursor(strings.Repeat("x", shoal.MaxCursor+1)), "x", "a.b", "a.-1", "a.1,", "a.1,x", "a.1,x/y=z"} {
		f, err := h.Events.Follow(t.Context(), ann, feed.FollowRequest{Session: shoal.DefaultSession, Space: "shop", After: after})
		if err == nil {
			f.Close()
			t.Errorf("after %.40q is a cursor", after)
		}
	}
}
