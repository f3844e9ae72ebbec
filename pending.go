package shoal

import "encoding/json"

// PendingKind says what a pending action asks for.
type PendingKind string

// The kinds of pending actions: somebody outside executes a tool call; somebody
// permits or denies one (or that a run goes on at its last step); somebody
// answers a question.
const (
	PendingClientTool PendingKind = "client_tool"
	PendingPermission PendingKind = "permission"
	PendingQuestion   PendingKind = "question"
)

// PendingStatus tells whether a pending action still waits.
type PendingStatus string

// The states of a pending action. Only an open one can be answered.
const (
	PendingOpen     PendingStatus = "open"
	PendingAnswered PendingStatus = "answered"
	PendingExpired  PendingStatus = "expired"
	PendingCanceled PendingStatus = "canceled"
)

// The words that a tool's answer.by may have beside ids of entities: the humans, all
// members or the agents of the space that shows the call, keys of services, and
// whoever manages the session.
const (
	AnswerHumans   EntityID = "humans"
	AnswerMembers  EntityID = "members"
	AnswerAgents   EntityID = "agents"
	AnswerServices EntityID = "services"
	AnswerAdmins   EntityID = "admins"
)

// AnswererWords are those words.
var AnswererWords = []EntityID{AnswerHumans, AnswerMembers, AnswerAgents, AnswerServices, AnswerAdmins}

// PendingAction is something that a run waits for somebody to do. SpaceID is the
// space that shows it, null for one that only a service or an admin can answer;
// MessageID and PartID are the part that shows it, null where it has none.
//
// By are the ids and words of the tool's policy, null for the default of the kind.
// Quorum equal answers settle it; Votes are those that came so far, and Eligible is
// how many entities may still vote. Requesters are the humans behind the run.
// ArgsHash names tool and arguments: an answer that carries it is only taken for
// these. EditedArgs are the arguments that run in place of Args, null for none.
// ArgsSchema is the JSON Schema that edited arguments must fit while the action is
// open; null if its executor takes no edited arguments.
type PendingAction struct {
	ID           PendingID       `json:"id"`
	Kind         PendingKind     `json:"kind"`
	RunID        RunID           `json:"runId"`
	AgentID      EntityID        `json:"agentId"`
	SpaceID      *SpaceID        `json:"spaceId"`
	MessageID    *MessageID      `json:"messageId"`
	PartID       *PartID         `json:"partId"`
	ToolCallID   string          `json:"toolCallId"`
	ToolName     string          `json:"toolName"`
	Args         json.RawMessage `json:"args"`
	Question     *string         `json:"question"`
	Options      []string        `json:"options"`
	ResultSchema json.RawMessage `json:"resultSchema"`
	Status       PendingStatus   `json:"status"`
	ExpiresAt    *Time           `json:"expiresAt"`
	CreatedAt    Time            `json:"createdAt"`
	AnsweredBy   *EntityID       `json:"answeredBy"`
	AnsweredAt   *Time           `json:"answeredAt"`
	By           []EntityID      `json:"by"`
	Quorum       int             `json:"quorum"`
	NotRequester bool            `json:"notRequester"`
	Votes        []PendingVote   `json:"votes"`
	Eligible     int             `json:"eligible"`
	Requesters   []EntityID      `json:"requesters"`
	ArgsHash     string          `json:"argsHash"`
	ArgsSchema   json.RawMessage `json:"argsSchema"`
	EditedArgs   json.RawMessage `json:"editedArgs"`
	// TriggerText is what the message that started the run said when the model read it, cut
	// to [MaxTriggerText] bytes; nil for runs that no message started, once the message is
	// deleted, for readers who are not in its space, and in events. TriggerEditedAt is when
	// it was edited since, nil if it was not.
	TriggerText     *string `json:"triggerText"`
	TriggerEditedAt *Time   `json:"triggerEditedAt"`
}

// MaxTriggerText bounds the text of a trigger that a pending action shows, in bytes.
const MaxTriggerText = 8 << 10

// PendingVote is the answer of one entity to an action that needs several. Approved
// belongs to permissions; Result is the result or the answer in words, Error why
// there is none; EditedArgs are the arguments that it approved in place of the
// model's.
type PendingVote struct {
	EntityID   EntityID        `json:"entityId"`
	At         Time            `json:"at"`
	Approved   *bool           `json:"approved"`
	Result     json.RawMessage `json:"result"`
	Error      *string         `json:"error"`
	EditedArgs json.RawMessage `json:"editedArgs"`
}
