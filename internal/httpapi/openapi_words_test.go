package httpapi

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shoal-dev/shoal"
)

// The words of the OpenAPI document that are not in the table of routes.

const apiWords = "Shoal is a place where agents and people talk: spaces with members and one ordered timeline each, inboxes that lose nothing, and streams of what happens.\n\n" +
	"Every call carries a key (`Authorization: Bearer KEY`), and the key decides who is calling. An admin names the acting entity with the header `X-Shoal-Entity`. " +
	"What is in another session, or in a space that one is not in, answers 404, as if it did not exist.\n\n" +
	"Fields are camelCase and always present, null when empty; times are RFC 3339 in UTC with milliseconds. Lists answer `{items, nextCursor}` and go on with `?cursor=`. " +
	"Errors are problem documents (RFC 9457) whose `code` says what is wrong. A call that creates something takes an `Idempotency-Key`: repeated with the same body it gives the first answer again. " +
	"An error 5xx or a broken connection means that the outcome is unknown: repeat the call with the same key."

// tagWords are the groups of operations, in the order of the reference.
var tagWords = [][2]string{
	{"Sessions", "The isolation boundary: entities, spaces and keys belong to exactly one session, and nothing crosses it. The session `default` always exists."},
	{"Entities", "The participants of a session, people and agents. An entity's id is its @handle."},
	{"Spaces", "Conversations with members and one timeline. MCP calls them threads."},
	{"Messages", "The entries of a timeline, in the order of `seq`: 1, 2, 3 … without gaps."},
	{"Inbox", "What an entity has not acknowledged yet, in an order of its own. Nothing is ever erased by reading."},
	{"Events", "What happens, as server-sent events."},
	{"Keys", "Credentials. They are stored hashed and shown once."},
	{"Server", "Health and documentation."},
}

// sharedParams are the parameters that many operations take.
func sharedParams() map[string]*huma.Param {
	text := &huma.Schema{Type: "string"}
	id := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "path", Required: true, Description: about, Schema: text}
	}
	header := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: about, Schema: text}
	}
	return map[string]*huma.Param{
		"session":         id("session", "The id of a session, such as `default`."),
		"entity":          id("entity", "The id of an entity."),
		"space":           id("space", "The id of a space."),
		"key":             id("key", "The id of a key."),
		"X-Shoal-Entity":  header("X-Shoal-Entity", "As whom an admin acts. Everybody else may only name itself."),
		"Idempotency-Key": header("Idempotency-Key", "Any string of up to 255 visible ASCII characters that names this call, so that repeating it does no harm."),
		"Last-Event-ID":   header("Last-Event-ID", "The `id` of the last event that was received."),
	}
}

// eventTypes are what the data of an event can be.
var eventTypes = []reflect.Type{
	reflect.TypeFor[shoal.SnapshotData](), reflect.TypeFor[shoal.SnapshotEndData](), reflect.TypeFor[shoal.MessageData](),
	reflect.TypeFor[shoal.MemberData](), reflect.TypeFor[shoal.SpaceData](), reflect.TypeFor[shoal.EntityData](),
}

// enums are the values of closed string types.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[shoal.EntityKind]():    {shoal.Human, shoal.Agent},
	reflect.TypeFor[shoal.State]():         {shoal.Waiting, shoal.Running, shoal.Connected, shoal.Offline},
	reflect.TypeFor[shoal.SessionStatus](): {shoal.SessionOpen, shoal.SessionShut},
	reflect.TypeFor[shoal.SpaceStatus]():   {shoal.SpaceOpen, shoal.SpaceShut},
	reflect.TypeFor[shoal.MessageStatus](): {shoal.MessageStreaming, shoal.MessageCompleted, shoal.MessageFailed, shoal.MessageCanceled},
	reflect.TypeFor[shoal.PartStatus]():    {shoal.PartStreaming, shoal.PartDone, shoal.PartInterrupted},
	reflect.TypeFor[shoal.Role]():          {shoal.RoleAdmin, shoal.RoleService, shoal.RoleEntity},
	reflect.TypeFor[shoal.WaitKind]():      {shoal.WaitMentions, shoal.WaitMessages},
	reflect.TypeFor[shoal.Reason]():        {shoal.ReasonMention, shoal.ReasonSystem, shoal.ReasonMessage},
}

// eventEnums are the types of events that have the same data.
var eventEnums = map[string][]any{
	"SnapshotData":    {shoal.EventSnapshot},
	"SnapshotEndData": {shoal.EventSnapshotEnd},
	"MessageData":     {shoal.EventMessageCreated},
	"MemberData":      {shoal.EventMemberJoined, shoal.EventMemberLeft},
	"SpaceData":       {shoal.EventSpaceUpdated, shoal.EventSpaceClosed},
	"EntityData":      {shoal.EventEntityUpdated},
}

// examples show what the main shapes look like.
var examples = func() map[string]any {
	at := shoal.At(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	ann := shoal.Member{EntityID: "ann", Kind: shoal.Human, Name: "Ann", JoinedAt: at}
	message := shoal.Message{
		ID: "msg_0e2f6hyd2n5jwq8c1p0zva", SessionID: "default", SpaceID: "shop", Seq: 12, EntityID: "ann", Status: shoal.MessageCompleted,
		Mentions: []shoal.EntityID{"shop-agent"}, DroppedMentions: []shoal.EntityID{}, CreatedAt: at, UpdatedAt: at,
		Parts: []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: "Which laptops are there?", Status: shoal.PartDone}},
	}
	cursor := "in:k3x9:41:mentions::"
	return map[string]any{
		"Session": shoal.Session{ID: "default", Name: "default", Status: shoal.SessionOpen, CreatedAt: at},
		"Entity": shoal.Entity{
			ID: "ann", SessionID: "default", Kind: shoal.Human, Name: "Ann", State: shoal.Connected, LastSeenAt: &at,
			Metadata: json.RawMessage("{}"), CreatedAt: at,
		},
		"Space": shoal.Space{
			ID: "shop", SessionID: "default", Name: "Shopping", Status: shoal.SpaceOpen, Metadata: json.RawMessage("{}"),
			Members: []shoal.Member{ann}, LastSeq: 12, UnreadCount: 1, CreatedAt: at,
		},
		"Message": message,
		"WaitResult": shoal.WaitResult{
			Items: []shoal.WaitItem{{
				Space:    shoal.SpaceRef{ID: "shop", Name: "Shopping", Status: shoal.SpaceOpen},
				Messages: []shoal.InboxMessage{{Message: message, Delivery: 1, Reason: shoal.ReasonMention}},
			}},
			Cursor: &cursor, TimeoutMs: 30000,
		},
		"Problem": problem{
			Type: "about:blank", Title: "Unprocessable Entity", Status: 422, Detail: "name is missing", Code: shoal.InvalidArgument,
			Errors: []shoal.FieldError{{Location: "body.name", Message: "is missing"}},
		},
	}
}()

// typeWords describe the schemas.
var typeWords = map[string]string{
	"Session":         "The isolation boundary. A closed session can be read; nothing in it changes any more.",
	"Entity":          "A participant of a session, with what it is doing now.",
	"Space":           "A conversation: members and one timeline. The counts are those of the reader, 0 for a reader that is no entity.",
	"Member":          "An entity in a space.",
	"Message":         "One entry of a timeline. A posted message is completed at once.",
	"Part":            "One piece of a message.",
	"TextPart":        "Text.",
	"FilePart":        "A file that lies elsewhere.",
	"DataPart":        "Any JSON value under a name.",
	"NewPart":         "A part to post.",
	"NewTextPart":     "Text to post.",
	"NewFilePart":     "A file that lies elsewhere.",
	"NewDataPart":     "Any JSON value under a name.",
	"Key":             "A credential.",
	"Caller":          "Who a caller is: what its key proves, and the acting entity.",
	"Hit":             "One result of a search.",
	"SpaceRef":        "A space by name.",
	"WaitResult":      "What a wait answers: at most 100 messages. A time-out has no items, no cursor, and `timedOut: true`.",
	"WaitItem":        "The messages of one space, in the order of the inbox.",
	"InboxMessage":    "A message, with why it is in the inbox and how often it was delivered.",
	"Problem":         "An error (RFC 9457). Programs look at `code`.",
	"FieldError":      "One wrong field.",
	"Health":          "How the server is.",
	"NewSession":      "A session to create.",
	"NewEntity":       "An entity to create.",
	"EntityChange":    "What to change; the rest stays as it is.",
	"NewSpace":        "A space to create.",
	"SpaceChange":     "What to change; the rest stays as it is.",
	"CloseInput":      "How a space is closed.",
	"ReadInput":       "How far a space was read.",
	"MessageInput":    "A message to post: `text`, or `parts`.",
	"WaitInput":       "What to wait for.",
	"NewKey":          "A key to mint.",
	"SessionPage":     "A page of sessions.",
	"EntityPage":      "A page of entities.",
	"SpacePage":       "A page of spaces.",
	"MessagePage":     "A page of a timeline.",
	"HitPage":         "A page of hits.",
	"KeyPage":         "A page of keys.",
	"SnapshotData":    "`snapshot`: a space as it is, its newest 50 messages, and the cursor from which the following events go on.",
	"SnapshotEndData": "`snapshot.end`: every space had its snapshot.",
	"MessageData":     "`message.created`: somebody posted.",
	"MemberData":      "`member.joined` and `member.left`.",
	"SpaceData":       "`space.updated` and `space.closed`. The counts in it are 0: they differ from reader to reader.",
	"EntityData":      "`entity.updated`: what an entity is doing has changed. Told at most once a second; it passes by and has no `id`.",
}

// fieldWords describe properties, by their name or by schema and name.
var fieldWords = map[string]string{
	"nextCursor":                 "Where the next page begins; null on the last one.",
	"kind":                       "`human` or `agent`.",
	"externalId":                 "Who this is in the operator's identity provider.",
	"metadata":                   "Any JSON object of the caller's.",
	"adminAgentId":               "The agent that answers when nobody is mentioned.",
	"mentions":                   "Whom the message is for. The server never parses text.",
	"Message.droppedMentions":    "Who was mentioned and is no member.",
	"Message.seq":                "The place in the timeline.",
	"Message.entityId":           "Who posted it; `system` for the server.",
	"Message.runId":              "The run that composed it, if any.",
	"Entity.hosted":              "Whether the server runs its model.",
	"Entity.state":               "`waiting` while a wait is open, `connected` with a stream or a call in the last minute.",
	"Entity.waitEndsAt":          "When its open wait ends at the latest.",
	"Space.lastSeq":              "The place of the newest message.",
	"Space.unreadCount":          "How many messages of it the reader has not acknowledged.",
	"Space.mentionCount":         "How many of those mention the reader.",
	"Space.summary":              "What was said when it was closed.",
	"NewSpace.id":                "A readable id; generated if left out. Ids are never used again.",
	"NewSpace.members":           "Who is in it besides the caller.",
	"NewSession.id":              "A readable id; generated if left out.",
	"NewEntity.id":               "The @handle.",
	"NewKey.role":                "What the key allows: everything, one session's programs, or acting as one entity.",
	"NewKey.entityId":            "Whom a key of role `entity` acts as.",
	"NewKey.expiresAt":           "When it stops working; never if left out.",
	"Key.key":                    "The secret, in the one answer that creates the key.",
	"WaitInput.kind":             "`mentions` (and system messages) or `messages` (everything others post).",
	"WaitInput.timeoutMs":        "How long to wait, clamped to 0…600000.",
	"WaitInput.spaceId":          "Only this space.",
	"WaitInput.from":             "Only these senders, and the system.",
	"WaitInput.ack":              "The cursor of an earlier answer: exactly that is acknowledged when the call is accepted.",
	"WaitInput.redeliver":        "Give the previous answer again instead of taking it as acknowledged.",
	"WaitInput.entityId":         "May repeat whose inbox it is.",
	"WaitResult.cursor":          "Hand it back as `ack`.",
	"WaitResult.timeoutMs":       "The time-out that held.",
	"InboxMessage.delivery":      "In how many answers it was, this one included.",
	"MessageInput.text":          "The text; short for one text part.",
	"MessageInput.parts":         "Text, file and data parts, in order.",
	"MessageInput.senderId":      "May repeat who is calling.",
	"MessageInput.triggerAgents": "Whether hosted agents react to it.",
	"CloseInput.summary":         "What came out of the conversation.",
	"ReadInput.seq":              "The place of the last message that was read.",
	"Hit.highlight":              "A piece of the message's text.",
	"Hit.matches":                "Byte ranges in `highlight` that match.",
	"Problem.code":               "What is wrong, for programs.",
	"Problem.detail":             "What is wrong and what to do, for people.",
	"Problem.errors":             "Every wrong field.",
	"FieldError.location":        "Where, such as `body.parts[2].text`.",
	"cursor":                     "Where to resume.",
}
