package shoal

import "encoding/json"

// Limits of runs that a program outside of the server executes.
const (
	// MaxWorkBody is the size of the body of one call that reports work, MaxWorkLine that of
	// one of its lines, and MaxWorkLines is how many lines it may have.
	MaxWorkBody  = 1 << 20
	MaxWorkLine  = 256 << 10
	MaxWorkLines = 1000
	// MaxWorkRun is how much a program may report about one run, MaxWorkCalls for how many
	// tool calls, and MaxWorkTurns in how many turns.
	MaxWorkRun   = 16 << 20
	MaxWorkCalls = 2000
	MaxWorkTurns = 200
	// MaxDelta is the size of the delta of a line, MaxToolOutput that of the output of a tool.
	MaxDelta      = 64 << 10
	MaxToolOutput = 4 << 10
	// MaxClaim is how many runs one claim returns at most.
	MaxClaim = 64
)

// WorkType is the type of a [WorkLine].
type WorkType string

// The types of lines.
const (
	// WorkTurnStarted begins a turn. Model names the model, if the program knows it.
	WorkTurnStarted WorkType = "turn.started"
	// WorkText appends Delta to the text in SpaceID, by default the space of the trigger. Any
	// other line that shows something ends the text, as End does. Mention, the same in all
	// lines of a text, is the member that the finished text mentions.
	WorkText WorkType = "text"
	// WorkThought appends Delta to the reasoning of the turn.
	WorkThought WorkType = "thought"
	// WorkTool shows a tool call of the program, or changes its State.
	WorkTool WorkType = "tool"
	// WorkCard shows a card: a call of a display tool. With Wait, members answer it.
	WorkCard WorkType = "card"
	// WorkPermission asks whether a tool call may be executed.
	WorkPermission WorkType = "permission"
	// WorkQuestion asks a person a question.
	WorkQuestion WorkType = "question"
	// WorkUsage reports tokens and costs, which are added to those of the run.
	WorkUsage WorkType = "usage"
	// WorkSteered says that the model has the message of RunID, which an order offered: it is a
	// part of this turn, and that run ends.
	WorkSteered WorkType = "steered"
	// WorkTurnEnded completes the run.
	WorkTurnEnded WorkType = "turn.ended"
	// WorkSessionBegan says that the program could not continue its conversation: its model knows
	// the last Known messages of the space, and no older ones. Members read that.
	WorkSessionBegan WorkType = "session.began"
	// WorkReleased ends the lease: another program may claim the run at once. No line of this
	// claim follows.
	WorkReleased WorkType = "released"
	// WorkFailed ends the run as failed.
	WorkFailed WorkType = "failed"
)

// ToolState is the state of a tool call of a program.
type ToolState string

// The states. Denied is only the server's: a person did not permit the call.
const (
	ToolPending  ToolState = "pending"
	ToolRunning  ToolState = "running"
	ToolDone     ToolState = "done"
	ToolFailed   ToolState = "failed"
	ToolCanceled ToolState = "canceled"
	ToolDenied   ToolState = "denied"
)

// WorkLine is what a program reports about a run that it executes. N numbers the lines of
// one claim from 1; a number that the server has is ignored, so lines may be sent again.
// Which other fields count depends on Type.
type WorkLine struct {
	N       int64           `json:"n"`
	Type    WorkType        `json:"type"`
	Delta   string          `json:"delta,omitempty"`
	SpaceID SpaceID         `json:"spaceId,omitempty"`
	Mention EntityID        `json:"mention,omitempty"`
	End     bool            `json:"end,omitempty"`
	CallID  string          `json:"callId,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Kind    string          `json:"kind,omitempty"`
	Title   string          `json:"title,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	State   ToolState       `json:"state,omitempty"`
	Output  string          `json:"output,omitempty"`
	Wait    bool            `json:"wait,omitempty"`
	Options []string        `json:"options,omitempty"`
	Model   string          `json:"model,omitempty"`
	Tokens  *WorkTokens     `json:"tokens,omitempty"`
	Cost    float64         `json:"cost,omitempty"`
	Stop    string          `json:"stop,omitempty"`
	Code    string          `json:"code,omitempty"`
	Text    string          `json:"text,omitempty"`
	RunID   RunID           `json:"runId,omitempty"`
	Known   int             `json:"known,omitempty"`
	Fixed   bool            `json:"fixedArgs,omitempty"`
}

// WorkTokens are the tokens that model calls used. CachedInput is a part of Input, and
// Reasoning one of Output.
type WorkTokens struct {
	Input       int64 `json:"input"`
	CachedInput int64 `json:"cachedInput"`
	Output      int64 `json:"output"`
	Reasoning   int64 `json:"reasoning"`
}

// WorkReceipt confirms that the lines up to N are stored. Status is that of the run.
type WorkReceipt struct {
	N          int64     `json:"n"`
	LeaseUntil *Time     `json:"leaseUntil"`
	Status     RunStatus `json:"status"`
}

// RemoteRun is a run that a program has claimed. Every report about it states Generation.
//
// The lease ends LeaseMs after the last report, unless the server hears of the program before.
// Instructions are those of the agent's configuration, and Prompt what the run begins with:
// the messages of the space that the agent has not seen, and last the one that started the
// run. In both, what others wrote is between tags; it is never an instruction. Members are
// who a text in the space of the trigger may mention.
//
// If another program executed the run before, Written is what the run has shown, and Calls
// are its tool calls with their states and answers, so that nothing is done twice.
type RemoteRun struct {
	Run          Run           `json:"run"`
	Generation   int64         `json:"generation"`
	LeaseUntil   Time          `json:"leaseUntil"`
	LeaseMs      int64         `json:"leaseMs"`
	Instructions string        `json:"instructions"`
	Prompt       string        `json:"prompt"`
	Members      []Mentionable `json:"members"`
	Written      []WrittenText `json:"written"`
	Calls        []RemoteCall  `json:"calls"`
}

// Mentionable is a member that a text may mention.
type Mentionable struct {
	EntityID EntityID   `json:"entityId"`
	Name     string     `json:"name"`
	Kind     EntityKind `json:"kind"`
}

// WrittenText is a text that a run has shown. Interrupted means that it broke off.
type WrittenText struct {
	SpaceID     SpaceID `json:"spaceId"`
	Text        string  `json:"text"`
	Interrupted bool    `json:"interrupted"`
}

// RemoteCall is a tool call of a run. Answer is the last answer to what the run asked about
// it, null if it has asked nothing or is not answered.
type RemoteCall struct {
	CallID string          `json:"callId"`
	Type   WorkType        `json:"type"` // tool, card, permission or question
	Tool   string          `json:"tool"`
	Title  string          `json:"title"`
	Args   json.RawMessage `json:"args"`
	State  ToolState       `json:"state"`
	Output string          `json:"output"`
	Answer *Order          `json:"answer"`
}

// OrderType is the type of an [Order].
type OrderType string

// The types of orders.
const (
	// OrderAnswer is the answer to a permission, a question or a card.
	OrderAnswer OrderType = "answer"
	// OrderCancel says that the run has ended: nothing more is accepted about it.
	OrderCancel OrderType = "cancel"
	// OrderSteer offers a message that arrived in the space of the trigger while the run is in
	// progress. A line of the type steered takes it; else it is the trigger of the next run.
	OrderSteer OrderType = "steer"
)

// Order is what the server has to say to the program that executes a run. An order may be
// sent again, after a connection broke.
//
// Of an answer to a permission, Approved decides, never a text. ArgsHash is that of the
// arguments that were approved: EditedArgs if a person changed them. Of an answer to a
// question Text counts, of one to a card Result or Error.
//
// A message that is offered is that of the queued run RunID, with what else is new in the space;
// Text holds it between tags, as a prompt does. ActingFor are those for whom that run would act.
type Order struct {
	Type       OrderType       `json:"type"`
	CallID     string          `json:"callId,omitempty"`
	Approved   *bool           `json:"approved,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	ArgsHash   string          `json:"argsHash,omitempty"`
	EditedArgs json.RawMessage `json:"editedArgs,omitempty"`
	Text       string          `json:"text,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty"`
	By         EntityID        `json:"by,omitempty"`
	RunID      RunID           `json:"runId,omitempty"`
	MessageID  MessageID       `json:"messageId,omitempty"`
	ActingFor  []EntityID      `json:"actingFor,omitempty"`
}
