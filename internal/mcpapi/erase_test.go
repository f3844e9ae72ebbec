package mcpapi_test

import (
	"strings"
	"testing"
)

// After an agent has edited its message, waits deliver the new text once, and the edit does
// not wake the agents that it mentions.
func TestEditedMessagesAreDeliveredAsTheyAre(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob", "dan")
	sent := w.say("ann", "shop", "three laptops", "bob")
	ann, bob, dan := w.join(transports[0], "ann"), w.join(transports[0], "bob"), w.join(transports[0], "dan")
	wantFailure(t, bob.call("edit_message", inputs{"messageId": sent.ID, "content": "five laptops"}), "forbidden")
	got := ann.do("edit_message", inputs{"messageId": sent.ID, "content": "four laptops"})
	if !strings.HasPrefix(got.Text, "Message edited successfully:\nID: "+string(sent.ID)) || !strings.Contains(got.Text, "Mentions: bob") {
		t.Errorf("the answer is %s", got.Text)
	}
	got = bob.do("wait_for_mentions", inputs{"timeoutMs": 0})
	if !strings.Contains(got.Text, "four laptops") || !strings.Contains(got.Text, "editedAt=") || strings.Contains(got.Text, "three") {
		t.Errorf("the wait returned %s", got.Text)
	}
	ann.do("edit_message", inputs{"messageId": sent.ID, "content": "no laptops", "mentions": []string{"bob", "dan"}})
	for _, who := range []*agent{bob, dan} {
		if got := who.do("wait_for_mentions", inputs{"timeoutMs": 0}); strings.Contains(got.Text, string(sent.ID)) {
			t.Errorf("the edit mentions: %s", got.Text)
		}
	}
	if got := dan.do("read_thread", inputs{"threadId": "shop"}); !strings.Contains(got.Text, "no laptops") || !strings.Contains(got.Text, `<mention id="dan"`) {
		t.Errorf("the thread reads %s", got.Text)
	}
}

// A reply names the message that it replies to in the texts of the tools.
func TestRepliesNameTheirMessage(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	asked := w.say("ann", "shop", "which laptops?")
	bob := w.join(transports[0], "bob")
	got := bob.do("send_message", inputs{"threadId": "shop", "content": "four", "replyTo": asked.ID})
	if !strings.Contains(got.Text, "Reply to: "+string(asked.ID)) {
		t.Errorf("the answer is %s", got.Text)
	}
	if got := bob.do("read_thread", inputs{"threadId": "shop"}); !strings.Contains(got.Text, `replyTo="`+string(asked.ID)+`"`) {
		t.Errorf("the thread reads %s", got.Text)
	}
	wantFailure(t, bob.call("send_message", inputs{"threadId": "shop", "content": "four", "replyTo": "msg_none"}), "invalid_argument")
}

// After an agent has deleted its message, waits deliver it without its text.
func TestDeletedMessagesAreDeliveredWithoutText(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	sent := w.say("ann", "shop", "my address is Elmstreet 77", "bob")
	ann, bob := w.join(transports[0], "ann"), w.join(transports[0], "bob")
	wantFailure(t, bob.call("delete_message", inputs{"messageId": sent.ID}), "forbidden")
	got := ann.do("delete_message", inputs{"messageId": sent.ID})
	if !strings.HasPrefix(got.Text, "Message deleted successfully:\nID: "+string(sent.ID)) {
		t.Errorf("the answer is %s", got.Text)
	}
	if got := bob.do("wait_for_mentions", inputs{"timeoutMs": 0}); strings.Contains(got.Text, string(sent.ID)) {
		t.Errorf("it still mentions: %s", got.Text)
	}
	if got := bob.do("wait_for_messages", inputs{"timeoutMs": 0}); !strings.Contains(got.Text, string(sent.ID)) || !strings.Contains(got.Text, "deletedAt=") || strings.Contains(got.Text, "Elmstreet") {
		t.Errorf("the wait returned %s", got.Text)
	}
}
