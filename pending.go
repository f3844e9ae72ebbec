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

// PendingAction is something that a run waits for somebody to do. SpaceID is the
// space that shows it, null for one that only a service or an admin can answer;
// MessageID and PartID are the part that shows it, null where it has none.
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
}

// PendingAnswer is what a caller hands in to settle a pending action. A client
// tool takes Result (any JSON value) or Error; a permission Approved, with Reason
// and Remember ("allow" or "deny", for later calls of the tool by this agent in
// its conversation); a question Answer.
type PendingAnswer struct {
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *string         `json:"error,omitempty"`
	Approved *bool           `json:"approved,omitempty"`
	Reason   *string         `json:"reason,omitempty"`
	Remember *string         `json:"remember,omitempty"`
	Answer   *string         `json:"answer,omitempty"`
}

// Validate names every field that does not belong to an answer of that kind, or
// is missing, in one [InvalidArgument] error; [TooLarge] over [MaxContent] bytes.
func (a PendingAnswer) Validate(kind PendingKind) error {
	var p problems
	given := map[string]bool{
		"result": len(a.Result) > 0, "error": a.Error != nil, "approved": a.Approved != nil,
		"reason": a.Reason != nil, "remember": a.Remember != nil, "answer": a.Answer != nil,
	}
	allowed := map[PendingKind][]string{
		PendingClientTool: {"result", "error"}, PendingPermission: {"approved", "reason", "remember"}, PendingQuestion: {"answer"},
	}[kind]
	mine := map[string]bool{}
	for _, f := range allowed {
		mine[f] = true
	}
	for _, f := range []string{"result", "error", "approved", "reason", "remember", "answer"} {
		if given[f] && !mine[f] {
			p.add(Invalid(f, "does not belong to an answer of a "+string(kind)))
		}
	}
	switch kind {
	case PendingClientTool:
		if given["result"] == given["error"] {
			p.add(Invalid("result", "or error is needed, one of the two"))
		}
		if given["result"] && !json.Valid(a.Result) {
			p.add(Invalid("result", "must be a JSON value"))
		}
	case PendingPermission:
		if a.Approved == nil {
			p.add(Invalid("approved", "is missing: true or false"))
		}
		if r := orEmpty(a.Remember); r != "" && (a.Approved == nil || r != map[bool]string{true: "allow", false: "deny"}[*a.Approved]) {
			p.add(Invalid("remember", `must be "allow" with approved true, or "deny" with approved false`))
		}
	case PendingQuestion:
		if orEmpty(a.Answer) == "" {
			p.add(Invalid("answer", "is missing"))
		}
	}
	if err := p.err(); err != nil {
		return err
	}
	for field, text := range map[string]string{"error": orEmpty(a.Error), "reason": orEmpty(a.Reason), "answer": orEmpty(a.Answer)} {
		if err := checkText(field, text, MaxContent); err != nil {
			return err
		}
	}
	if len(a.Result) > MaxContent {
		return E("", TooLarge, "result is too large; an answer holds at most 256 KiB")
	}
	return checkObject("result", wrapped(orNull(a.Result)), MaxContent+16)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
