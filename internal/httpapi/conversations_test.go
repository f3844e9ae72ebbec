package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// talked adds an ended run, the nth, to a conversation of an agent, which reads text.
func (w *world) talked(session shoal.SessionID, agent shoal.EntityID, conversation string, n int, text string) {
	w.Helper()
	at := shoal.Now()
	r := storage.Run{Version: 1, Conversation: string(agent) + "/" + conversation, NotBefore: at}
	r.ID, r.SessionID, r.AgentID, r.Status, r.CreatedAt, r.EndedAt = shoal.NewID[shoal.RunID](shoal.PrefixRun), session, agent, shoal.RunCompleted, at, &at
	r.Trigger = shoal.Trigger{Type: shoal.ServiceTrigger, ServiceName: "billing", Payload: []byte("null")}
	r.Began, r.Ended = int64(2*n-1), int64(2*n)
	r.Turn = fmt.Appendf(nil, `{"turn":{"input":[{"role":"user","parts":[{"type":"text","text":%q}]}]}}`, text)
	w.must(w.store.Update(w.Context(), storage.Global, func(tx storage.Tx) error {
		if err := tx.InsertRun(r); err != nil {
			return err
		}
		return tx.PutConversation(storage.Conversation{Session: session, ID: r.Conversation, Agent: agent, Clock: r.Ended})
	}))
}

// conversation returns the texts of a page of a conversation, and the cursor of the next one.
func (w *world) conversation(secret, id, query string) (texts []string, next string) {
	w.Helper()
	got := into[page[shoal.ConversationRun]](w.do(secret, "GET", agentBase+"/conversations/"+url.PathEscape(id)+query, nil).wants(200))
	for _, r := range got.Items {
		for _, m := range r.Messages {
			texts = append(texts, m.Role+": "+m.Content[0].Text)
		}
	}
	if got.NextCursor != nil {
		next = *got.NextCursor
	}
	return texts, next
}

// Conversations are listed, read page by page with the newest run first, and cleared.
func TestConversationsAreReadAndCleared(t *testing.T) {
	w, _, _ := shop(t)
	for n, text := range []string{"one", "two", "three"} {
		w.talked("default", "shop-agent", "shop", n+1, text)
	}
	w.talked("default", "shop-agent", "plan/pln_1", 1, "of a plan")
	w.talked("default", "shop-agent", "service/bills & more", 1, "of a service")

	at := agentBase + "/conversations"
	first := into[page[shoal.Conversation]](w.do(w.admin, "GET", at+"?limit=2", nil).wants(200))
	if len(first.Items) != 2 || first.NextCursor == nil {
		t.Fatalf("the first page is %+v", first)
	}
	second := into[page[shoal.Conversation]](w.do(w.admin, "GET", at+"?cursor="+*first.NextCursor, nil).wants(200))
	all := append(first.Items, second.Items...)
	if len(all) != 3 || second.NextCursor != nil || all[0].ID != "plan:pln_1" || *all[0].PlanID != "pln_1" || all[1].ID != "service:bills & more" ||
		*all[1].ServiceName != "bills & more" || all[2].ID != "shop" || *all[2].SpaceID != "shop" || all[2].PlanID != nil || all[2].LastRunAt == nil || all[2].ActiveRunID != nil {
		t.Fatalf("they are %+v", all)
	}

	newest, next := w.conversation(w.admin, "shop", "?limit=2")
	oldest, none := w.conversation(w.admin, "shop", "?limit=2&cursor="+next)
	if !slices.Equal(newest, []string{"user: three", "user: two"}) || !slices.Equal(oldest, []string{"user: one"}) || none != "" {
		t.Errorf("the pages are %q and %q, then %q", newest, oldest, none)
	}
	if texts, _ := w.conversation(w.admin, "service:bills & more", ""); !slices.Equal(texts, []string{"user: of a service"}) {
		t.Errorf("of the service there is %q", texts)
	}

	for _, id := range []string{"shop", "plan:pln_1", "service:bills & more"} {
		w.do(w.admin, "DELETE", at+"/"+url.PathEscape(id), nil).wants(204)
		w.do(w.admin, "DELETE", at+"/"+url.PathEscape(id), nil).refuses(shoal.NotFound)
		w.do(w.admin, "GET", at+"/"+url.PathEscape(id), nil).refuses(shoal.NotFound)
	}
	if left := into[page[shoal.Conversation]](w.do(w.admin, "GET", at, nil).wants(200)); len(left.Items) != 0 {
		t.Errorf("%+v are left", left.Items)
	}
	for _, id := range []string{"nowhere", "plan:", "plan:a/b", "service:", "service:\x00", "a/b", strings.Repeat("x", 300)} {
		w.do(w.admin, "GET", at+"/"+url.PathEscape(id), nil).refuses(shoal.NotFound)
		w.do(w.admin, "DELETE", at+"/"+url.PathEscape(id), nil).refuses(shoal.NotFound)
	}
	for _, cursor := range []string{"MA", "LTE", "eA", "%21"} { // 0, -1, x and what is not base64
		w.talked("default", "shop-agent", "attic", 1, "x")
		w.do(w.admin, "GET", at+"/attic?cursor="+cursor, nil).refuses(shoal.InvalidArgument)
	}
}

// A page of large runs is short, and its cursor leads to the rest.
func TestPagesOfConversationsAreBounded(t *testing.T) {
	w, _, _ := shop(t)
	const runs = 25
	for n := range runs {
		w.talked("default", "shop-agent", "shop", n+1, fmt.Sprint(n)+strings.Repeat("x", 100<<10))
	}
	seen := runs
	for cursor := ""; ; {
		texts, next := w.conversation(w.admin, "shop", "?limit=200&cursor="+cursor)
		if len(texts) == 0 || len(texts) > 11 { // of 100 KiB each
			t.Fatalf("a page has %d runs", len(texts))
		}
		for _, text := range texts {
			seen--
			if !strings.HasPrefix(text, fmt.Sprintf("user: %dx", seen)) {
				t.Fatalf("%.20q comes where the run %d is due", text, seen)
			}
		}
		if cursor = next; next == "" {
			break
		}
	}
	if seen != 0 {
		t.Errorf("%d runs are missing", seen)
	}
}

// Members of the space and the owner of the agent neither read nor clear its
// conversations, nor do they learn which agents there are; owners of the session do.
func TestConversationsAreForManagers(t *testing.T) {
	w, ann, bot := shop(t)
	w.talked("default", "shop-agent", "shop", 1, confidential)
	w.do(w.admin, "PATCH", base+"/entities/shop-agent", `{"ownerId": "ann"}`).wants(200)
	at := agentBase + "/conversations"
	for _, path := range []string{at, at + "/shop", base + "/agents/nobody/conversations"} {
		w.do(ann, "GET", path, nil).refuses(shoal.Forbidden)
		w.do(bot, "GET", path, nil).refuses(shoal.Forbidden)
	}
	w.do(ann, "DELETE", at+"/shop", nil).refuses(shoal.Forbidden)

	w.do(w.admin, "PATCH", base+"/entities/ann", `{"sessionRole": "owner"}`).wants(200)
	if found := into[page[shoal.Conversation]](w.do(ann, "GET", at, nil).wants(200)); len(found.Items) != 1 {
		t.Errorf("an owner of the session finds %+v", found.Items)
	}
	if texts, _ := w.conversation(ann, "shop", ""); !slices.Equal(texts, []string{"user: " + confidential}) {
		t.Errorf("an owner of the session reads %q", texts)
	}
	w.do(ann, "DELETE", at+"/shop", nil).wants(204)
}

// While a run of it is under way, a conversation is not cleared.
func TestConversationsUnderWayAreNotCleared(t *testing.T) {
	w, _, _ := shop(t)
	w.talked("default", "shop-agent", "shop", 1, "before")
	r := storage.Run{Version: 1, Conversation: "shop-agent/shop", Began: 3, NotBefore: shoal.Now()}
	r.ID, r.SessionID, r.AgentID, r.Status, r.CreatedAt = "run_going", "default", "shop-agent", shoal.RunWaitingTool, shoal.Now()
	r.Trigger = shoal.Trigger{Type: shoal.ServiceTrigger, ServiceName: "billing", Payload: []byte("null")}
	w.must(w.store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
		if err := tx.InsertRun(r); err != nil {
			return err
		}
		return tx.PutConversation(storage.Conversation{Session: "default", ID: "shop-agent/shop", Agent: "shop-agent", Clock: 3})
	}))
	w.do(w.admin, "DELETE", agentBase+"/conversations/shop", nil).refuses(shoal.Conflict)
	found := into[page[shoal.Conversation]](w.do(w.admin, "GET", agentBase+"/conversations", nil).wants(200))
	if len(found.Items) != 1 || found.Items[0].ActiveRunID == nil || *found.Items[0].ActiveRunID != "run_going" {
		t.Errorf("it is listed as %+v", found.Items)
	}
}
