package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

// Clients that nobody here wrote reply to messages, edit, react and delete. They check each
// structured result against the tool's output schema by themselves.
func TestAgentsActOnMessages(t *testing.T) {
	s := serve(t, t.TempDir())
	for _, pair := range []struct{ writer, analyzer client }{
		{ts1HTTP, ts2Modern},
		{ts2Stdio, ts1SSE},
		{ts2Session, goModern},
	} {
		t.Run(pair.writer.name+" with "+pair.analyzer.name, func(t *testing.T) {
			t.Parallel()
			session := s.newSession(t, shoal.SessionID(pair.writer.name+"."+pair.analyzer.name))
			c := conversation{T: t, server: s, session: session}
			c.writer = c.join(pair.writer, writer)
			c.analyzer = c.join(pair.analyzer, analyzer)
			do(t, c.writer, "create_thread", args{"threadName": "Figures", "participantIds": []shoal.EntityID{analyzer}}, &c.thread)
			c.question = c.send(c.writer, writer, "What were the final Q4 sales figures?", analyzer)
			c.corrects()
			c.reacts()
			c.deletes()
		})
	}
}

// corrects: the analyzer replies and corrects itself before the writer reads: the writer gets
// the corrected text, once.
func (c *conversation) corrects() {
	c.Helper()
	reply := args{"threadId": c.thread.ID, "content": "4.2 million", "mentions": []shoal.EntityID{writer}, "replyTo": c.question.ID}
	do(c.T, c.analyzer, "send_message", reply, &c.answer)
	if c.answer.ReplyTo == nil || *c.answer.ReplyTo != c.question.ID {
		c.Errorf("the reply is %+v", c.answer)
	}
	edit := args{"messageId": c.answer.ID, "content": "4.3 million"}
	if said := refused(c.T, c.writer, "edit_message", edit); !strings.HasPrefix(said, "forbidden: ") {
		c.Errorf("the edit of somebody else is refused with %q", said)
	}
	do(c.T, c.analyzer, "edit_message", edit, &c.answer)
	var batch shoal.WaitResult
	do(c.T, c.writer, "wait_for_mentions", args{"timeoutMs": 20_000}, &batch)
	if len(batch.Items) != 1 || len(batch.Items[0].Messages) != 1 || batch.Items[0].Messages[0].Text() != "4.3 million" || batch.Items[0].Messages[0].EditedAt == nil {
		c.Fatalf("the wait brings %+v", batch)
	}
	var after shoal.WaitResult
	do(c.T, c.analyzer, "edit_message", args{"messageId": c.answer.ID, "content": "4.4 million", "mentions": []shoal.EntityID{writer}}, &c.answer)
	do(c.T, c.writer, "wait_for_mentions", args{"timeoutMs": 50, "ack": *batch.Cursor}, &after)
	if !after.TimedOut {
		c.Errorf("an edit of what was read brings %+v", after)
	}
	for query, want := range map[string]int{"4.2": 0, "4.4": 1} {
		var hits struct{ Items []shoal.Hit }
		do(c.T, c.writer, "search_messages", args{"query": `"` + query + `"`}, &hits)
		if len(hits.Items) != want {
			c.Errorf("a search for %s has %d hits, want %d", query, len(hits.Items), want)
		}
	}
}

// reacts: both see the reaction, in the text, the structure and over REST.
func (c *conversation) reacts() {
	c.Helper()
	var m shoal.Message
	said := do(c.T, c.writer, "react", args{"messageId": c.answer.ID, "emoji": "👍"}, &m).Text
	want := []shoal.Reaction{{Emoji: "👍", EntityIDs: []shoal.EntityID{writer}}}
	if diff := cmp.Diff(want, m.Reactions); diff != "" || !strings.Contains(said, "Reactions: 👍 report-writer") {
		c.Errorf("the reactions (-want +got):\n%s\n%s", diff, said)
	}
	if text := do(c.T, c.analyzer, "read_thread", args{"threadId": c.thread.ID}, nil).Text; !contains(text, `<reaction emoji="👍" by="report-writer"/>`, "editedAt=", `replyTo="`+string(c.question.ID)) {
		c.Errorf("the thread reads %s", text)
	}
	var rest shoal.Message
	c.server.rest(c.T, http.MethodGet, fmt.Sprintf("/v1/sessions/%s/messages/%s", c.session, c.answer.ID), nil, &rest)
	if diff := cmp.Diff(m, rest); diff != "" {
		c.Errorf("REST shows something else (-MCP +REST):\n%s", diff)
	}
	do(c.T, c.writer, "react", args{"messageId": c.answer.ID, "emoji": "👍", "remove": true}, &m)
	if len(m.Reactions) != 0 {
		c.Errorf("the reactions are %+v", m.Reactions)
	}
}

// deletes: nothing of the text is left but the place of the message.
func (c *conversation) deletes() {
	c.Helper()
	if said := refused(c.T, c.writer, "delete_message", args{"messageId": c.answer.ID}); !strings.HasPrefix(said, "forbidden: ") {
		c.Errorf("the deletion by somebody else is refused with %q", said)
	}
	var gone shoal.Message
	do(c.T, c.analyzer, "delete_message", args{"messageId": c.answer.ID}, &gone)
	if gone.DeletedAt == nil || len(gone.Parts) != 0 || gone.Seq != c.answer.Seq {
		c.Errorf("the tombstone is %+v", gone)
	}
	if text := do(c.T, c.writer, "read_thread", args{"threadId": c.thread.ID}, nil).Text; strings.Contains(text, "million") || !strings.Contains(text, "deletedAt=") {
		c.Errorf("the thread reads %s", text)
	}
	if said := refused(c.T, c.analyzer, "edit_message", args{"messageId": c.answer.ID, "content": "back"}); !strings.HasPrefix(said, "conflict: ") {
		c.Errorf("an edit of what is deleted is refused with %q", said)
	}
}
