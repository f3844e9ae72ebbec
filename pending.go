package shoal

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// PendingKind states what a pending action requests.
type PendingKind string

// The kinds of pending actions: to execute a tool call outside of the server; to permit or
// deny one (or that a run continues beyond its last step); to answer a question.
const (
	PendingClientTool PendingKind = "client_tool"
	PendingPermission PendingKind = "permission"
	PendingQuestion   PendingKind = "question"
)

// PendingStatus states whether a pending action is still open.
type PendingStatus string

// The states of a pending action. Only an open one can be answered.
const (
	PendingOpen     PendingStatus = "open"
	PendingAnswered PendingStatus = "answered"
	PendingExpired  PendingStatus = "expired"
	PendingCanceled PendingStatus = "canceled"
)

// The words that a tool's answer.by may contain besides ids of entities: the humans, all
// members or the agents of the space that shows the call, keys of services, and
// the session's managers.
const (
	AnswerHumans   EntityID = "humans"
	AnswerMembers  EntityID = "members"
	AnswerAgents   EntityID = "agents"
	AnswerServices EntityID = "services"
	AnswerAdmins   EntityID = "admins"
)

// AnswererGroups lists them.
var AnswererGroups = []EntityID{AnswerHumans, AnswerMembers, AnswerAgents, AnswerServices, AnswerAdmins}

// ChooseOne is the value of a tool's answer.choose, and of Choose of a pending action, for
// calls that are alternatives: choosing one settles the other open calls of the tool in its
// step as not chosen.
const ChooseOne = "one"

// PendingAction is a request that a person or a program must settle: of a run, or of a program for an
// agent without one (RunID is empty). SpaceID is the space that shows it, null for one that only a
// service or an admin can answer; MessageID and PartID are the part that shows it, null without one.
//
// By are the ids and words of the tool's policy, null for the default of the kind.
// Quorum equal answers settle it; Votes are the votes so far, and Eligible is
// how many entities may still vote. Requesters are the humans whose messages led to the run.
// ArgsHash identifies the tool and the arguments: an answer that carries it is accepted
// only for these. EditedArgs are the arguments that run in place of Args, null if they are unchanged.
// ArgsSchema is the JSON Schema that edited arguments must fit while the action is
// open; null if its executor takes no edited arguments. Choose is [ChooseOne] for a call
// that is one of several alternatives, else null.
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
	Choose       *string         `json:"choose"`
	Votes        []PendingVote   `json:"votes"`
	Eligible     int             `json:"eligible"`
	Requesters   []EntityID      `json:"requesters"`
	ArgsHash     string          `json:"argsHash"`
	ArgsSchema   json.RawMessage `json:"argsSchema"`
	EditedArgs   json.RawMessage `json:"editedArgs"`
	// Decision is set in a permission that was answered or has expired.
	Decision *Decision `json:"decision"`
	// TriggerText is the text of the message that started the run, as the model read it,
	// truncated to [MaxTriggerText] bytes. It is nil if no message started the run, if the
	// message was deleted, for readers outside of its space, and in events. TriggerEditedAt
	// is the time of a later edit, nil if the message was not edited.
	TriggerText     *string `json:"triggerText"`
	TriggerEditedAt *Time   `json:"triggerEditedAt"`
}

// MaxTriggerText bounds the text of a trigger that a pending action shows, in bytes.
const MaxTriggerText = 8 << 10

// Decision is the outcome of a permission. By is nil if a key without an acting entity or a
// rule decided, or nobody in time. Reason is what they, or the server, gave as the reason;
// Ask is the question with which a call that is not approved was sent back.
type Decision struct {
	Approved bool      `json:"approved"`
	By       *EntityID `json:"by"`
	Reason   *string   `json:"reason"`
	Ask      *string   `json:"ask"`
}

// PendingVote is the answer of one entity to an action that needs several. Approved
// belongs to permissions; Result is the result or the answer to a question,
// Error the reason for a failure; EditedArgs are the arguments that it approved in place of the
// model's.
type PendingVote struct {
	EntityID   EntityID        `json:"entityId"`
	At         Time            `json:"at"`
	Approved   *bool           `json:"approved"`
	Result     json.RawMessage `json:"result"`
	Error      *string         `json:"error"`
	EditedArgs json.RawMessage `json:"editedArgs"`
}

// PendingAnswer is the input that settles a pending action. A client
// tool takes Result (any JSON value) or Error; a permission Approved, with Reason,
// with Args that are to run in place of the model's, and with Remember; or Approved
// false with Ask, which sends the call back with a question. A question takes Answer.
//
// ArgsHash, if set, is the hash of the action that the caller has read; the answer fails
// with ArgsChanged if the action has another one. AlsoEqual gives the same answer to every
// other open action of that agent, space, tool and hash that the caller may settle.
type PendingAnswer struct {
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *string         `json:"error,omitempty"`
	Approved  *bool           `json:"approved,omitempty"`
	Reason    *string         `json:"reason,omitempty"`
	Remember  *Remember       `json:"remember,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Ask       *string         `json:"ask,omitempty"`
	Answer    *string         `json:"answer,omitempty"`
	ArgsHash  *string         `json:"argsHash,omitempty"`
	AlsoEqual bool            `json:"alsoEqual,omitempty"`
}

// answerFields are the fields of an answer of each kind.
var answerFields = map[PendingKind][]string{
	PendingClientTool: {"result", "error"},
	PendingPermission: {"approved", "reason", "remember", "args", "ask"},
	PendingQuestion:   {"answer"},
}

// Validate names every field that does not belong to an answer of that kind, or
// is missing, in one [InvalidArgument] error; [TooLarge] over [MaxContent] bytes.
func (a PendingAnswer) Validate(kind PendingKind) error {
	var p problems
	given := map[string]bool{
		"result": len(a.Result) > 0, "error": a.Error != nil, "approved": a.Approved != nil, "reason": a.Reason != nil,
		"remember": a.Remember != nil, "args": len(a.Args) > 0, "ask": a.Ask != nil, "answer": a.Answer != nil,
	}
	for _, f := range []string{"result", "error", "approved", "reason", "remember", "args", "ask", "answer"} {
		if given[f] && !slices.Contains(answerFields[kind], f) {
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
		a.checkDecision(&p)
	case PendingQuestion:
		if orEmpty(a.Answer) == "" {
			p.add(Invalid("answer", "is missing"))
		}
	}
	if err := p.err(); err != nil {
		return err
	}
	texts := map[string]string{"error": orEmpty(a.Error), "reason": orEmpty(a.Reason), "ask": orEmpty(a.Ask), "answer": orEmpty(a.Answer)}
	for field, text := range texts {
		if err := checkText(field, text, MaxContent); err != nil {
			return err
		}
	}
	if len(a.Result) > MaxContent {
		return E("", TooLarge, "result is too large; an answer holds at most 256 KiB")
	}
	if err := checkObject("args", a.Args, MaxContent); err != nil || len(a.Result) == 0 {
		return err
	}
	return checkObject("result", wrapped(a.Result), MaxContent+16)
}

// checkDecision adds what is wrong with the answer to a permission.
func (a PendingAnswer) checkDecision(p *problems) {
	yes := a.Approved != nil && *a.Approved
	if a.Approved == nil {
		p.add(Invalid("approved", "is missing: true or false"))
	}
	if a.Ask != nil && (yes || a.Reason != nil || a.Remember != nil) {
		p.add(Invalid("ask", "sends the call back: it needs approved false, and neither reason nor remember"))
	} else if a.Ask != nil && *a.Ask == "" {
		p.add(Invalid("ask", "is empty: write the question"))
	}
	if len(a.Args) > 0 && !yes {
		p.add(Invalid("args", "are what is approved: they need approved true"))
	}
	if r := a.Remember; r != nil && (a.Approved == nil || r.Decision != map[bool]string{true: RememberAllow, false: RememberDeny}[yes]) {
		p.add(Invalid("remember", `must be "allow" with approved true, or "deny" with approved false`))
	} else if r != nil {
		p.add(r.check())
	}
}

// The effects of a remembered decision.
const (
	RememberAllow = "allow"
	RememberDeny  = "deny"
)

// The scopes of a remembered decision, in addition to agent, tool, space and requesters:
// the arguments of the call, or all calls.
const (
	RememberCall = "call"
	RememberTool = "tool"
)

// The default and the maximum duration of a remembered decision.
const (
	RememberFor    = 24 * time.Hour
	MaxRememberFor = 366 * 24 * time.Hour
)

// Remember asks that a decision counts for later calls, too. Scope is call if it is
// empty, ForMs [RememberFor] if it is 0. In JSON a bare "allow" or "deny" is a
// decision of scope call.
type Remember struct {
	Decision string `json:"decision"`
	Scope    string `json:"scope,omitempty"`
	ForMs    int64  `json:"forMs,omitempty"`
}

// UnmarshalJSON reads the object or the bare word.
func (r *Remember) UnmarshalJSON(text []byte) error {
	*r = Remember{}
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &r.Decision)
	}
	type object Remember
	return json.Unmarshal(text, (*object)(r))
}

// MarshalJSON writes the bare word if that is equivalent, else the object.
func (r Remember) MarshalJSON() ([]byte, error) {
	if r.Scope == "" && r.ForMs == 0 {
		return EncodeJSON(r.Decision)
	}
	type object Remember
	return EncodeJSON(object(r))
}

func (r Remember) check() error {
	var p problems
	if r.Scope != "" && r.Scope != RememberCall && r.Scope != RememberTool {
		p.add(Invalid("remember.scope", `must be "call" or "tool"`))
	}
	if r.ForMs < 0 || r.ForMs > MaxRememberFor.Milliseconds() {
		p.add(Invalid("remember.forMs", fmt.Sprintf("must be from 1 to %d, or left out for 24 hours", MaxRememberFor.Milliseconds())))
	}
	return p.err()
}

// RememberedDecision is a decision about a permission that counts for later calls,
// until ExpiresAt or until somebody revokes it. It is about one agent, one tool and
// one space (null for calls that no space shows), and about runs that only the
// Requesters caused. ArgsHash and Args are those of the call that it was made for.
// EntityID is the entity that decided, null for a key without an acting entity.
type RememberedDecision struct {
	ID         RememberedID    `json:"id"`
	AgentID    EntityID        `json:"agentId"`
	ToolName   string          `json:"toolName"`
	SpaceID    *SpaceID        `json:"spaceId"`
	Requesters []EntityID      `json:"requesters"`
	Decision   string          `json:"decision"`
	Scope      string          `json:"scope"`
	ArgsHash   string          `json:"argsHash"`
	Args       json.RawMessage `json:"args"`
	EntityID   *EntityID       `json:"entityId"`
	CreatedAt  Time            `json:"createdAt"`
	ExpiresAt  Time            `json:"expiresAt"`
}
