package storage

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
)

// RecordType is one of the nouns of which an export consists, one record a line.
type RecordType struct {
	// Name is the line's "type".
	Name   string
	Fields []RecordField
	// Key are the fields that name a record of the type in its session; none where
	// nothing refers to it.
	Key []string
	// Refs are the records that a record refers to. They stand in front of it.
	Refs []RecordRef
}

// RecordField is a field of a record. Every line that is written has
// every field of its type.
type RecordField struct {
	Name string
	Kind RecordKind
	Null bool     // null is a value of it
	Of   []string // what it may be, if not everything
	// Links says that the field may name files of the session by their path, which
	// holds the session's id.
	Links bool
	// Absent is the JSON that stands for a field which a line does not have; nil where
	// every line has it.
	Absent json.RawMessage
	// Check tells why JSON could not be read later; nil takes all.
	Check func(json.RawMessage) error

	Bound RecordBound
}

// RecordRef says that the values of Fields are the key of a record of the type To.
// Nothing is referred to where one of them is null or empty, or the system.
type RecordRef struct {
	To     string
	Fields []string
}

// RecordKind says what the values of a field are, in Go and in an export.
type RecordKind int

// The kinds of fields. A null is nil.
const (
	RecordID    RecordKind = iota // string; an id
	RecordText                    // string
	RecordLine                    // string without control characters
	RecordInt                     // int64
	RecordReal                    // float64
	RecordBool                    // bool
	RecordTime                    // shoal.Time; RFC 3339 with microseconds
	RecordIDs                     // []shoal.EntityID; a list of ids, never null
	RecordJSON                    // json.RawMessage; any JSON
	RecordBytes                   // []byte; base64
)

// reads checks that JSON can be read as a T.
func reads[T any](raw json.RawMessage) error {
	var v T
	return json.Unmarshal(raw, &v)
}

// Fields in short.
func id(name string) RecordField { return RecordField{Name: name, Kind: RecordID} }

func idOrNull(name string) RecordField { return RecordField{Name: name, Kind: RecordID, Null: true} }

func text(name string) RecordField { return RecordField{Name: name, Kind: RecordText} }

func textOrNull(name string) RecordField {
	return RecordField{Name: name, Kind: RecordText, Null: true}
}

func nameLine() RecordField { return RecordField{Name: "name", Kind: RecordLine} }

func count(name string) RecordField { return RecordField{Name: name, Kind: RecordInt} }

func truth(name string) RecordField { return RecordField{Name: name, Kind: RecordBool} }

func momentOf(name string) RecordField { return RecordField{Name: name, Kind: RecordTime} }

func momentOr0(name string) RecordField { return RecordField{Name: name, Kind: RecordTime, Null: true} }

func idList(name string) RecordField { return RecordField{Name: name, Kind: RecordIDs} }

func oneOf[T ~string](name string, of ...T) RecordField {
	f := RecordField{Name: name, Kind: RecordText}
	for _, v := range of {
		f.Of = append(f.Of, string(v))
	}
	return f
}

func jsonAs[T any](name string) RecordField {
	return RecordField{Name: name, Kind: RecordJSON, Check: reads[T]}
}

func jsonOrNull[T any](name string) RecordField {
	return RecordField{Name: name, Kind: RecordJSON, Null: true, Check: reads[T]}
}

func actingFor() RecordField { return since(jsonOrNull[[]shoal.EntityID]("actingFor"), "null") }

func linking(f RecordField) RecordField { f.Links = true; return f }

// since is a field that an export of an earlier server does not have: it reads as
// otherwise there, which is JSON.
func since(f RecordField, otherwise string) RecordField {
	f.Absent = json.RawMessage(otherwise)
	return f
}

func ref(to string, fields ...string) RecordRef { return RecordRef{to, fields} }

// anyJSON is JSON that only its writer reads.
type anyJSON = json.RawMessage

// RecordTypes are the nouns of an export, in the order of their lines. Its readers
// depend on each name here: a change of one, or of an order, is a new version of the
// format ([ExportVersion]).
//
// What is not in it: keys, and how each acknowledges; idempotency keys and first
// answers; the log of events, with which streams resume; who holds the lease of a
// run; the search index.
var RecordTypes = withBounds([]*RecordType{
	SessionRecord,
	{
		Name: "entity", Key: []string{"id"},
		Fields: []RecordField{
			id("id"), oneOf("kind", shoal.Human, shoal.Agent), nameLine(), text("description"), textOrNull("externalId"),
			jsonAs[map[string]any]("metadata"), momentOf("createdAt"), momentOr0("lastSeenAt"), momentOr0("deletedAt"),
			{Name: "hostedVersion", Kind: RecordInt, Null: true},
			since(oneOf("sessionRole", shoal.SessionOwner, shoal.SessionAdmin, shoal.SessionMember, shoal.SessionGuest, shoal.SessionAuditor), `"member"`), since(idOrNull("ownerId"), "null"),
			since(jsonOrNull[shoal.Failure]("lastFailure"), "null"),
		},
	},
	{
		Name: "agent", Key: []string{"agentId", "version"}, Refs: []RecordRef{ref("entity", "agentId")},
		Fields: []RecordField{
			id("agentId"), count("version"), text("hash"), jsonAs[map[string]any]("config"), momentOf("createdAt"),
			oneOf("onNewMessage", "parallel", "enqueue", "interrupt", "reject"), count("settleMs"), count("maxSteps"),
		},
	},
	{
		Name: "space", Key: []string{"id"}, Refs: []RecordRef{ref("entity", "adminAgentId"), ref("entity", "createdBy")},
		Fields: []RecordField{
			id("id"), nameLine(), oneOf("status", shoal.SpaceOpen, shoal.SpaceShut), textOrNull("summary"), idOrNull("adminAgentId"),
			truth("showAgentReasoning"), jsonAs[map[string]any]("metadata"), count("lastSeq"), momentOf("createdAt"), momentOr0("closedAt"), since(idOrNull("createdBy"), "null"),
		},
	},
	{
		Name: "member", Key: []string{"spaceId", "entityId"}, Refs: []RecordRef{ref("space", "spaceId"), ref("entity", "entityId"), ref("entity", "addedBy")},
		Fields: []RecordField{id("spaceId"), id("entityId"), count("place"), momentOf("joinedAt"), since(idOrNull("addedBy"), "null"), since(truth("muted"), "false")},
	},
	{
		Name: "file", Key: []string{"id"},
		Fields: []RecordField{
			id("id"), text("name"), text("mediaType"), count("size"), linking(text("url")), text("uploadedBy"), momentOf("createdAt"),
			{Name: "data", Kind: RecordBytes},
		},
	},
	{
		Name: "fileInSpace", Refs: []RecordRef{ref("file", "fileId"), ref("space", "spaceId")},
		Fields: []RecordField{id("fileId"), id("spaceId")},
	},
	{
		Name:   "renderer",
		Fields: []RecordField{nameLine(), count("version"), text("hash"), count("size"), momentOf("createdAt"), {Name: "page", Kind: RecordBytes, Null: true}},
	},
	{
		Name: "run", Key: []string{"id"}, Refs: []RecordRef{ref("entity", "agentId"), ref("space", "spaceId")},
		Fields: []RecordField{
			id("id"), id("agentId"),
			oneOf("status", shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply, shoal.RunCompleted, shoal.RunFailed, shoal.RunCanceled),
			jsonAs[shoal.Trigger]("trigger"), text("causeRoot"), count("depth"), truth("linked"), count("steps"), count("maxSteps"),
			jsonAs[shoal.Usage]("usage"), jsonOrNull[shoal.RunError]("error"), momentOf("createdAt"), momentOr0("startedAt"), momentOr0("endedAt"),
			count("version"), text("spaceId"), text("requester"), truth("awake"), momentOf("notBefore"), truth("cancel"), count("generation"),
			text("conversation"), count("began"), count("ended"), linking(jsonOrNull[anyJSON]("turn")), count("revision"), actingFor(),
			since(jsonOrNull[shoal.RunActivity]("activity"), "null"),
		},
	},
	{
		Name: "runInSpace", Refs: []RecordRef{ref("run", "runId"), ref("space", "spaceId")},
		Fields: []RecordField{id("runId"), id("spaceId")},
	},
	{
		Name: "message", Key: []string{"spaceId", "seq"},
		Refs: []RecordRef{ref("space", "spaceId"), ref("entity", "entityId"), ref("run", "runId")},
		Fields: []RecordField{
			id("spaceId"), count("seq"), id("id"), text("entityId"), idOrNull("runId"),
			oneOf("status", shoal.MessageStreaming, shoal.MessageCompleted, shoal.MessageFailed, shoal.MessageCanceled),
			idList("mentions"), idList("droppedMentions"), momentOf("createdAt"), momentOf("updatedAt"),
			linking(jsonAs[[]shoal.Part]("parts")), linking(jsonOrNull[anyJSON]("state")),
			since(jsonOrNull[[]shoal.EntityID]("onBehalfOf"), "null"), since(momentOr0("deletedAt"), "null"), since(momentOr0("editedAt"), "null"),
			since(idOrNull("replyTo"), "null"), since(jsonOrNull[[]shoal.Reaction]("reactions"), "null"),
		},
	},
	{
		Name:   "messageVersion",
		Fields: []RecordField{id("messageId"), count("version"), momentOf("at"), idList("mentions"), idList("droppedMentions"), linking(jsonAs[[]shoal.Part]("parts"))},
	},
	{Name: "cause", Fields: []RecordField{id("messageId"), text("root"), count("depth"), truth("linked"), actingFor()}},
	{
		Name: "inbox", Refs: []RecordRef{ref("entity", "entityId")},
		Fields: []RecordField{id("entityId"), count("lastPlace")},
	},
	{
		Name: "inboxEntry", Refs: []RecordRef{ref("entity", "entityId"), ref("message", "spaceId", "seq")},
		Fields: []RecordField{
			id("entityId"), count("place"), id("spaceId"), count("seq"),
			oneOf("reason", shoal.ReasonMention, shoal.ReasonSystem, shoal.ReasonMessage), count("delivery"),
		},
	},
	{
		Name: "step", Refs: []RecordRef{ref("run", "runId")},
		Fields: []RecordField{
			id("runId"), count("index"), truth("done"), momentOf("startedAt"), momentOr0("endedAt"), linking(jsonAs[shoal.Step]("step")),
			linking(jsonOrNull[anyJSON]("data")),
		},
	},
	{Name: "modelText", Fields: []RecordField{text("hash"), text("body")}},
	{
		Name: "modelRequest", Refs: []RecordRef{ref("run", "runId")},
		Fields: []RecordField{id("runId"), count("step"), text("model"), text("system"), text("tools"), jsonAs[[][]string]("messages")},
	},
	{
		Name: "clientInput", Refs: []RecordRef{ref("run", "runId")},
		Fields: []RecordField{id("runId"), jsonAs[ClientInput]("input")},
	},
	{
		Name: "conversation", Refs: []RecordRef{ref("entity", "agentId")},
		Fields: []RecordField{text("id"), id("agentId"), count("clock"), linking(jsonOrNull[anyJSON]("data")), since(count("cleared"), "0")},
	},
	{
		Name: "pendingAction", Refs: []RecordRef{ref("run", "runId"), ref("entity", "agentId"), ref("space", "spaceId")},
		Fields: []RecordField{
			id("id"), oneOf("kind", shoal.PendingClientTool, shoal.PendingPermission, shoal.PendingQuestion, PendingReply, PendingTimer),
			id("runId"), id("agentId"), idOrNull("spaceId"), idOrNull("messageId"), idOrNull("partId"), text("toolCallId"), text("toolName"),
			linking(jsonOrNull[anyJSON]("args")), textOrNull("question"), jsonOrNull[[]string]("options"), jsonOrNull[anyJSON]("resultSchema"),
			text("status"), momentOr0("expiresAt"), momentOf("createdAt"), idOrNull("answeredBy"), momentOr0("answeredAt"), text("request"), text("hash"),
			text("requester"), text("targetEntityId"), jsonAs[Policy]("policy"), idList("votes"), jsonOrNull[ReplyWait]("reply"), idOrNull("replySpaceId"),
			momentOr0("due"), jsonOrNull[shoal.PendingAnswer]("answer"), text("answerHash"), truth("taken"),
		},
	},
	{
		Name: "plan", Refs: []RecordRef{ref("entity", "agentId")},
		Fields: []RecordField{
			id("id"), id("agentId"), text("name"), text("description"), text("instruction"), textOrNull("cron"), text("timeZone"),
			momentOr0("scheduledAt"), oneOf("status", shoal.PlanPending, shoal.PlanPaused, shoal.PlanCompleted, shoal.PlanCanceled),
			momentOr0("nextRunAt"), momentOr0("lastRunAt"), idOrNull("lastRunId"), momentOf("createdAt"), actingFor(),
		},
	},
	{
		Name: "goal", Refs: []RecordRef{ref("entity", "agentId")},
		Fields: []RecordField{
			id("agentId"), text("id"), count("place"), text("description"), count("priority"), truth("isLongTerm"), truth("isCompleted"),
			momentOf("createdAt"), momentOf("updatedAt"),
		},
	},
	{
		Name: "memory", Refs: []RecordRef{ref("entity", "agentId")},
		Fields: []RecordField{
			id("agentId"), text("id"), count("place"), text("topic"), text("content"), jsonAs[anyJSON]("metadata"), momentOf("createdAt"), momentOf("updatedAt"),
			since(idOrNull("spaceId"), "null"),
		},
	},
	{
		Name: "usage", Refs: []RecordRef{ref("run", "runId"), ref("entity", "agentId")},
		Fields: []RecordField{
			id("runId"), count("step"), id("agentId"), text("model"), momentOf("at"), text("day"), count("inputTokens"), count("cachedInputTokens"),
			count("outputTokens"), count("reasoningTokens"),
			{Name: "cost", Kind: RecordReal},
		},
	},
})

// SessionRecord is the first record of an export. The store keeps it apart.
var SessionRecord = &RecordType{
	Name: "session",
	Fields: []RecordField{
		nameLine(), oneOf("status", shoal.SessionOpen, shoal.SessionShut), momentOf("createdAt"), momentOr0("closedAt"),
		since(RecordField{Name: "maxCostPerRequest", Kind: RecordReal}, "0"), since(count("maxTokensPerRequest"), "0"),
		since(oneOf("spaceRights", shoal.SpaceRightsMembers, shoal.SpaceRightsModerators), `"members"`),
	},
}

// FindRecordType returns the type with a name and its place in the order.
func FindRecordType(name string) (*RecordType, int) {
	i := slices.IndexFunc(RecordTypes, func(t *RecordType) bool { return t.Name == name })
	if i < 0 {
		return nil, i
	}
	return RecordTypes[i], i
}

// FieldIndex returns the place of a field, which must be there.
func (t *RecordType) FieldIndex(field string) int {
	i := slices.IndexFunc(t.Fields, func(f RecordField) bool { return f.Name == field })
	if i < 0 {
		panic(fmt.Sprintf("hub: a %s has no field %q", t.Name, field))
	}
	return i
}
