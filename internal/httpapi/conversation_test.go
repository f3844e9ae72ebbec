package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// A person and an agent talk: from the keys to the closed space.
func TestConversationFromBeginningToEnd(t *testing.T) {
	w := newWorld(t)
	ann, bot := w.entity("default", "ann"), w.entity("default", "bot")

	entities := into[page[shoal.Entity]](w.do(ann, "GET", base+"/entities", nil).wants(200))
	if len(entities.Items) != 2 || entities.Items[0].State != shoal.Connected || entities.Items[0].Kind != shoal.Human {
		t.Errorf("entities = %+v", entities.Items)
	}
	me := into[shoal.Entity](w.do(bot, "PATCH", base+"/entities/bot", `{"name": "Bot", "description": "answers", "metadata": {"v": 1}}`).wants(200))
	if me.Name != "Bot" || me.Description != "answers" || string(me.Metadata) != `{"v":1}` {
		t.Errorf("the entity after its PATCH = %+v", me)
	}

	space := into[shoal.Space](w.do(ann, "POST", base+"/spaces", `{"name": "Shopping", "members": ["bot"]}`).wants(201))
	if len(space.Members) != 2 || space.Members[0].EntityID != "ann" || space.LastSeq != 0 {
		t.Fatalf("the new space = %+v", space)
	}
	at := base + "/spaces/" + string(space.ID)

	asked := into[shoal.Message](w.do(ann, "POST", at+"/messages", `{"text": "Which laptops?", "mentions": ["bot", "bob"], "senderId": "ann", "triggerAgents": true}`).wants(201))
	if asked.Seq != 1 || asked.EntityID != "ann" || asked.Status != shoal.MessageCompleted || asked.Text() != "Which laptops?" ||
		!slices.Equal(asked.Mentions, []shoal.EntityID{"bot"}) || !slices.Equal(asked.DroppedMentions, []shoal.EntityID{"bob"}) {
		t.Errorf("the posted message = %+v", asked)
	}

	got := into[shoal.WaitResult](w.do(bot, "POST", base+"/entities/bot/wait", `{"kind": "mentions"}`).wants(200))
	if got.TimedOut || len(got.Items) != 1 || got.Items[0].Messages[0].ID != asked.ID || got.Items[0].Messages[0].Delivery != 1 ||
		got.Items[0].Messages[0].Reason != shoal.ReasonMention || got.Items[0].Space.ID != space.ID {
		t.Fatalf("the wait = %+v", got)
	}
	parts := `{"parts": [{"type": "text", "text": "Two:"}, {"type": "data", "name": "laptops", "data": [1, null]},
		{"type": "file", "name": "a.png", "mediaType": "image/png", "url": "https://shop.example/a.png", "size": 12}], "mentions": []}`
	reply := into[shoal.Message](w.do(bot, "POST", at+"/messages", parts).wants(201))
	if len(reply.Parts) != 3 || reply.Parts[0].ID != "prt_1" || string(reply.Parts[1].Data) != "[1,null]" || reply.Parts[2].Size != 12 {
		t.Errorf("the reply = %+v", reply)
	}

	read := into[shoal.Space](w.do(ann, "GET", at, nil).wants(200))
	if read.UnreadCount != 1 || read.MentionCount != 0 || read.LastSeq != 2 {
		t.Errorf("the space before it is read = %+v", read)
	}
	read = into[shoal.Space](w.do(ann, "POST", at+"/read", `{"seq": 2}`).wants(200))
	if read.UnreadCount != 0 {
		t.Errorf("the space after it is read = %+v", read)
	}

	renamed := into[shoal.Space](w.do(bot, "PATCH", at, `{"name": "Laptops"}`).wants(200))
	if renamed.Name != "Laptops" {
		t.Errorf("the space after its PATCH = %+v", renamed)
	}
	w.entity("default", "cam")
	joined := into[shoal.Space](w.do(ann, "PUT", at+"/members/cam", nil).wants(200))
	again := into[shoal.Space](w.do(ann, "PUT", at+"/members/cam", nil).wants(200))
	left := into[shoal.Space](w.do(ann, "DELETE", at+"/members/cam", nil).wants(200))
	if len(joined.Members) != 3 || len(again.Members) != 3 || len(left.Members) != 2 {
		t.Errorf("members: %v, %v, %v", joined.Members, again.Members, left.Members)
	}

	closed := into[shoal.Space](w.do(ann, "POST", at+"/close", `{"summary": "We buy two."}`).wants(200))
	if closed.Status != shoal.SpaceStatusClosed || *closed.Summary != "We buy two." || closed.LastSeq != 4 || closed.ClosedAt == nil {
		t.Errorf("the closed space = %+v", closed)
	}
	history := into[page[shoal.Message]](w.do(bot, "GET", at+"/messages", nil).wants(200))
	if len(history.Items) != 4 || history.Items[3].EntityID != shoal.System || history.Items[3].Text() != "Thread closed: We buy two." || history.NextCursor != nil {
		t.Errorf("the history = %+v", history)
	}
	w.do(bot, "POST", at+"/messages", `{"text": "too late"}`).refuses(shoal.SpaceClosed)
}

// A timeline is read from the end, from the beginning, and from anywhere, and
// the cursor goes on in the same direction.
func TestTimelinePages(t *testing.T) {
	w := newWorld(t)
	ann := w.entity("default", "ann")
	w.space(ann, "shop")
	for i := range 7 {
		w.post(ann, "shop", fmt.Sprint("message ", i+1))
	}
	messages := base + "/spaces/shop/messages"
	for query, want := range map[string]struct {
		seqs []int64
		next []int64 // the page of the cursor; nil if there must be no cursor
	}{
		"":                                {[]int64{1, 2, 3, 4, 5, 6, 7}, nil},
		"?limit=3":                        {[]int64{5, 6, 7}, []int64{2, 3, 4}},
		"?limit=7":                        {[]int64{1, 2, 3, 4, 5, 6, 7}, nil},
		"?limit=3&before=4":               {[]int64{1, 2, 3}, nil},
		"?limit=2&before=4":               {[]int64{2, 3}, []int64{1}},
		"?before=1":                       {[]int64{}, nil},
		"?before=0":                       {[]int64{}, nil},
		"?before=99999999999999999999999": {[]int64{1, 2, 3, 4, 5, 6, 7}, nil},
		"?limit=3&after=0":                {[]int64{1, 2, 3}, []int64{4, 5, 6}},
		"?limit=3&after=4":                {[]int64{5, 6, 7}, nil},
		"?limit=2&after=4":                {[]int64{5, 6}, []int64{7}},
		"?after=7":                        {[]int64{}, nil},
		"?limit=0&after=2":                {[]int64{3}, []int64{4}},
		"?limit=-5&after=2":               {[]int64{3}, []int64{4}},
		"?limit=100000&after=2":           {[]int64{3, 4, 5, 6, 7}, nil},
	} {
		got := into[page[shoal.Message]](w.do(ann, "GET", messages+query, nil).wants(200))
		if !slices.Equal(seqs(got.Items), want.seqs) || (got.NextCursor != nil) != (want.next != nil) {
			t.Errorf("%s = %v, more %v; want %v, more %v", query, seqs(got.Items), got.NextCursor != nil, want.seqs, want.next != nil)
			continue
		}
		if want.next == nil {
			continue
		}
		limit, _, _ := strings.Cut(strings.TrimPrefix(query, "?"), "&")
		got = into[page[shoal.Message]](w.do(ann, "GET", messages+"?cursor="+*got.NextCursor+"&"+limit, nil).wants(200))
		if !slices.Equal(seqs(got.Items), want.next) {
			t.Errorf("the page after %s = %v, want %v", query, seqs(got.Items), want.next)
		}
	}
}

func seqs(messages []shoal.Message) []int64 {
	out := []int64{}
	for _, m := range messages {
		out = append(out, m.Seq)
	}
	return out
}

// Every list ends with a null cursor, and its pages together hold everything
// once.
func TestListsArePaged(t *testing.T) {
	w := newWorld(t)
	ann := w.entity("default", "ann")
	for i := range 5 {
		w.do(w.admin, "POST", "/v1/sessions", shoal.NewSession{ID: shoal.SessionID(fmt.Sprint("s", i))}).wants(201)
		w.do(w.admin, "POST", base+"/entities", shoal.NewEntity{ID: shoal.EntityID(fmt.Sprint("e", i))}).wants(201)
		w.space(ann, fmt.Sprint("p", i))
		w.post(ann, fmt.Sprint("p", i), fmt.Sprint("needle ", i))
	}
	for path, want := range map[string]int{
		"/v1/sessions": 6, base + "/entities": 6, base + "/spaces": 5, "/v1/keys": 2, base + "/search?q=needle": 5,
	} {
		seen, cursor := map[string]bool{}, ""
		for pages := 0; ; pages++ {
			at := path + "?limit=2" + cursor
			if strings.Contains(path, "?") {
				at = path + "&limit=2" + cursor
			}
			got := into[page[map[string]any]](w.do(w.admin, "GET", at, nil).wants(200))
			for _, item := range got.Items {
				if m, ok := item["message"].(map[string]any); ok {
					item = m
				}
				seen[item["id"].(string)] = true
			}
			if got.NextCursor == nil {
				break
			}
			if len(got.Items) != 2 || pages > 5 {
				t.Fatalf("page %d of %s = %v", pages, path, got)
			}
			cursor = "&cursor=" + *got.NextCursor
		}
		if len(seen) != want {
			t.Errorf("the pages of %s hold %d different items, want %d", path, len(seen), want)
		}
	}
}

func TestSearch(t *testing.T) {
	w := newWorld(t)
	ann, bot := w.entity("default", "ann"), w.entity("default", "bot")
	w.space(ann, "shop", "bot")
	w.space(ann, "private")
	w.post(ann, "shop", "Red apples and green pears")
	w.post(bot, "shop", "no apples here")
	w.post(ann, "private", "secret apples")
	for query, want := range map[string]int{
		"?q=apples": 2, "?q=appl": 2, "?q=green+apples": 1, "?q=apples&kind=agent": 1, "?q=apples&space=shop": 2, "?q=apples&limit=1": 1, "?q=plums": 0,
	} {
		got := into[page[shoal.Hit]](w.do(bot, "GET", base+"/search"+query, nil).wants(200))
		if len(got.Items) != want {
			t.Errorf("%s finds %d, want %d: %+v", query, len(got.Items), want, got.Items)
		}
	}
	hit := into[page[shoal.Hit]](w.do(bot, "GET", base+"/search?q=pears", nil).wants(200)).Items[0]
	if at := hit.Matches[0]; hit.Highlight[at[0]:at[1]] != "pears" || hit.Space.Name != "shop" {
		t.Errorf("the hit = %+v", hit)
	}
}

func TestSessionsComeAndGo(t *testing.T) {
	w := newWorld(t)
	made := into[shoal.Session](w.do(w.admin, "POST", "/v1/sessions", nil).wants(201))
	if !strings.HasPrefix(string(made.ID), shoal.PrefixSession) || made.Status != shoal.SessionStatusOpen {
		t.Errorf("a session from no body = %+v", made)
	}
	w.do(w.admin, "POST", "/v1/sessions", `{"id": "s1", "name": "First"}`).wants(201)
	eve := w.entity("s1", "eve")
	w.do(eve, "GET", "/v1/sessions/s1", nil).wants(200)
	closed := into[shoal.Session](w.do(w.admin, "POST", "/v1/sessions/s1/close", nil).wants(200))
	if closed.Status != shoal.SessionStatusClosed || closed.ClosedAt == nil {
		t.Errorf("the closed session = %+v", closed)
	}
	w.do(eve, "POST", "/v1/sessions/s1/spaces", `{"name": "late"}`).refuses(shoal.SessionClosed)
	if gone := w.do(w.admin, "DELETE", "/v1/sessions/s1", nil).wants(204); len(gone.body) != 0 {
		t.Errorf("204 has the body %s", gone.body)
	}
	w.do(eve, "GET", "/v1/sessions/s1", nil).refuses(shoal.Unauthenticated)
	w.do(w.admin, "POST", "/v1/sessions", `{"id": "s1"}`).refuses(shoal.AlreadyExists)
	w.do(w.admin, "DELETE", "/v1/sessions/default", nil).refuses(shoal.Conflict)
}

func TestKeysAreShownOnceAndRevocable(t *testing.T) {
	w := newWorld(t)
	made := into[shoal.Key](w.do(w.admin, "POST", "/v1/keys", `{"role": "entity", "entityId": "ann", "kind": "human", "expiresAt": "2999-01-01T00:00:00Z"}`).wants(201))
	if made.Secret == nil || *made.SessionID != "default" || *made.EntityID != "ann" || made.ExpiresAt.String() != "2999-01-01T00:00:00.000Z" {
		t.Fatalf("the new key = %+v", made)
	}
	listed := w.do(w.admin, "GET", "/v1/keys", nil).wants(200)
	if strings.Contains(string(listed.body), *made.Secret) {
		t.Error("the list of keys holds a secret")
	}
	ann := into[shoal.Entity](w.do(*made.Secret, "GET", base+"/entities/ann", nil).wants(200))
	if ann.Kind != shoal.Human {
		t.Errorf("the entity that came with its key = %+v", ann)
	}
	w.do(w.admin, "DELETE", "/v1/keys/"+string(made.ID), nil).wants(204)
	refused := w.do(*made.Secret, "GET", base+"/entities/ann", nil)
	refused.refuses(shoal.Unauthenticated)
	if refused.header.Get("WWW-Authenticate") == "" {
		t.Error("401 has no WWW-Authenticate")
	}
	w.do(w.admin, "DELETE", "/v1/keys/"+string(made.ID), nil).refuses(shoal.NotFound)
	if strings.Contains(w.log.String(), *made.Secret) || strings.Contains(w.log.String(), w.admin) {
		t.Error("the log holds a secret")
	}
}

func TestDeletedEntity(t *testing.T) {
	w := newWorld(t)
	ann, bot := w.entity("default", "ann"), w.entity("default", "bot")
	w.space(ann, "shop", "bot")
	w.post(bot, "shop", "I was here")
	w.do(w.admin, "DELETE", base+"/entities/bot", nil).wants(204)
	w.do(bot, "GET", base+"/entities/bot", nil).refuses(shoal.Unauthenticated)
	w.do(ann, "GET", base+"/entities/bot", nil).refuses(shoal.NotFound)
	kept := into[page[shoal.Message]](w.do(ann, "GET", base+"/spaces/shop/messages", nil).wants(200))
	if len(kept.Items) != 1 || kept.Items[0].EntityID != "bot" {
		t.Errorf("the messages of a deleted entity = %+v", kept.Items)
	}
}

// An admin acts as whom it names, and as nobody otherwise.
func TestAdminActsAsANamedEntity(t *testing.T) {
	w := newWorld(t)
	ann := w.entity("default", "ann")
	w.space(ann, "shop")
	posted := into[shoal.Message](w.do(w.admin, "POST", base+"/spaces/shop/messages", `{"text": "as ann"}`, "X-Shoal-Entity", "ann").wants(201))
	if posted.EntityID != "ann" {
		t.Errorf("the message is of %q", posted.EntityID)
	}
	w.do(w.admin, "POST", base+"/spaces/shop/messages", `{"text": "as nobody"}`).refuses(shoal.EntityRequired)
	w.do(w.admin, "POST", base+"/entities/ann/wait", `{"kind": "mentions", "timeoutMs": 0}`).refuses(shoal.EntityRequired)
	w.do(w.admin, "POST", base+"/entities/ann/wait", `{"kind": "mentions", "timeoutMs": 0}`, "X-Shoal-Entity", "ann").wants(200)
	w.do(w.admin, "GET", base+"/spaces/shop", nil).wants(200)
}

func TestHealth(t *testing.T) {
	var broken error
	w := newWorld(t, func(o *Options) { o.Ready = func() error { return broken } })
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := into[health](w.do("", "GET", path, nil).wants(200)); got.Version != "test" {
			t.Errorf("%s = %+v", path, got)
		}
		if a := w.do("", http.MethodHead, path, nil).wants(200); len(a.body) != 0 {
			t.Errorf("HEAD %s has the body %s", path, a.body)
		}
	}
	broken = shoal.Busy
	if a := w.do("", "GET", "/readyz", nil); a.header.Get("Retry-After") == "" || a.refuses(shoal.Busy).Code == "" {
		t.Errorf("a server that is not ready answers without Retry-After: %v", a.header)
	}
	w.do("", "GET", "/healthz", nil).wants(200)
}
