package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi"
)

// act calls a tool that returns a message, and checks the message against the output schema.
func (a *agent) act(schemas checker, tool string, in inputs, says ...string) shoal.Message {
	a.t.Helper()
	got := a.do(tool, in)
	schemas.check(a.t, tool, got)
	wantText(a.t, got, says...)
	var m shoal.Message
	got.into(a.t, &m)
	return m
}

// What an agent can do with messages of a thread, over every transport: the structured result is
// the message as it is then, and the text says what was done.
func TestMessageActions(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			shop(w)
			ann, bob := w.join(by, "ann"), w.join(by, "bob")
			schemas := newChecker(ann)
			asked := w.say("bob", "shop", "which laptops?", "ann")

			reply := ann.act(schemas, "send_message", inputs{"threadId": "shop", "content": "three", "replyTo": asked.ID}, "Reply to: "+string(asked.ID))
			if reply.ReplyTo == nil || *reply.ReplyTo != asked.ID {
				t.Errorf("the reply is %+v", reply)
			}

			edit := inputs{"messageId": reply.ID, "content": "four", "mentions": []string{"bob", "cleo"}}
			edited := ann.act(schemas, "edit_message", edit, "Message edited successfully:\nID: "+string(reply.ID)+"\nThread: shop\nContent: four\nMentions: bob\nDropped mentions: cleo (no participants of this thread: add_participant adds them)")
			if edited.Text() != "four" || edited.EditedAt == nil || edited.Seq != reply.Seq || edited.ReplyTo == nil || !edited.CreatedAt.Equal(reply.CreatedAt.Time) {
				t.Errorf("the edited message is %+v", edited)
			}
			if again := ann.act(schemas, "edit_message", edit); !again.UpdatedAt.Equal(edited.UpdatedAt.Time) {
				t.Errorf("the same edit again changed %+v to %+v", edited, again)
			}
			if kept := ann.act(schemas, "edit_message", inputs{"messageId": reply.ID, "content": "four!"}, "Content: four!\nMentions: bob"); len(kept.Mentions) != 1 {
				t.Errorf("an edit without mentions leaves the mentions %v", kept.Mentions)
			}
			if bare := ann.act(schemas, "edit_message", inputs{"messageId": reply.ID, "content": "five", "mentions": []string{}}, "Content: five\nMentions: "); len(bare.Mentions) != 0 {
				t.Errorf("an empty list leaves the mentions %v", bare.Mentions)
			}

			thumb := inputs{"messageId": reply.ID, "emoji": "👍"}
			ann.act(schemas, "react", thumb, "Reaction added successfully:\nID: "+string(reply.ID)+"\nThread: shop\nReactions: 👍 ann")
			both := bob.act(schemas, "react", thumb, "Reactions: 👍 ann, bob")
			bob.act(schemas, "react", inputs{"messageId": reply.ID, "emoji": "🎉"}, "Reactions: 👍 ann, bob; 🎉 bob")
			if len(both.Reactions) != 1 || len(both.Reactions[0].EntityIDs) != 2 || both.EditedAt == nil {
				t.Errorf("the message has %+v", both)
			}
			for _, emoji := range []string{"👍", "🎉"} {
				bob.act(schemas, "react", inputs{"messageId": reply.ID, "emoji": emoji, "remove": true})
			}
			ann.act(schemas, "react", inputs{"messageId": reply.ID, "emoji": "👍", "remove": true}, "Reaction removed successfully:\nID: "+string(reply.ID)+"\nThread: shop\nReactions: none")

			for _, text := range []string{"Message deleted successfully:\nID: " + string(reply.ID) + "\nThread: shop", ""} { // the second time changes nothing
				gone := ann.act(schemas, "delete_message", inputs{"messageId": reply.ID}, text)
				if gone.DeletedAt == nil || len(gone.Parts) != 0 || gone.Seq != reply.Seq || gone.Text() != "" {
					t.Errorf("the tombstone is %+v", gone)
				}
			}
			late := bob.act(schemas, "send_message", inputs{"threadId": "shop", "content": "thanks", "replyTo": reply.ID})
			wantText(t, ann.do("read_thread", inputs{"threadId": "shop", "limit": 1}), `<message id="`+string(late.ID), `replyTo="`+string(reply.ID)+`"`)
		})
	}
}

// What cannot be done with a message is refused in words that say why and what to do.
func TestMessageActionsRefuse(t *testing.T) {
	w := newWorld(t)
	shop(w)
	ann := w.join(transports[0], "ann")
	other := w.say("bob", "shop", "bob's own")
	mine, gone := w.say("ann", "shop", "my own"), w.say("ann", "shop", "soon gone")
	ann.do("delete_message", inputs{"messageId": gone.ID})
	var closed, hers struct{ Items []shoal.Message }
	ann.do("read_thread", inputs{"threadId": "old"}).into(t, &closed)
	w.join(transports[0], "cleo").do("read_thread", inputs{"threadId": "hers"}).into(t, &hers)
	for _, c := range []struct {
		tool string
		in   inputs
		kind shoal.Kind
		says string
	}{
		{"edit_message", inputs{"messageId": other.ID, "content": "x"}, shoal.Forbidden, "Only the sender of a message can edit it. Reply to it, or ask its sender."},
		{"edit_message", inputs{"messageId": gone.ID, "content": "x"}, shoal.Conflict, "The message is deleted. Send a new one."},
		{"edit_message", inputs{"messageId": closed.Items[0].ID, "content": "x"}, shoal.SpaceClosed, "Create a new space"},
		{"edit_message", inputs{"messageId": hers.Items[0].ID, "content": "x"}, shoal.NotFound, "not found in your spaces"},
		{"edit_message", inputs{"messageId": mine.ID, "content": ""}, shoal.InvalidArgument, "content is empty"},
		{"edit_message", inputs{"messageId": mine.ID}, shoal.InvalidArgument, "content is missing"},
		{"edit_message", inputs{"messageId": mine.ID, "content": strings.Repeat("x", shoal.MaxContent+1)}, shoal.TooLarge, ""},
		{"edit_message", inputs{"messageId": mine.ID, "content": "x", "mentions": "bob"}, shoal.InvalidArgument, "mentions must be a list of strings"},
		{"edit_message", inputs{"messageId": mine.ID, "content": "x", "mentions": []string{"@bob"}}, shoal.InvalidArgument, "mentions[0] may contain only letters"},
		{"react", inputs{"messageId": gone.ID, "emoji": "👍"}, shoal.Conflict, "React to another one."},
		{"react", inputs{"messageId": mine.ID, "emoji": "👍👍"}, shoal.InvalidArgument, "emoji must be one emoji"},
		{"react", inputs{"messageId": mine.ID, "emoji": "👍", "remove": "yes"}, shoal.InvalidArgument, "remove must be true or false"},
		{"react", inputs{"messageId": closed.Items[0].ID, "emoji": "👍"}, shoal.SpaceClosed, "Create a new space"},
		{"react", inputs{"messageId": hers.Items[0].ID, "emoji": "👍"}, shoal.NotFound, "not found in your spaces"},
		{"delete_message", inputs{"messageId": other.ID}, shoal.Forbidden, "can delete a message. Ask one of them."},
		{"delete_message", inputs{"messageId": hers.Items[0].ID}, shoal.NotFound, "not found in your spaces"},
		{"send_message", inputs{"threadId": "shop", "content": "x", "replyTo": hers.Items[0].ID}, shoal.InvalidArgument, `replyTo names no message of the space "shop"`},
	} {
		wantFailure(t, ann.call(c.tool, c.in), c.kind, c.says)
	}
	if got := ann.do("read_thread", inputs{"threadId": "shop"}).Text; !strings.Contains(got, "my own") || !strings.Contains(got, "bob's own") || strings.Contains(got, "reaction emoji") {
		t.Errorf("a call that was refused changed the thread:\n%s", got)
	}
}

// A search finds the new text of an edited message and not the old one, and nothing of a deleted
// one.
func TestSearchFollowsEditsAndDeletions(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	ann, bob := w.join(transports[0], "ann"), w.join(transports[0], "bob")
	m := w.say("ann", "shop", "green tea")
	hits := func(query string, want int) {
		t.Helper()
		var page struct{ Items []shoal.Hit }
		bob.do("search_messages", inputs{"query": query}).into(t, &page)
		if len(page.Items) != want {
			t.Errorf("%q has %d hits, want %d", query, len(page.Items), want)
		}
	}
	hits("green", 1)
	ann.do("edit_message", inputs{"messageId": m.ID, "content": "black tea"})
	hits("green", 0)
	hits("black", 1)
	hits("tea", 1)
	ann.do("delete_message", inputs{"messageId": m.ID})
	hits("tea", 0)
}

// Edits, reactions and deletions end no open wait. What is unread is delivered as it is when a
// wait returns.
func TestActionsWakeNobody(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	ann, bob := w.join(transports[0], "ann"), w.join(transports[0], "bob")
	first, second := w.say("ann", "shop", "one"), w.say("ann", "shop", "two")
	var batch struct{ Cursor string }
	bob.do("wait_for_messages", inputs{}).into(t, &batch)
	done := make(chan answer, 1)
	go func() {
		got, err := bob.try(t.Context(), "wait_for_messages", inputs{"ack": batch.Cursor, "timeoutMs": 60_000})
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	w.waiting("bob", true)
	ann.do("edit_message", inputs{"messageId": first.ID, "content": "one and a half", "mentions": []string{"bob"}})
	ann.do("react", inputs{"messageId": first.ID, "emoji": "👍"})
	ann.do("delete_message", inputs{"messageId": second.ID})
	third := w.say("ann", "shop", "three")
	wantHeard(t, receive(t, done), times(1, third))

	fourth, fifth := w.say("ann", "shop", "four", "bob"), w.say("ann", "shop", "five", "bob")
	ann.do("edit_message", inputs{"messageId": fourth.ID, "content": "four and a half"})
	ann.do("delete_message", inputs{"messageId": fifth.ID})
	got := bob.do("wait_for_messages", inputs{"ack": batch.Cursor})
	wantText(t, got, "three", "four and a half", `<message id="`+string(fifth.ID), "deletedAt=")
	if strings.Contains(got.Text, ">four<") || strings.Contains(got.Text, "five") || strings.Contains(got.Text, "one and") {
		t.Errorf("the wait returned %s", got.Text)
	}
}

// A subscriber of a thread is notified of edits, reactions and deletions: what it read is not
// what there is.
func TestSubscribersAreNotifiedOfActions(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			m := w.say("bob", "shop", "hello")
			ann, updates := w.subscriber(by)
			bob := w.join(transports[0], "bob")
			ann.subscribe()
			w.until("somebody follows", func() bool { return mcpapi.Watches(w.api) == 1 })
			for _, c := range []struct {
				tool string
				in   inputs
			}{
				{"edit_message", inputs{"messageId": m.ID, "content": "hello again"}},
				{"react", inputs{"messageId": m.ID, "emoji": "👍"}},
				{"delete_message", inputs{"messageId": m.ID}},
			} {
				bob.do(c.tool, c.in)
				if got := receive(t, updates); got != uri {
					t.Errorf("%s: got a notification about %s", c.tool, got)
				}
			}
		})
	}
}
