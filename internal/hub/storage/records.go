package storage

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
)

// RecordType is a type of the records of an export, which has one record per line.
type RecordType struct {
	// Name is the line's "type".
	Name   string
	Fields []RecordField
	// Key are the fields that identify a record of the type in its session; empty if
	// nothing refers to records of the type.
	Key []string
	// Refs are the records that a record refers to. They precede it in an export.
	Refs []RecordRef
	// Old marks a type that only exports of earlier versions contain. An import ignores its
	// records.
	Old bool
}

// RecordField is a field of a record. Every line of an export has all fields of its type.
type RecordField struct {
	Name string
	Kind RecordKind
	Null bool     // whether the value may be null
	Of   []string // the allowed values; empty for any
	// Links reports whether the value may contain paths of files of the session, which
	// contain the session's id.
	Links bool
	// Absent is the JSON value of a field that a line does not have; nil if every line
	// must have the field.
	Absent json.RawMessage
	// Check returns an error for JSON that could not be read later; nil accepts any JSON.
	Check func(json.RawMessage) error

	Bound RecordBound
}

// RecordRef says that the values of Fields are the key of a record of the type To. If one
// of them is null, empty or the system, they refer to nothing.
type RecordRef struct {
	To     string
	Fields []string
}

// RecordKind determines the values of a field, in Go and in an export.
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

// checkDecodes returns an error if JSON cannot be decoded into a T.
func checkDecodes[T any](raw json.RawMessage) error {
	var v T
	return json.Unmarshal(raw, &v)
}

func idField(name string) RecordField { return RecordField{Name: name, Kind: RecordID} }

func nullableID(name string) RecordField { return RecordField{Name: name, Kind: RecordID, Null: true} }

func textField(name string) RecordField { return RecordField{Name: name, Kind: RecordText} }

func nullableText(name string) RecordField {
	return RecordField{Name: name, Kind: RecordText, Null: true}
}

func nameField() RecordField { return RecordField{Name: "name", Kind: RecordLine} }

func intField(name string) RecordField { return RecordField{Name: name, Kind: RecordInt} }

func nullableInt(name string) RecordField {
	return RecordField{Name: name, Kind: RecordInt, Null: true}
}

func boolField(name string) RecordField { return RecordField{Name: name, Kind: RecordBool} }

func timeField(name string) RecordField { return RecordField{Name: name, Kind: RecordTime} }

func nullableTime(name string) RecordField {
	return RecordField{Name: name, Kind: RecordTime, Null: true}
}

func idListField(name string) RecordField { return RecordField{Name: name, Kind: RecordIDs} }

func enumField[T ~string](name string, of ...T) RecordField {
	f := RecordField{Name: name, Kind: RecordText}
	for _, v := range of {
		f.Of = append(f.Of, string(v))
	}
	return f
}

func jsonField[T any](name string) RecordField {
	return RecordField{Name: name, Kind: RecordJSON, Check: checkDecodes[T]}
}

func nullableJSON[T any](name string) RecordField {
	return RecordField{Name: name, Kind: RecordJSON, Null: true, Check: checkDecodes[T]}
}

func actingForField() RecordField {
	return withDefault(nullableJSON[[]shoal.EntityID]("actingFor"), "null")
}

func withLinks(f RecordField) RecordField { f.Links = true; return f }

// withDefault returns the field for exports of earlier servers, which do not have it: it
// then has the value otherwise, which is JSON.
func withDefault(f RecordField, otherwise string) RecordField {
	f.Absent = json.RawMessage(otherwise)
	return f
}

func refTo(to string, fields ...string) RecordRef { return RecordRef{to, fields} }

// anyJSON is JSON that only the server that wrote it reads.
type anyJSON = json.RawMessage

// RecordTypes are the types of the records of an export, in the order of their lines.
// Readers of exports depend on every name here: a change of a name or of the order is a new
// version of the format ([ExportVersion]).
//
// An export does not contain: keys, and how they acknowledge; idempotency keys and the
// first responses; the log of events, which streams need to resume; the leases of runs; and
// the search index.
var RecordTypes = setBounds([]*RecordType{
	SessionRecord,
	{
		Name: "entity", Key: []string{"id"},
		Fields: []RecordField{
			idField("id"), enumField("kind", shoal.Human, shoal.Agent), nameField(), textField("description"), nullableText("externalId"),
			jsonField[map[string]any]("metadata"), timeField("createdAt"), nullableTime("lastSeenAt"), nullableTime("deletedAt"),
			{Name: "hostedVersion", Kind: RecordInt, Null: true},
			withDefault(enumField("sessionRole", shoal.SessionOwner, shoal.SessionAdmin, shoal.SessionMember, shoal.SessionGuest, shoal.SessionAuditor), `"member"`), withDefault(nullableID("ownerId"), "null"),
			withDefault(nullableJSON[shoal.Failure]("lastFailure"), "null"), withDefault(nullableJSON[shoal.WakeProof]("wakeProof"), "null"),
		},
	},
	{
		Name: "agent", Key: []string{"agentId", "version"}, Refs: []RecordRef{refTo("entity", "agentId")},
		Fields: []RecordField{
			idField("agentId"), intField("version"), textField("hash"), jsonField[map[string]any]("config"), timeField("createdAt"),
			enumField("onNewMessage", "parallel", "enqueue", "interrupt", "reject", "steer"), intField("settleMs"), intField("maxSteps"), withDefault(boolField("remote"), "false"),
		},
	},
	{
		Name: "space", Key: []string{"id"}, Refs: []RecordRef{refTo("entity", "adminAgentId"), refTo("entity", "createdBy")},
		Fields: []RecordField{
			idField("id"), nameField(), enumField("status", shoal.SpaceStatusOpen, shoal.SpaceStatusClosed), nullableText("summary"), nullableID("adminAgentId"),
			boolField("showAgentReasoning"), jsonField[map[string]any]("metadata"), intField("lastSeq"), timeField("createdAt"), nullableTime("closedAt"), withDefault(nullableID("createdBy"), "null"),
		},
	},
	{
		Name: "member", Key: []string{"spaceId", "entityId"}, Refs: []RecordRef{refTo("space", "spaceId"), refTo("entity", "entityId"), refTo("entity", "addedBy")},
		Fields: []RecordField{
			idField("spaceId"), idField("entityId"), intField("place"), timeField("joinedAt"), withDefault(nullableID("addedBy"), "null"), withDefault(boolField("muted"), "false"),
			withDefault(intField("readUpto"), "-1"), withDefault(nullableInt("pausedAt"), "null"),
		},
	},
	{
		Name: "file", Key: []string{"id"},
		Fields: []RecordField{
			idField("id"), textField("name"), textField("mediaType"), intField("size"), withLinks(textField("url")), textField("uploadedBy"), timeField("createdAt"),
			{Name: "data", Kind: RecordBytes},
		},
	},
	{
		Name: "fileInSpace", Refs: []RecordRef{refTo("file", "fileId"), refTo("space", "spaceId")},
		Fields: []RecordField{idField("fileId"), idField("spaceId")},
	},
	{
		Name:   "renderer",
		Fields: []RecordField{nameField(), intField("version"), textField("hash"), intField("size"), timeField("createdAt"), {Name: "page", Kind: RecordBytes, Null: true}},
	},
	{
		Name: "run", Key: []string{"id"}, Refs: []RecordRef{refTo("entity", "agentId"), refTo("space", "spaceId")},
		Fields: []RecordField{
			idField("id"), idField("agentId"),
			enumField("status", shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply, shoal.RunCompleted, shoal.RunFailed, shoal.RunCanceled),
			jsonField[shoal.Trigger]("trigger"), textField("causeRoot"), intField("depth"), boolField("linked"), intField("steps"), intField("maxSteps"),
			jsonField[shoal.Usage]("usage"), nullableJSON[shoal.RunError]("error"), timeField("createdAt"), nullableTime("startedAt"), nullableTime("endedAt"),
			intField("version"), textField("spaceId"), textField("requester"), boolField("awake"), timeField("notBefore"), boolField("cancel"), intField("generation"),
			textField("conversation"), intField("began"), intField("ended"), withLinks(nullableJSON[anyJSON]("turn")), intField("revision"), actingForField(),
			withDefault(nullableJSON[shoal.RunActivity]("activity"), "null"), withDefault(boolField("remote"), "false"), withDefault(nullableID("partOf"), "null"),
			withDefault(nullableText("limitReached"), "null"), withDefault(nullableText("traceId"), "null"), withDefault(nullableText("traceParent"), "null"),
		},
	},
	{
		Name: "runInSpace", Refs: []RecordRef{refTo("run", "runId"), refTo("space", "spaceId")},
		Fields: []RecordField{idField("runId"), idField("spaceId")},
	},
	{
		Name: "message", Key: []string{"spaceId", "seq"},
		Refs: []RecordRef{refTo("space", "spaceId"), refTo("entity", "entityId")}, // its run may be gone
		Fields: []RecordField{
			idField("spaceId"), intField("seq"), idField("id"), textField("entityId"), nullableID("runId"),
			enumField("status", shoal.MessageStreaming, shoal.MessageCompleted, shoal.MessageFailed, shoal.MessageCanceled),
			idListField("mentions"), idListField("droppedMentions"), timeField("createdAt"), timeField("updatedAt"),
			withLinks(jsonField[[]shoal.Part]("parts")), withLinks(nullableJSON[anyJSON]("state")),
			withDefault(nullableJSON[[]shoal.EntityID]("onBehalfOf"), "null"), withDefault(nullableTime("deletedAt"), "null"), withDefault(nullableTime("editedAt"), "null"),
			withDefault(nullableID("replyTo"), "null"), withDefault(nullableJSON[[]shoal.Reaction]("reactions"), "null"),
			withDefault(nullableInt("arrival"), "null"), withDefault(nullableInt("place"), "null"),
		},
	},
	{
		Name:   "messageVersion",
		Fields: []RecordField{idField("messageId"), intField("version"), timeField("at"), idListField("mentions"), idListField("droppedMentions"), withLinks(jsonField[[]shoal.Part]("parts"))},
	},
	{Name: "cause", Fields: []RecordField{idField("messageId"), textField("root"), intField("depth"), boolField("linked"), actingForField()}},
	{
		Name: "inbox", Old: true, Refs: []RecordRef{refTo("entity", "entityId")},
		Fields: []RecordField{idField("entityId"), intField("lastPlace")},
	},
	{
		Name: "readRange", Refs: []RecordRef{refTo("member", "spaceId", "entityId")},
		Fields: []RecordField{idField("spaceId"), idField("entityId"), intField("first"), intField("last")},
	},
	{
		Name: "inboxEntry", Refs: []RecordRef{refTo("entity", "entityId"), refTo("message", "spaceId", "seq")},
		Fields: []RecordField{
			idField("entityId"), intField("place"), idField("spaceId"), intField("seq"),
			enumField("reason", shoal.ReasonMention, shoal.ReasonSystem, shoal.ReasonMessage), intField("delivery"),
			withDefault(nullableTime("ackedAt"), "null"), withDefault(boolField("outside"), "false"),
			withDefault(nullableTime("deliveredAt"), "null"), withDefault(textField("via"), `""`), withDefault(nullableID("answeredBy"), "null"),
		},
	},
	{
		Name: "step", Refs: []RecordRef{refTo("run", "runId")},
		Fields: []RecordField{
			idField("runId"), intField("index"), boolField("done"), timeField("startedAt"), nullableTime("endedAt"), withLinks(jsonField[shoal.Step]("step")),
			withLinks(nullableJSON[anyJSON]("data")),
		},
	},
	{Name: "modelText", Fields: []RecordField{textField("hash"), textField("body")}},
	{
		Name: "modelRequest", Refs: []RecordRef{refTo("run", "runId")},
		Fields: []RecordField{idField("runId"), intField("step"), textField("model"), textField("system"), textField("tools"), jsonField[[][]string]("messages")},
	},
	{
		Name: "clientInput", Refs: []RecordRef{refTo("run", "runId")},
		Fields: []RecordField{idField("runId"), jsonField[ClientInput]("input")},
	},
	{
		Name: "conversation", Refs: []RecordRef{refTo("entity", "agentId")},
		Fields: []RecordField{textField("id"), idField("agentId"), intField("clock"), withLinks(nullableJSON[anyJSON]("data")), withDefault(intField("cleared"), "0")},
	},
	{
		Name: "pendingAction", Refs: []RecordRef{refTo("run", "runId"), refTo("entity", "agentId"), refTo("space", "spaceId")},
		Fields: []RecordField{
			idField("id"), enumField("kind", shoal.PendingClientTool, shoal.PendingPermission, shoal.PendingQuestion, PendingReply, PendingTimer),
			textField("runId"), idField("agentId"), nullableID("spaceId"), nullableID("messageId"), nullableID("partId"), textField("toolCallId"), textField("toolName"),
			withLinks(nullableJSON[anyJSON]("args")), nullableText("question"), nullableJSON[[]string]("options"), nullableJSON[anyJSON]("resultSchema"),
			textField("status"), nullableTime("expiresAt"), timeField("createdAt"), nullableID("answeredBy"), nullableTime("answeredAt"), textField("request"), textField("hash"),
			textField("requester"), textField("targetEntityId"), jsonField[Policy]("policy"), idListField("votes"), nullableJSON[ReplyWait]("reply"), nullableID("replySpaceId"),
			nullableTime("due"), nullableJSON[shoal.PendingAnswer]("answer"), textField("answerHash"), boolField("taken"),
		},
	},
	{
		Name: "plan", Refs: []RecordRef{refTo("entity", "agentId")},
		Fields: []RecordField{
			idField("id"), idField("agentId"), textField("name"), textField("description"), textField("instruction"), nullableText("cron"), textField("timeZone"),
			nullableTime("scheduledAt"), enumField("status", shoal.PlanPending, shoal.PlanPaused, shoal.PlanCompleted, shoal.PlanCanceled),
			nullableTime("nextRunAt"), nullableTime("lastRunAt"), nullableID("lastRunId"), timeField("createdAt"), actingForField(),
		},
	},
	{
		Name: "goal", Refs: []RecordRef{refTo("entity", "agentId")},
		Fields: []RecordField{
			idField("agentId"), textField("id"), intField("place"), textField("description"), intField("priority"), boolField("isLongTerm"), boolField("isCompleted"),
			timeField("createdAt"), timeField("updatedAt"),
		},
	},
	{
		Name: "memory", Refs: []RecordRef{refTo("entity", "agentId")},
		Fields: []RecordField{
			idField("agentId"), textField("id"), intField("place"), textField("topic"), textField("content"), jsonField[anyJSON]("metadata"), timeField("createdAt"), timeField("updatedAt"),
			withDefault(nullableID("spaceId"), "null"),
		},
	},
	{
		Name: "usage", Refs: []RecordRef{refTo("entity", "agentId")}, // its run may be gone
		Fields: []RecordField{
			idField("runId"), intField("step"), idField("agentId"), textField("model"), timeField("at"), textField("day"), intField("inputTokens"), intField("cachedInputTokens"),
			intField("outputTokens"), intField("reasoningTokens"),
			{Name: "cost", Kind: RecordReal},
		},
	},
})

// SessionRecord is the type of the first record of an export. A store reads and writes it
// separately.
var SessionRecord = &RecordType{
	Name: "session",
	Fields: []RecordField{
		nameField(), enumField("status", shoal.SessionStatusOpen, shoal.SessionStatusClosed), timeField("createdAt"), nullableTime("closedAt"),
		withDefault(RecordField{Name: "maxCostPerRequest", Kind: RecordReal}, "0"), withDefault(intField("maxTokensPerRequest"), "0"),
		withDefault(enumField("spaceRights", shoal.SpaceRightsMembers, shoal.SpaceRightsModerators), `"members"`),
		withDefault(intField("messagesForMs"), "0"), withDefault(intField("runsForMs"), "0"), withDefault(intField("promptsForMs"), "0"),
	},
}

// FindRecordType returns the type with a name and its index in the order, or nil and -1.
func FindRecordType(name string) (*RecordType, int) {
	i := slices.IndexFunc(RecordTypes, func(t *RecordType) bool { return t.Name == name })
	if i < 0 {
		return nil, i
	}
	return RecordTypes[i], i
}

// FieldIndex returns the index of a field. It panics if the type does not have the field.
func (t *RecordType) FieldIndex(field string) int {
	i := slices.IndexFunc(t.Fields, func(f RecordField) bool { return f.Name == field })
	if i < 0 {
		panic(fmt.Sprintf("hub: a %s has no field %q", t.Name, field))
	}
	return i
}
