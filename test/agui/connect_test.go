package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// connect makes the client connect to what goes on in the space.
func (c *client) connect() report {
	c.t.Helper()
	return c.run(order{Connect: true})
}

// A client that connects in the middle of an answer gets the rest of it from inside a word on: a page that was loaded
// again after the messages of the space, and a client that has lost its connection without anything twice.
func TestHostedConnect(t *testing.T) {
	t.Parallel()
	s := serve(t)
	tale := strings.Repeat("größer 🐟 ", 100) + "Ende"
	s.host("teller", "[]", fmt.Sprintf("pause 30ms\ncall sendSpaceMessage {\"spaceId\":\"teller\",\"text\":%q}\n---\nsay over", tale))
	c, page := s.client("teller", "operator"), s.client("teller", "operator")
	page.connect() // so that it is ready
	got := c.run(order{Add: []message{{ID: "u1", Role: "user", Content: "Go on."}}, AbortOn: "TEXT_MESSAGE_CONTENT"})
	if strings.HasSuffix(got.seen(), "Ende\n") {
		t.Fatal("the client was cut off too late")
	}
	page.Send(order{Connect: true})
	got = c.connect()
	want := "user Go on.\nassistant " + tale + "\n"
	got.hosted(t, "success", want)
	if slices.Contains(got.Events, "MESSAGES_SNAPSHOT") || count(got.Events, "TEXT_MESSAGE_CONTENT") == 0 {
		t.Errorf("the client that was cut off gets %v", got.Events)
	}
	got = page.next()
	got.hosted(t, "success", want)
	if at := slices.Index(got.Events, "MESSAGES_SNAPSHOT"); at != 1 || count(got.Events, "TEXT_MESSAGE_CONTENT") == 0 {
		t.Errorf("the page gets %v", got.Events)
	}
	if stored := apptest.Texts(t, s.Server, "teller", "bot-teller"); !slices.Equal(stored, []string{tale}) {
		t.Errorf("stored is %q", stored)
	}

	// When nothing goes on, connecting ends at once, and it never posts.
	got = c.run(order{Add: []message{{ID: "u2", Role: "user", Content: "Not sent."}}, Connect: true})
	got.hosted(t, "success", want+"user Not sent.\n")
	if posted := s.said("teller"); posted != "Go on.\n" {
		t.Errorf("posted is\n%s", posted)
	}
}

// What waits for the caller is there again after a reload, and in the client of a member that has asked for nothing.
func TestHostedConnectToWhatWaits(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("studio", "[]", fmt.Sprintf(painter, "studio"))
	s.client("studio", "operator").say("u1", "Paint it.", painting("white", nil))
	page := s.client("studio", "operator")
	got := page.connect()
	begin := "user Paint it.\nassistant paint{\"color\":\"red\"}\n"
	got.hosted(t, "success", begin)
	got = page.run(got.answers(t, "done"))
	got.hosted(t, "success", begin+"tool done\nassistant Painted.\n")

	s.host("payer", careful, fmt.Sprintf(paying, "payer"))
	s.client("payer", "operator").say("u1", "Pay", nil)
	page = s.client("payer", "operator")
	got = page.connect()
	begin = "user Pay\nassistant I pay. pay{\"sum\":5}\n"
	got.hosted(t, "interrupt", begin)
	if len(got.Interrupts) != 1 {
		t.Fatalf("the page is interrupted by %+v", got.Interrupts)
	}
	got = page.run(resume(map[string]any{"interruptId": got.Interrupts[0].ID, "status": "resolved", "payload": map[string]any{"approved": true}}))
	got.hosted(t, "success", begin+"tool {\"success\":true,\"sum\":5}\nassistant Paid.\n")
	got = page.connect()
	got.hosted(t, "success", begin+"tool {\"success\":true,\"sum\":5}\nassistant Paid.\n")

	stranger := fmt.Sprintf(`{"Authorization": "Bearer %s"}`, apptest.PersonKey(t, s.Server, "eve", shoal.DoorAGUI))
	if got := connect(t, s.URL()+"/agui/default/payer", stranger).connect(); !strings.HasPrefix(got.Error, "HTTP 404: ") {
		t.Errorf("a stranger: %q", got.Error)
	}
	if got := connect(t, s.URL()+"/agui/default/payer").connect(); !strings.HasPrefix(got.Error, "HTTP 401") {
		t.Errorf("without a key: %q", got.Error)
	}
}
