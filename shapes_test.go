package shoal_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

var (
	moment = shoal.At(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	later  = shoal.At(moment.Add(time.Minute))
)

// The shapes of the contract, full and as empty as they get: every field is
// there, null where it is empty.
func TestShapes(t *testing.T) {
	const at, then = `"2026-11-20T10:00:00.000Z"`, `"2026-11-20T10:01:00.000Z"`
	message := shoal.Message{
		ID: "msg_123", SessionID: "default", SpaceID: "shop", Seq: 12, EntityID: "shop-agent", RunID: ref(shoal.RunID("run_abc")),
		Status: shoal.MessageStreaming, Mentions: []shoal.EntityID{"ann"}, DroppedMentions: []shoal.EntityID{"zoe"}, OnBehalfOf: []shoal.EntityID{"ann"}, Reactions: []shoal.Reaction{}, CreatedAt: moment, UpdatedAt: later,
		Parts: []shoal.Part{
			{ID: "prt_1", Type: shoal.TextPart, Text: "Here are some laptops:", Status: shoal.PartStreaming},
			{ID: "prt_3", Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", Size: 1234, URL: "https://x.example/a.png"},
			{ID: "prt_4", Type: shoal.DataPart, Name: "chart", Data: json.RawMessage(`{"a": [1]}`)},
		},
	}
	const messageJSON = `{"id":"msg_123","sessionId":"default","spaceId":"shop","seq":12,"entityId":"shop-agent","runId":"run_abc","status":"streaming",
		"mentions":["ann"],"droppedMentions":["zoe"],"createdAt":` + at + `,"updatedAt":` + then + `,
		"parts":[{"id":"prt_1","type":"text","text":"Here are some laptops:","status":"streaming"},
		{"id":"prt_3","type":"file","name":"a.png","mediaType":"image/png","size":1234,"url":"https://x.example/a.png"},
		{"id":"prt_4","type":"data","name":"chart","data":{"a":[1]}}],"onBehalfOf":["ann"],"replyTo":null,"reactions":[],"deletedAt":null,"editedAt":null`
	space := shoal.Space{
		ID: "shop", SessionID: "default", Name: "Shopping", Status: shoal.SpaceStatusClosed, Summary: ref("done"), AdminAgentID: ref(shoal.EntityID("shop-agent")),
		ShowAgentReasoning: true, Metadata: json.RawMessage(`{}`), LastSeq: 12, UnreadCount: 2, MentionCount: 1, FirstUnreadSeq: 11, CreatedAt: moment, ClosedAt: &later,
		Members: []shoal.Member{{EntityID: "ann", Kind: shoal.Human, Name: "Ann", JoinedAt: moment}}, MemberCount: 1,
	}
	const spaceJSON = `{"id":"shop","sessionId":"default","name":"Shopping","status":"closed","summary":"done","ownerId":null,"adminAgentId":"shop-agent","showAgentReasoning":true,
		"metadata":{},"members":[{"entityId":"ann","kind":"human","name":"Ann","joinedAt":` + at + `,"addedBy":null}],"memberCount":1,"lastSeq":12,"unreadCount":2,"mentionCount":1,"firstUnreadSeq":11,"muted":false,
		"createdAt":` + at + `,"closedAt":` + then + `}`
	boss := shoal.EntityID("boss")
	entity := shoal.Entity{
		SessionRole: shoal.SessionOwner, OwnerID: &boss,
		ID: "ann", SessionID: "default", Kind: shoal.Human, Hosted: true, Name: "Ann", Description: "d", ExternalID: ref("x"), State: shoal.Waiting,
		WaitEndsAt: &later, LastSeenAt: &moment, Metadata: json.RawMessage(`{"a":1}`), CreatedAt: moment,
	}
	const entityJSON = `{"id":"ann","sessionId":"default","kind":"human","sessionRole":"owner","ownerId":"boss","hosted":true,"name":"Ann","description":"d","externalId":"x","state":"waiting",
		"waitEndsAt":` + then + `,"lastSeenAt":` + at + `,"lastFailure":null,"stalledSince":null,"wake":null,"metadata":{"a":1},"createdAt":` + at + `}`
	head := shoal.EventHead{Type: shoal.EventMessageCreated, SpaceID: ref(shoal.SpaceID("shop")), At: moment}
	where := shoal.SpaceRef{ID: "shop", Name: "Shopping", Status: shoal.SpaceStatusOpen}

	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"session": {
			shoal.Session{ID: "default", Name: "default", Status: shoal.SessionStatusOpen, CreatedAt: moment},
			`{"id":"default","name":"default","status":"open","limits":{"maxCostPerRequest":0,"maxTokensPerRequest":0},"spaceRights":"","retention":{"messagesForMs":0,"runsForMs":0,"promptsForMs":0},"createdAt":` + at + `,"closedAt":null}`,
		},
		"closed session": {
			shoal.Session{ID: "lab", Name: "Lab", Status: shoal.SessionStatusClosed, Limits: shoal.Limits{MaxCostPerRequest: 2.5, MaxTokensPerRequest: 7}, CreatedAt: moment, ClosedAt: &later},
			`{"id":"lab","name":"Lab","status":"closed","limits":{"maxCostPerRequest":2.5,"maxTokensPerRequest":7},"spaceRights":"","retention":{"messagesForMs":0,"runsForMs":0,"promptsForMs":0},"createdAt":` + at + `,"closedAt":` + then + `}`,
		},
		"entity": {entity, entityJSON},
		"empty entity": {
			shoal.Entity{
				ID: "bot", SessionID: "default", Kind: shoal.Agent, SessionRole: shoal.SessionMember, State: shoal.Offline, CreatedAt: moment,
				Wake: &shoal.Wake{State: shoal.ReachWakeable, Via: ref("runner"), Runner: ref("ada-mbp"), Until: &later, Text: "will be woken (runner ada-mbp)"},
			},
			`{"id":"bot","sessionId":"default","kind":"agent","sessionRole":"member","ownerId":null,"hosted":false,"name":"","description":"","externalId":null,"state":"offline",
			"waitEndsAt":null,"lastSeenAt":null,"lastFailure":null,"stalledSince":null,"wake":{"state":"wakeable","via":"runner","harness":null,"runner":"ada-mbp","since":null,"until":"2026-11-20T10:01:00.000Z","lastSeenAt":null,"reason":"","text":"will be woken (runner ada-mbp)","proof":null},"metadata":null,"createdAt":` + at + `}`,
		},
		"space": {space, spaceJSON},
		"empty space": {
			shoal.Space{ID: "shop", SessionID: "default", Name: "Shop", Status: shoal.SpaceStatusOpen, Members: []shoal.Member{}, CreatedAt: moment},
			`{"id":"shop","sessionId":"default","name":"Shop","status":"open","summary":null,"ownerId":null,"adminAgentId":null,"showAgentReasoning":false,
			"metadata":null,"members":[],"memberCount":0,"lastSeq":0,"unreadCount":0,"mentionCount":0,"firstUnreadSeq":0,"muted":false,"createdAt":` + at + `,"closedAt":null}`,
		},
		"message": {message, messageJSON + `}`},
		"empty message": {
			shoal.Message{ID: "msg_1", Status: shoal.MessageCanceled, Mentions: []shoal.EntityID{}, DroppedMentions: []shoal.EntityID{}, OnBehalfOf: []shoal.EntityID{}, Reactions: []shoal.Reaction{}, Parts: []shoal.Part{}, CreatedAt: moment, UpdatedAt: moment},
			`{"id":"msg_1","sessionId":"","spaceId":"","seq":0,"entityId":"","runId":null,"status":"canceled","mentions":[],"droppedMentions":[],
			"createdAt":` + at + `,"updatedAt":` + at + `,"parts":[],"onBehalfOf":[],"replyTo":null,"reactions":[],"deletedAt":null,"editedAt":null}`,
		},
		"key, once": {
			shoal.Key{
				ID: "key_1", Secret: ref("shoal_s"), Role: shoal.RoleEntity, SessionID: ref(shoal.DefaultSession), EntityID: ref(shoal.EntityID("ann")),
				Name: "laptop", CreatedAt: moment, ExpiresAt: &later, Scopes: []string{"read"}, RenewForMs: ref(int64(60_000)), ReplacedBy: ref(shoal.KeyID("key_2")), LastUsedAt: &later, Address: ref("192.0.2.1"), Device: ref("Firefox on Linux"),
			},
			`{"id":"key_1","key":"shoal_s","role":"entity","sessionId":"default","entityId":"ann","name":"laptop","createdAt":` + at + `,"expiresAt":` + then + `,"scopes":["read"],"renewForMs":60000,"replacedBy":"key_2","lastUsedAt":` + then + `,"lastAddress":"192.0.2.1","device":"Firefox on Linux"}`,
		},
		"key": {
			shoal.Key{ID: "key_1", Role: shoal.RoleAdmin, Name: "admin", CreatedAt: moment, Scopes: []string{}},
			`{"id":"key_1","key":null,"role":"admin","sessionId":null,"entityId":null,"name":"admin","createdAt":` + at + `,"expiresAt":null,"scopes":[],"renewForMs":null,"replacedBy":null,"lastUsedAt":null,"lastAddress":null,"device":null}`,
		},
		"console link": {
			shoal.ConsoleLink{URL: "http://127.0.0.1:7462/#login=c", ExpiresAt: &later},
			`{"url":"http://127.0.0.1:7462/#login=c","expiresAt":` + then + `}`,
		},
		"signed url":           {shoal.SignedURL{URL: "/v1/sessions/default/files/fil_1?signed=s", ExpiresAt: &later}, `{"url":"/v1/sessions/default/files/fil_1?signed=s","expiresAt":` + then + `}`},
		"endless console link": {shoal.ConsoleLink{URL: "http://127.0.0.1:7462/"}, `{"url":"http://127.0.0.1:7462/","expiresAt":null}`},
		"renderer": {
			shoal.Renderer{Name: "card", Version: 2, Hash: "h", Size: 3, URL: shoal.RendererPath("default", "card", 2), CreatedAt: moment},
			`{"name":"card","version":2,"hash":"h","size":3,"url":"/console/renderers/default/card/2","createdAt":` + at + `}`,
		},
		"wait": {
			shoal.WaitResult{
				Items:  []shoal.WaitItem{{Space: where, Messages: []shoal.InboxMessage{{Message: message, Delivery: 2, Reason: shoal.ReasonMention}}}},
				Cursor: ref("in:1"), TimeoutMs: 30000,
			},
			`{"items":[{"space":{"id":"shop","name":"Shopping","status":"open"},"messages":[` + messageJSON + `,"delivery":2,"reason":"mention"}]}],
			"cursor":"in:1","timedOut":false,"timeoutMs":30000,"failed":null}`,
		},
		"time-out": {
			shoal.WaitResult{Items: []shoal.WaitItem{}, TimedOut: true, TimeoutMs: 1},
			`{"items":[],"cursor":null,"timedOut":true,"timeoutMs":1,"failed":null}`,
		},
		"hit": {
			shoal.Hit{Space: where, Message: message, Highlight: "laptops", Matches: [][2]int{{0, 7}}},
			`{"space":{"id":"shop","name":"Shopping","status":"open"},"message":` + messageJSON + `},"highlight":"laptops","matches":[[0,7]]}`,
		},
		"field error": {shoal.FieldError{Location: "body.id", Message: "is missing"}, `{"location":"body.id","message":"is missing"}`},
		"snapshot": {
			shoal.SnapshotData{EventHead: head, Space: space, Members: space.Members, Messages: []shoal.Message{}, Cursor: "e.1"},
			`{"type":"message.created","spaceId":"shop","runId":null,"at":` + at + `,"space":` + spaceJSON + `,
			"members":[{"entityId":"ann","kind":"human","name":"Ann","joinedAt":` + at + `,"addedBy":null}],"messages":[],"cursor":"e.1"}`,
		},
		"snapshot.end":    {shoal.SnapshotEndData{EventHead: shoal.EventHead{Type: shoal.EventSnapshotEnd, At: moment}, Cursor: "e.1"}, `{"type":"snapshot.end","spaceId":null,"runId":null,"at":` + at + `,"cursor":"e.1"}`},
		"message.created": {shoal.MessageData{EventHead: head, Message: message}, `{"type":"message.created","spaceId":"shop","runId":null,"at":` + at + `,"message":` + messageJSON + `}}`},
		"member.joined":   {shoal.MemberData{EventHead: head, Member: space.Members[0], MemberCount: 120}, `{"type":"message.created","spaceId":"shop","runId":null,"at":` + at + `,"member":{"entityId":"ann","kind":"human","name":"Ann","joinedAt":` + at + `,"addedBy":null},"memberCount":120}`},
		"space.updated":   {shoal.SpaceData{EventHead: head, Space: space}, `{"type":"message.created","spaceId":"shop","runId":null,"at":` + at + `,"space":` + spaceJSON + `}`},
		"entity.updated":  {shoal.EntityData{EventHead: head, Entity: entity}, `{"type":"message.created","spaceId":"shop","runId":null,"at":` + at + `,"entity":` + entityJSON + `}`},
	} {
		var got bytes.Buffer
		encoder := json.NewEncoder(&got)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(c.value); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(c.want)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.String() != want.String()+"\n" {
			t.Errorf("%s is\n%s\nwant\n%s", name, got.String(), want.String())
		}
	}
}

// A part has exactly the fields of its type, and comes back as it was.
func TestPartJSON(t *testing.T) {
	for _, p := range []shoal.Part{
		shoal.Text("hello"),
		{ID: "prt_1", Type: shoal.TextPart, Text: "cut", Status: shoal.PartInterrupted},
		{ID: "prt_2", Type: shoal.FilePart, Name: "a", MediaType: "b/c", URL: "https://x", Size: 1 << 40},
		{ID: "prt_3", Type: shoal.DataPart, Name: "d", Data: json.RawMessage(`[1,"x",null]`)},
	} {
		encoded, err := json.Marshal(p)
		var back shoal.Part
		if err == nil {
			err = json.Unmarshal(encoded, &back)
		}
		if err != nil || !equal(p, back) {
			t.Errorf("%+v is %s and comes back as %+v, %v", p, encoded, back, err)
		}
	}
	if _, err := json.Marshal(shoal.Part{Type: "video"}); err == nil {
		t.Error("a part of an unknown type is encoded")
	}
	var p shoal.Part
	if err := json.Unmarshal([]byte(`{"type":"text","text":"x","later":"field"}`), &p); err != nil || p.Text != "x" {
		t.Errorf("with a field of a later version: %+v, %v", p, err)
	}
}

func equal(a, b shoal.Part) bool {
	sameData := slices.Equal(a.Data, b.Data)
	a.Data, b.Data = nil, nil
	return sameData && a.ID == b.ID && a.Type == b.Type && a.Text == b.Text && a.Status == b.Status && a.Name == b.Name &&
		a.MediaType == b.MediaType && a.Size == b.Size && a.URL == b.URL
}

func TestMessageText(t *testing.T) {
	for want, parts := range map[string][]shoal.Part{
		"":           nil,
		"one":        {shoal.Text("one")},
		"one\n\ntwo": {shoal.Text("one"), {Type: shoal.DataPart, Name: "d", Data: json.RawMessage(`1`)}, shoal.Text("two")},
	} {
		if got := (shoal.Message{Parts: parts}).Text(); got != want {
			t.Errorf("the text of %v is %q, want %q", parts, got, want)
		}
	}
}

// Whatever is read as a draft and found valid can be written, and reads the same
// again.
func FuzzDraft(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"parts":[{"type":"text","text":"hi"}],"mentions":["bot"]}`, `{"parts":[{"type":"data","name":"d","data":{"a":[1]}}]}`,
		`{"parts":[{"type":"file","name":"a","mediaType":"b","url":"https://x","size":1}]}`, `{"parts":[{"type":"text","text":"\ud800"}]}`, `{"parts":null}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d shoal.Draft
		if json.Unmarshal(raw, &d) != nil || d.Validate() != nil {
			return
		}
		encoded, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("a valid draft is not written: %v", err)
		}
		var back shoal.Draft
		if err := json.Unmarshal(encoded, &back); err != nil {
			t.Fatalf("%s: %v", encoded, err)
		}
		if err := back.Validate(); err != nil {
			t.Errorf("%s is valid, and not when it is read again: %v", encoded, err)
		}
		again, err := json.Marshal(back)
		if err != nil || !bytes.Equal(again, encoded) {
			t.Errorf("%s comes back as %s, %v", encoded, again, err)
		}
	})
}
