package hub

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// AgentTx keeps the configurations of hosted agents, every version of them.
type AgentTx interface {
	// HostedAgent is NotFound for an entity that has no configuration (any more).
	HostedAgent(session shoal.SessionID, id shoal.EntityID) (StoredAgent, error)
	// HostedAgentAt returns one version, also of an agent that is hosted no more.
	HostedAgentAt(session shoal.SessionID, id shoal.EntityID, version int) (StoredAgent, error)
	// HostedAgentVersions lists the versions of an agent, the newest first, those
	// below the given one (0: all), also of an agent that is hosted no more.
	HostedAgentVersions(session shoal.SessionID, id shoal.EntityID, before, limit int) ([]StoredAgent, error)
	// HostedAgents lists the newest versions in the order of ids, those after the
	// given one.
	HostedAgents(session shoal.SessionID, after shoal.EntityID, limit int) ([]StoredAgent, error)
	// PutHostedAgent stores a as the newest version, which must be one behind the
	// last. From then on Hosted of the entity is true.
	PutHostedAgent(a StoredAgent) error
	// DeleteHostedAgent makes the entity a connected agent. Its versions stay.
	DeleteHostedAgent(session shoal.SessionID, id shoal.EntityID) error
	// HostedMembers returns the hosted agents in a space, in the order of joining.
	HostedMembers(session shoal.SessionID, space shoal.SpaceID) ([]shoal.EntityID, error)
}

// StoredAgent is a configuration with what the hub has to know of it.
type StoredAgent struct {
	shoal.HostedAgent
	// Name and Description are those of the entity.
	Name, Description string
	OnNewMessage      string // parallel, enqueue, interrupt or reject
	SettleMs          int64
	MaxSteps          int
}

// RunTx keeps runs.
type RunTx interface {
	Run(session shoal.SessionID, id shoal.RunID) (StoredRun, error)
	// Runs lists the newest first, those before the given one.
	Runs(session shoal.SessionID, filter RunFilter) ([]StoredRun, error)
	InsertRun(r StoredRun) error
	// UpdateRun stores everything that can change.
	UpdateRun(r StoredRun) error
	// ClaimableRuns returns runs of all sessions that are awake, whose NotBefore has
	// come and that nobody holds a lease of at that time. The requesters of all sessions
	// take turns: first come the runs of those of whose runs the fewest are held, of each
	// requester the oldest first, and of equal ones the oldest.
	ClaimableRuns(at shoal.Time, limit int) ([]StoredRun, error)
	// HeldRuns returns the runs of all sessions whose lease is owner's. An empty
	// owner returns every run that has a lease.
	HeldRuns(owner string) ([]StoredRun, error)
	// NextClaim returns when the next awake run becomes claimable, if any will.
	NextClaim() (*shoal.Time, error)
	// RunSpaces returns the spaces that a run wrote to, in the order of its messages.
	RunSpaces(session shoal.SessionID, run shoal.RunID) ([]shoal.SpaceID, error)
}

// StoredRun is a run with what only the server knows. PendingToolCalls of the Run
// are not stored here: they are its open pending actions.
type StoredRun struct {
	shoal.Run
	// Version is that of the agent's configuration.
	Version int
	// Space is the trigger's, or empty. Requester is whose message started the run,
	// or the name of the plan or service.
	Space     shoal.SpaceID
	Requester string
	// Linked says that the chain passes a connected agent.
	Linked bool
	// Awake says that there is something to do for whoever executes runs: it begins,
	// something that it waited for has come, or it is to be canceled.
	Awake     bool
	NotBefore shoal.Time
	// Cancel asks for the end.
	Cancel bool
	// Owner holds the lease until LeaseUntil; Generation grows with every claim, and
	// who writes with an older one is refused.
	Owner      string
	LeaseUntil *shoal.Time
	Generation int64
	// Conversation names the conversation that the run belongs to. Began and Ended
	// are places in its own order of beginnings and ends, 0 for not yet.
	Conversation string
	Began, Ended int64
	// Turn is what the executor keeps of the run as a whole, opaque to the hub.
	// Revision counts its writes.
	Turn     json.RawMessage
	Revision int64
}

// RunFilter chooses runs; empty fields choose all. Space keeps the runs that a
// message of that space started or that wrote to it. Reader keeps those that this
// entity may see: of its spaces. Since and Until bound CreatedAt, Until excluded.
type RunFilter struct {
	Agent        shoal.EntityID
	Status       []shoal.RunStatus
	Trigger      shoal.TriggerType
	Space        shoal.SpaceID
	Reader       shoal.EntityID
	Since, Until *shoal.Time
	Before       shoal.RunID
	Limit        int
}

// StepTx keeps the steps of runs and what hosted agents remember of their
// conversations.
type StepTx interface {
	// PutStep stores a step; one with the same index is replaced.
	PutStep(session shoal.SessionID, run shoal.RunID, s StoredStep) error
	// RunSteps returns the steps in order.
	RunSteps(session shoal.SessionID, run shoal.RunID) ([]StoredStep, error)
	// DropSteps erases the steps from an index on.
	DropSteps(session shoal.SessionID, run shoal.RunID, from int) error
	// ClientInput returns what a front end sent for a run; NotFound for nothing.
	ClientInput(session shoal.SessionID, run shoal.RunID) (ClientInput, error)
	// PutClientInput stores what a front end sent for a run whole. Schemas may lose the
	// spaces between their tokens.
	PutClientInput(session shoal.SessionID, run shoal.RunID, in ClientInput) error
	// Conversation is NotFound before it was first put.
	Conversation(session shoal.SessionID, id string) (StoredConversation, error)
	// PutConversation stores c whole.
	PutConversation(c StoredConversation) error
	// Conversations lists the conversations of an agent's runs that have begun since
	// they were last cleared, in the order of their ids.
	Conversations(session shoal.SessionID, agent shoal.EntityID, filter ConversationFilter) ([]ConversationState, error)
	// Blocks returns the runs of a conversation that the filter chooses, with their
	// steps, in the order of their beginning: the newest Limit ones.
	Blocks(session shoal.SessionID, conversation string, filter BlockFilter) ([]Block, error)
}

// ConversationFilter chooses conversations: the one with an ID, or those after the id
// After, Limit at most.
type ConversationFilter struct {
	ID, After string
	Limit     int
}

// ConversationState says of a conversation what its runs do. ActiveRun is the first of
// those that have begun and not ended, empty for none. LastEnded is when the newest of
// the ended ones ended.
type ConversationState struct {
	ID        string
	ActiveRun shoal.RunID
	LastEnded *shoal.Time
}

// BlockFilter chooses runs by their places in a conversation: those that ended, before
// EndedBefore unless it is 0, and began after BeganAfter and before BeganBefore unless
// it is 0.
type BlockFilter struct {
	BeganAfter, BeganBefore, EndedBefore int64
	Limit                                int
}

// StoredStep is a step as the executor keeps it, and as others read it.
type StoredStep struct {
	shoal.Step
	Data json.RawMessage // opaque to the hub
	Done bool
}

// StoredConversation is the model-facing history of one hosted agent in one
// space, apart from the runs in it. Clock is the last place that was given to a
// beginning or an end. Runs that began at Cleared or before are not part of it any
// more.
type StoredConversation struct {
	Session shoal.SessionID
	ID      string
	Agent   shoal.EntityID
	Clock   int64
	Cleared int64
	Data    json.RawMessage // opaque to the hub
}

// Block is an ended run as later runs see it.
type Block struct {
	Run          shoal.RunID
	Began, Ended int64
	EndedAt      *shoal.Time
	Turn         json.RawMessage
	Steps        []json.RawMessage // StoredStep.Data of those that are done
}

// ComposedTx keeps composite messages.
type ComposedTx interface {
	// Message is NotFound for one that is not there, or not in that space.
	Message(session shoal.SessionID, space shoal.SpaceID, id shoal.MessageID) (shoal.Message, error)
	// UpdateMessage stores status, mentions, parts and updatedAt of a composite
	// message, and the state that its composer keeps, opaque to the hub.
	UpdateMessage(m shoal.Message, state json.RawMessage) error
	// Composed returns the messages of a run with their states, in the order of
	// their opening.
	Composed(session shoal.SessionID, run shoal.RunID) ([]ComposedMessage, error)
	// Streaming returns the messages in progress of a space, of all if it is empty.
	Streaming(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Message, error)
	// Cause returns what InsertCause stored about a message; the zero value when
	// nothing was.
	Cause(session shoal.SessionID, id shoal.MessageID) (Cause, error)
	InsertCause(session shoal.SessionID, id shoal.MessageID, c Cause) error
}

// ComposedMessage is a composite message with its composer's state.
type ComposedMessage struct {
	shoal.Message
	State json.RawMessage
}

// Cause says where a message stands in a chain of agents. A message without one
// is at depth 0 and its own root.
type Cause struct {
	Root   string
	Depth  int
	Linked bool // the chain passes a connected agent
	// ActingFor are those at the roots of the chain, see [shoal.Run]; empty where that
	// was not recorded yet.
	ActingFor []shoal.EntityID
}

// PendingTx keeps what runs wait for.
type PendingTx interface {
	Pending(session shoal.SessionID, id shoal.PendingID) (StoredPending, error)
	InsertPending(p StoredPending) error
	// UpdatePending stores everything that can change.
	UpdatePending(p StoredPending) error
	// PendingOf returns those of a run in the order of their opening, in any state.
	PendingOf(session shoal.SessionID, run shoal.RunID) ([]StoredPending, error)
	// PendingActions lists pending actions (no waits of the server's own), in the
	// order that the filter says.
	PendingActions(session shoal.SessionID, filter PendingFilter) ([]StoredPending, error)
	// ReplyWaits returns the open waits for a reply in a space.
	ReplyWaits(session shoal.SessionID, space shoal.SpaceID) ([]StoredPending, error)
	// DuePending returns open ones of all sessions that are due at that time.
	DuePending(at shoal.Time, limit int) ([]StoredPending, error)
	// NextDue returns when the next open one is due, if any is.
	NextDue() (*shoal.Time, error)
}

// Kinds of pending rows that nobody outside sees: the run waits for a reply in a
// space, or for the time.
const (
	PendingReply shoal.PendingKind = "reply"
	PendingTimer shoal.PendingKind = "timer"
)

// StoredPending is a pending action, or a wait of the server's own, with what
// only the server knows.
type StoredPending struct {
	shoal.PendingAction
	Session shoal.SessionID
	// Request is the id that the executor knows it by. Hash binds it to the tool and
	// its arguments.
	Request, Hash string
	// Requester is whose message started the run. Target, if set, is the one member
	// who sees the part and may answer.
	Requester string
	Target    shoal.EntityID
	Policy    Policy
	// Reply says what a PendingReply waits for.
	Reply *ReplyWait
	// Due is when time settles it: ExpiresAt, or the end of a wait.
	Due *shoal.Time
	// Answer is what settled it, AnswerHash the SHA-256 of what the caller sent.
	Answer     *shoal.PendingAnswer
	AnswerHash string
	// Taken says that the run has been given the answer.
	Taken bool
}

// Policy says who may answer, see the package approval, and what has been answered so
// far.
type Policy struct {
	By           []shoal.EntityID `json:"by,omitempty"`
	Quorum       int              `json:"quorum,omitempty"`
	NotRequester bool             `json:"notRequester,omitempty"`
	// Targeted says that the call itself names the space that shows it; ByService that
	// a service started the run.
	Targeted  bool `json:"targeted,omitempty"`
	ByService bool `json:"byService,omitempty"`
	// ArgsSchema is what changed arguments have to fit; without one they are not taken.
	ArgsSchema json.RawMessage `json:"argsSchema,omitempty"`
	// Requesters are the humans behind the run; nil where only Requester is known.
	Requesters []shoal.EntityID `json:"requesters,omitempty"`
	Votes      []StoredVote     `json:"votes,omitempty"`
	// Remembered is the decision that answered the action when it was opened.
	Remembered shoal.RememberedID `json:"remembered,omitempty"`
}

// StoredVote is one entity's answer to an action that is open.
type StoredVote struct {
	EntityID shoal.EntityID      `json:"entityId"`
	At       shoal.Time          `json:"at"`
	Answer   shoal.PendingAnswer `json:"answer"`
}

// RememberTx keeps remembered decisions.
type RememberTx interface {
	InsertRemembered(session shoal.SessionID, d shoal.RememberedDecision) error
	// Remembered is NotFound for one that is not there.
	Remembered(session shoal.SessionID, id shoal.RememberedID) (shoal.RememberedDecision, error)
	// RememberedDecisions lists in the order of ids those after the given one; of one
	// agent and tool if they are set.
	RememberedDecisions(session shoal.SessionID, filter RememberedFilter) ([]shoal.RememberedDecision, error)
	DeleteRemembered(session shoal.SessionID, id shoal.RememberedID) error
	// DropRemembered erases those of all sessions that had expired at that time.
	DropRemembered(at shoal.Time) error
}

// RememberedFilter chooses remembered decisions; empty fields choose all, a Limit of
// 0 is none. Until keeps those that expire later.
type RememberedFilter struct {
	Agent shoal.EntityID
	Tool  string
	Until *shoal.Time
	After shoal.RememberedID
	Limit int
}

// ReplyWait is a wait for a message in a space behind a place, from somebody who
// matches one of For.
type ReplyWait struct {
	Space shoal.SpaceID `json:"space"`
	After int64         `json:"after"`
	For   []ReplyFrom   `json:"for"`
}

// ReplyFrom matches a sender: any, agent, human, or entity with that id.
type ReplyFrom struct {
	Type     string         `json:"type"`
	EntityID shoal.EntityID `json:"entityId,omitempty"`
}

// PendingFilter chooses pending actions; empty fields choose all. Reader keeps
// those that a space of this entity shows. They come in the order of ids, those
// after the given one; with Newest the other way round, those before it.
type PendingFilter struct {
	Status []shoal.PendingStatus
	Space  shoal.SpaceID
	Run    shoal.RunID
	Reader shoal.EntityID
	After  shoal.PendingID
	Newest bool
	Limit  int
}

// PlanTx keeps plans.
type PlanTx interface {
	Plan(session shoal.SessionID, id shoal.PlanID) (shoal.Plan, error)
	// Plans lists an agent's in the order of ids; all of the session's with an empty
	// agent.
	Plans(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Plan, error)
	InsertPlan(session shoal.SessionID, p shoal.Plan) error
	UpdatePlan(session shoal.SessionID, p shoal.Plan) error
	DeletePlan(session shoal.SessionID, id shoal.PlanID) error
	// DuePlans returns pending plans of all sessions whose NextRunAt has come.
	DuePlans(at shoal.Time, limit int) ([]DuePlan, error)
	// NextPlan returns the earliest NextRunAt of a pending plan, if there is one.
	NextPlan() (*shoal.Time, error)
}

// DuePlan is a plan with its session.
type DuePlan struct {
	Session shoal.SessionID
	shoal.Plan
}

// NoteTx keeps what hosted agents note for themselves, in the order of creation.
type NoteTx interface {
	Goals(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Goal, error)
	// PutGoal stores a goal; one with the same id is replaced.
	PutGoal(session shoal.SessionID, agent shoal.EntityID, g shoal.Goal) error
	DeleteGoal(session shoal.SessionID, agent shoal.EntityID, id string) error
	Memories(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Memory, error)
	PutMemory(session shoal.SessionID, agent shoal.EntityID, m shoal.Memory) error
	DeleteMemory(session shoal.SessionID, agent shoal.EntityID, id string) error
}

// UsageTx keeps what model calls used.
type UsageTx interface {
	// AddUsage stores what one step used; the same step again replaces it.
	AddUsage(session shoal.SessionID, u StepUsage) error
	// Usage sums up by the given names (day, agent, model, run), in their order.
	Usage(session shoal.SessionID, q UsageQuery) ([]shoal.UsageRow, error)
	// Spend adds to what the runs with one root have used or reserved, and returns the
	// sum with that. What is added may be negative.
	Spend(session shoal.SessionID, root string, s Spending) (Spending, error)
}

// Spending is what model calls use.
type Spending struct {
	Cost   float64 // in US dollars
	Tokens int64
}

// Plus returns the sum of both.
func (s Spending) Plus(t Spending) Spending { return Spending{s.Cost + t.Cost, s.Tokens + t.Tokens} }

// Minus returns the difference of both.
func (s Spending) Minus(t Spending) Spending { return Spending{s.Cost - t.Cost, s.Tokens - t.Tokens} }

// StepUsage is what one step used.
type StepUsage struct {
	Run   shoal.RunID
	Step  int
	Agent shoal.EntityID
	Model string
	At    shoal.Time
	shoal.Usage
}

// UsageQuery chooses and groups usage. From and To bound the time, To excluded.
type UsageQuery struct {
	By       []string // of day, agent, model and run
	Agent    shoal.EntityID
	Run      shoal.RunID
	From, To *shoal.Time
}

// FileTx keeps uploaded files.
type FileTx interface {
	InsertFile(session shoal.SessionID, f shoal.File, by shoal.EntityID, at shoal.Time, data []byte) error
	// File returns a file and who uploaded it ("" for no entity).
	File(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, data []byte, err error)
	// ShowFile notes that a space shows the file; it may be repeated.
	ShowFile(session shoal.SessionID, id shoal.FileID, space shoal.SpaceID) error
	// StoredBytes adds up the files that an entity has uploaded or made.
	StoredBytes(session shoal.SessionID, by shoal.EntityID) (int64, error)
	// FileHead is File without the data, which may be large.
	FileHead(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, err error)
	// DeleteFile erases a file with its name, and the first answer to the idempotency
	// key that it was uploaded under.
	DeleteFile(session shoal.SessionID, id shoal.FileID) error
	// FileShownTo reports whether a space of the entity shows the file.
	FileShownTo(session shoal.SessionID, id shoal.FileID, entity shoal.EntityID) (bool, error)
}
