package httpapi

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
)

// The texts of the OpenAPI document that are not in the table of routes.

const apiWords = "Shoal is a server in which agents and people work together: spaces with members and one ordered timeline each, durable inboxes, and streams of events. " +
	"Agents bring their own model, or are hosted: then the server runs the model.\n\n" +
	"Every call requires a key (`Authorization: Bearer KEY`), which identifies the caller. An admin names the acting entity with the header `X-Shoal-Entity`. " +
	"Anything in another session, or in a space that the caller is not in, returns 404, as if it did not exist.\n\n" +
	"Fields are camelCase and always present, null when empty; times are RFC 3339 in UTC with milliseconds. Lists return `{items, nextCursor}` and continue with `?cursor=`. " +
	"Errors are problem documents (RFC 9457) with a `code` for programs. A call that creates something accepts an `Idempotency-Key`: repeating it with the same key and body returns the first result. " +
	"After an error 5xx or a broken connection the outcome is unknown: repeat the call with the same key.\n\n" +
	"`X-Shoal-Api` in a response is the version of this document that the server has. A client may send the version that it was built for in the same header: then calls that fail because the versions differ are refused with `server_too_old` or `client_too_old` (501), and have no effect."

// tagWords are the groups of operations, in the order of the reference.
var tagWords = [][2]string{
	{"Sessions", "Isolated workspaces: entities, spaces and keys belong to exactly one session, and nothing crosses its border. The session `default` always exists."},
	{"Entities", "The participants of a session, people and agents. An entity's id is its @handle."},
	{"Spaces", "Conversations with members and one timeline. MCP calls them threads."},
	{"Messages", "The entries of a timeline, in the order of `seq`: 1, 2, 3 … without gaps."},
	{"Inbox", "What an entity has not acknowledged yet, in an order of its own. Reading erases nothing."},
	{"Events", "Changes as server-sent events."},
	{"Agents", "Hosted agents: the server runs their models."},
	{"Plans", "Schedules of hosted agents."},
	{"Programs", "Runs that programs outside of the server execute: those of agents whose configuration has `remote` instead of `model`."},
	{"Runs", "Executions of hosted agents. A run is started by a message, a plan or a service, and has steps: model calls with their tool calls."},
	{"Pending", "Requests of runs for somebody's answer: execute a tool, permit a call, answer a question."},
	{"Files", "Uploaded files, which file parts show."},
	{"Renderers", "Web pages that show the calls of a tool in the console. The `display.customUI` of a tool names its renderer; without it, the name of the tool does."},
	{"Usage", "The usage of model calls."},
	{"Audit", "Records of who did what, in chains of hashes that show whether a record was changed or removed."},
	{"Keys", "Credentials. The server stores their hashes and shows each secret once."},
	{"Invitations", "Links with which people join a session. The server stores hashes of their codes and shows each link once."},
	{"Server", "Health and documentation."},
}

// sharedParams are the parameters that many operations take.
func sharedParams() map[string]*apiParam {
	whole := func() *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "integer"}
		state(s, input.Whole)
		return s
	}
	id := func(name, about string) *apiParam {
		return &apiParam{Name: name, In: "path", Required: true, Description: about, Schema: paramSchema(param{name: name, kind: stringParam})}
	}
	header := func(name, about string) *apiParam {
		return &apiParam{Name: name, In: "header", Description: about, Schema: paramSchema(param{name: name, kind: stringParam})}
	}
	return map[string]*apiParam{
		"session":         id("session", "The id of a session, such as `default`."),
		"entity":          id("entity", "The id of an entity."),
		"space":           id("space", "The id of a space."),
		"key":             id("key", "The id of a key."),
		"invite":          id("invite", "The id of an invitation."),
		"agent":           id("agent", "The id of an agent."),
		"runner":          id("runner", "The id of a runner."),
		"plan":            id("plan", "The id of a plan."),
		"memory":          id("memory", "The id of a memory."),
		"goal":            id("goal", "The id of a goal."),
		"conversation":    id("conversation", "The id of a conversation: of a space, `plan:` with the id of a plan, or `service:` with the name of a service."),
		"run":             id("run", "The id of a run."),
		"step":            {Name: "step", In: "path", Required: true, Description: "The index of a step, counted from 0.", Schema: whole()},
		"pending":         id("pending", "The id of a pending action."),
		"subscription":    id("subscription", "The id of a subscription to notifications."),
		"decision":        id("decision", "The id of a remembered decision."),
		"file":            id("file", "The id of a file."),
		"message":         id("message", "The id of a message."),
		"emoji":           {Name: "emoji", In: "path", Required: true, Description: "One emoji, percent-encoded.", Schema: paramSchema(param{name: "emoji", kind: stringParam}), Example: "👍"},
		"renderer":        id("renderer", "The name of a renderer."),
		"version":         {Name: "version", In: "path", Required: true, Description: "A version, counted from 1.", Schema: whole()},
		"X-Shoal-Entity":  header("X-Shoal-Entity", "The entity as which an admin acts. Other callers may only name themselves."),
		"Idempotency-Key": header("Idempotency-Key", "Any string of up to 255 visible ASCII characters that identifies this call, so that it can be repeated safely."),
		"Last-Event-ID":   header("Last-Event-ID", "The `id` of the last event that was received."),
	}
}

// What the data of an event can be: on every stream, on those of spaces, and on
// those of runs.
var (
	partEventTypes = []reflect.Type{
		reflect.TypeFor[shoal.MessageData](), reflect.TypeFor[shoal.TextData](), reflect.TypeFor[shoal.DeltaData](),
		reflect.TypeFor[shoal.ToolInputData](), reflect.TypeFor[shoal.ToolOutputData](), reflect.TypeFor[shoal.PartResetData](),
		reflect.TypeFor[shoal.RunData](), reflect.TypeFor[shoal.PendingData](),
	}
	spaceEventTypes = append([]reflect.Type{
		reflect.TypeFor[shoal.SnapshotData](), reflect.TypeFor[shoal.SnapshotEndData](), reflect.TypeFor[shoal.MemberData](),
		reflect.TypeFor[shoal.SpaceData](), reflect.TypeFor[shoal.SpaceDeletedData](), reflect.TypeFor[shoal.EntityData](), reflect.TypeFor[shoal.DeliveryData](),
	}, partEventTypes...)
	runEventTypes = append([]reflect.Type{reflect.TypeFor[shoal.RunSnapshotData](), reflect.TypeFor[shoal.StepData]()}, partEventTypes...)
)

// nullable are the objects and lists that may be null.
var nullable = map[string]bool{"Run.error": true, "Run.activity": true, "Run.waitingFor": true, "Entity.lastFailure": true, "Entity.wake": true, "Wake.proof": true, "WaitResult.failed": true, "PendingAction.options": true, "PendingAction.by": true, "PendingAction.decision": true, "ShownToolPart.decision": true, "ToolOutputData.decision": true}

// enums are the values of closed string types.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[shoal.EntityKind]():    {shoal.Human, shoal.Agent},
	reflect.TypeFor[shoal.SpaceRights]():   {shoal.SpaceRightsMembers, shoal.SpaceRightsModerators},
	reflect.TypeFor[shoal.Door]():          {shoal.DoorAGUI, shoal.DoorOpenAI, shoal.DoorAISDK, shoal.DoorInvite},
	reflect.TypeFor[shoal.State]():         {shoal.Waiting, shoal.Running, shoal.Connected, shoal.Offline},
	reflect.TypeFor[shoal.SessionStatus](): {shoal.SessionStatusOpen, shoal.SessionStatusClosed},
	reflect.TypeFor[shoal.SpaceStatus]():   {shoal.SpaceStatusOpen, shoal.SpaceStatusClosed},
	reflect.TypeFor[shoal.MessageStatus](): {shoal.MessageStreaming, shoal.MessageCompleted, shoal.MessageFailed, shoal.MessageCanceled},
	reflect.TypeFor[shoal.PartStatus](): {
		shoal.PartStreaming, shoal.PartDone, shoal.PartInterrupted, shoal.PartInputStreaming, shoal.PartRunning, shoal.PartRequiresAction,
		shoal.PartError, shoal.PartDenied, shoal.PartCanceled,
	},
	reflect.TypeFor[shoal.RunStatus]():     anys(runStatuses),
	reflect.TypeFor[shoal.PendingStatus](): anys(pendingStatuses),
	reflect.TypeFor[shoal.PendingKind]():   {shoal.PendingClientTool, shoal.PendingPermission, shoal.PendingQuestion},
	reflect.TypeFor[shoal.PlanStatus]():    {shoal.PlanPending, shoal.PlanPaused, shoal.PlanCompleted, shoal.PlanCanceled},
	reflect.TypeFor[audit.Act]():           anys(audit.Acts),
	reflect.TypeFor[audit.Decision]():      {audit.Allowed, audit.Refused},
	reflect.TypeFor[audit.Role]():          {shoal.RoleAdmin, shoal.RoleService, shoal.RoleEntity, audit.RoleServer, audit.RoleNobody},
	reflect.TypeFor[shoal.Role]():          {shoal.RoleAdmin, shoal.RoleService, shoal.RoleEntity},
	reflect.TypeFor[shoal.WaitKind]():      {shoal.WaitMentions, shoal.WaitMessages},
	reflect.TypeFor[shoal.ActivityKind]():  {shoal.ActivityStarted, shoal.ActivityModel, shoal.ActivityDelta, shoal.ActivityTool, shoal.ActivityWait},
	reflect.TypeFor[shoal.Reason]():        {shoal.ReasonMention, shoal.ReasonSystem, shoal.ReasonMessage},
}

func anys[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// eventEnums are the types of events that have the same data.
var eventEnums = map[string][]any{
	"SnapshotData":    {shoal.EventSnapshot},
	"SnapshotEndData": {shoal.EventSnapshotEnd},
	"MessageData":     {shoal.EventMessageCreated, shoal.EventMessageCompleted, shoal.EventMessageUpdated},
	"TextData":        {shoal.EventTextStart, shoal.EventTextEnd, shoal.EventReasoningStart, shoal.EventReasoningEnd},
	"DeltaData":       {shoal.EventTextDelta, shoal.EventToolInputDelta, shoal.EventReasoningDelta},
	"ToolInputData":   {shoal.EventToolInputStart, shoal.EventToolInputAvailable},
	"ToolOutputData":  {shoal.EventToolOutputAvailable, shoal.EventToolOutputError},
	"PartResetData":   {shoal.EventPartReset, shoal.EventPartRemoved},
	"RunSnapshotData": {shoal.EventSnapshot},
	"RunData": {
		shoal.EventRunCreated, shoal.EventRunStarted, shoal.EventRunWaitingTool, shoal.EventRunWaitingReply, shoal.EventRunResumed, shoal.EventRunStalled,
		shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled,
	},
	"StepData":         {shoal.EventStepStarted, shoal.EventStepCompleted},
	"PendingData":      {shoal.EventPendingOpened, shoal.EventPendingVoted, shoal.EventPendingSettled},
	"MemberData":       {shoal.EventMemberJoined, shoal.EventMemberLeft},
	"SpaceData":        {shoal.EventSpaceUpdated, shoal.EventSpaceClosed},
	"SpaceDeletedData": {shoal.EventSpaceDeleted},
	"DeliveryData":     {shoal.EventDeliveryUpdated},
	"EntityData":       {shoal.EventEntityUpdated},
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
	cursor := "w:7f3a90c2d4e1b586:Saa-zfjf_E5g:15:2k:mentions::"
	shop, msg, part := shoal.SpaceID("shop"), shoal.MessageID("msg_0e2f6hyd2n5jwq8c1p0zva"), shoal.PartID("prt_2")
	args := json.RawMessage(`{"name": "MacBook Pro", "price": 1299}`)
	used := shoal.Usage{InputTokens: 812, CachedInputTokens: 640, OutputTokens: 96, Cost: 0.0004, Currency: shoal.Currency}
	cron := "0 8 * * 1-5"
	return map[string]any{
		"HostedAgent": shoal.HostedAgent{
			ID: "shop-agent", SessionID: "default", Version: 1, Hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			Config: json.RawMessage(configExample), CreatedAt: at,
		},
		"Plan": shoal.Plan{
			ID: "pln_1", AgentID: "shop-agent", Name: "morning report", Instruction: "Report yesterday's sales.", Cron: &cron, TimeZone: "Europe/Berlin",
			Status: shoal.PlanPending, NextRunAt: &at, CreatedAt: at,
		},
		"Run": shoal.Run{
			ID: "run_1", SessionID: "default", AgentID: "shop-agent", Status: shoal.RunWaitingTool,
			Trigger: shoal.Trigger{
				Type: shoal.SpaceMessageTrigger, SpaceID: shop, SpaceName: "Shopping", MessageID: msg, MessageContent: "Which laptops are there?",
				SenderEntityID: "ann", SenderName: "Ann", SenderType: shoal.Human,
			},
			CauseRoot: string(msg), Steps: 2, MaxSteps: 5, Usage: used, CreatedAt: at, StartedAt: &at,
			PendingToolCalls: []shoal.PendingToolCall{{ToolCallID: "call-1", ToolName: "showProductCard", Args: args, PendingActionID: "pnd_1", SpaceID: &shop}},
		},
		"PendingAction": shoal.PendingAction{
			ID: "pnd_1", Kind: shoal.PendingClientTool, RunID: "run_1", AgentID: "shop-agent", SpaceID: &shop, MessageID: &msg, PartID: &part,
			ToolCallID: "call-1", ToolName: "showProductCard", Args: args, Status: shoal.PendingOpen, CreatedAt: at,
			Quorum: 1, Votes: []shoal.PendingVote{}, Eligible: 1, Requesters: []shoal.EntityID{"ann"},
			ArgsHash: "5a1f8f3d0c7e4b2a9d6c3f0e1b8a7c4d5e2f9a6b3c0d7e4f1a8b5c2d9e6f3a0b",
		},
		"UsageRow":  shoal.UsageRow{Day: "2026-11-20", AgentID: "shop-agent", Calls: 2, Usage: used},
		"SignedURL": shoal.SignedURL{URL: "/v1/sessions/default/files/fil_1?signed=key_1.1795503600000.c2lnbmF0dXJl.ann"},
		"File":      shoal.File{ID: "fil_1", Name: "a.png", MediaType: "image/png", Size: 1234, URL: "/v1/sessions/default/files/fil_1"},
		"Session":   shoal.Session{ID: "default", Name: "default", Status: shoal.SessionStatusOpen, CreatedAt: at},
		"Entity": shoal.Entity{
			ID: "ann", SessionID: "default", Kind: shoal.Human, Name: "Ann", State: shoal.Connected, LastSeenAt: &at,
			Metadata: json.RawMessage("{}"), CreatedAt: at,
		},
		"Space": shoal.Space{
			ID: "shop", SessionID: "default", Name: "Shopping", Status: shoal.SpaceStatusOpen, Metadata: json.RawMessage("{}"),
			Members: []shoal.Member{ann}, LastSeq: 12, UnreadCount: 1, FirstUnreadSeq: 12, CreatedAt: at,
		},
		"Message": message,
		"WaitResult": shoal.WaitResult{
			Items: []shoal.WaitItem{{
				Space:    shoal.SpaceRef{ID: "shop", Name: "Shopping", Status: shoal.SpaceStatusOpen},
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

// problem is the JSON that guard.WriteProblem writes.
type problem struct {
	Type   string             `json:"type"`
	Title  string             `json:"title"`
	Status int                `json:"status"`
	Detail string             `json:"detail"`
	Code   shoal.Kind         `json:"code"`
	Errors []shoal.FieldError `json:"errors,omitempty"`
	// RequestID identifies the call in the server's log. It is also in the header
	// X-Request-Id.
	RequestID string `json:"requestId"`
}
