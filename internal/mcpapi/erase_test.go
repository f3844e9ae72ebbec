package mcpapi_test

import (
	"strings"
	"testing"
)

// An agent deletes what it sent; who waits for it gets the message without its text.
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
		t.Errorf("who waits gets %s", got.Text)
	}
}
