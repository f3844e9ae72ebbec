package storage

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
)

// Roots returns for whom a run acts. A run that is older than the record acts for whom
// its trigger names.
func (r Run) Roots() []shoal.EntityID {
	if len(r.ActingFor) > 0 {
		return r.ActingFor
	}
	switch t := r.Trigger; t.Type {
	case shoal.SpaceMessageTrigger:
		return behalf.Join([]shoal.EntityID{t.SenderEntityID})
	case shoal.ServiceTrigger:
		return []shoal.EntityID{behalf.Service(t.ServiceName)}
	}
	return []shoal.EntityID{}
}

// Cause is where what the run says and starts belongs in its chain, deeper by so much.
func (r Run) Cause(deeper int) Cause {
	return Cause{Root: r.CauseRoot, Depth: r.Depth + deeper, Linked: r.Linked, ActingFor: r.Roots()}
}

// OnBehalf is the run as the rules of [behalf] see it.
func (r Run) OnBehalf(access behalf.Access) behalf.Run {
	return behalf.Run{Space: r.Space, For: r.Roots(), Access: access}
}

// ClientInput is what a front end sends with a message for the runs that the message
// starts: tools that it executes itself, and context for the model. It is the same for
// all of these runs, and is not passed on to runs that they start.
type ClientInput struct {
	// EntityID is the sender of the message. Nobody else answers the calls of Tools.
	EntityID shoal.EntityID  `json:"entityId"`
	Tools    []ClientTool    `json:"tools"`
	Context  []ClientContext `json:"context"`
	// Refused are the names of the tools that the run does not use, because its agent
	// has tools of these names. It is empty until the run has begun.
	Refused []string `json:"refused"`
}

// ClientTool is a tool that a front end executes. Schema is the JSON Schema of its
// arguments, nil for any object.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

// ClientContext is something that the model should know in a run.
type ClientContext struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// AgentTx stores every version of the configurations of hosted agents.
type AgentTx interface {
	// HostedAgent fails with NotFound for an entity that has no configuration, or no longer
	// has one.
	HostedAgent(session shoal.SessionID, id shoal.EntityID) (Agent, error)
	// HostedAgentAt returns one version, also of an agent that is no longer hosted.
	HostedAgentAt(session shoal.SessionID, id shoal.EntityID, version int) (Agent, error)
	// HostedAgentVersions lists the versions of an agent below before (0: all), the newest
	// first, also of an agent that is no longer hosted.
	HostedAgentVersions(session shoal.SessionID, id shoal.EntityID, before, limit int) ([]Agent, error)
	// HostedAgents lists the newest versions in the order of ids, starting after the given
	// id.
	HostedAgents(session shoal.SessionID, after shoal.EntityID, limit int) ([]Agent, error)
	// PutHostedAgent stores a as the newest version, whose number must be that of the last
	// one plus one. From then on Hosted of the entity is true.
	PutHostedAgent(a Agent) error
	// DeleteHostedAgent makes the entity a connected agent. Its versions remain.
	DeleteHostedAgent(session shoal.SessionID, id shoal.EntityID) error
	// HostedMembers returns the hosted agents in a space, in the order of joining.
	HostedMembers(session shoal.SessionID, space shoal.SpaceID) ([]shoal.EntityID, error)
}

// Agent is a configuration with the settings that the hub itself uses.
type Agent struct {
	shoal.HostedAgent
	// Name and Description are those of the entity.
	Name, Description string
	OnNewMessage      string // parallel, enqueue, interrupt or reject
	SettleMs          int64
	MaxSteps          int
}

// RunTx stores runs.
type RunTx interface {
	Run(session shoal.SessionID, id shoal.RunID) (Run, error)
	// Runs lists runs, the newest first, starting before filter.Before.
	Runs(session shoal.SessionID, filter RunFilter) ([]Run, error)
	InsertRun(r Run) error
	// UpdateRun stores everything that can change.
	UpdateRun(r Run) error
	// ClaimableRuns returns runs of all sessions that are awake, whose NotBefore has
	// passed and that are not leased at that time. The requesters of all sessions take
	// turns: requesters with the fewest leased runs come first, equal ones in the order of
	// their oldest run. The runs of one requester are returned oldest first.
	ClaimableRuns(at shoal.Time, limit int) ([]Run, error)
	// HeldRuns returns the runs of all sessions that owner has leased, or every leased run
	// if owner is empty.
	HeldRuns(owner string) ([]Run, error)
	// NextClaim returns when the next awake run becomes claimable, or nil.
	NextClaim() (*shoal.Time, error)
	// RunSpaces returns the spaces that a run wrote to, in the order of its messages.
	RunSpaces(session shoal.SessionID, run shoal.RunID) ([]shoal.SpaceID, error)
}

// Run is a run with the fields that only the server uses. PendingToolCalls of the
// Run are not stored here: they are its open pending actions.
type Run struct {
	shoal.Run
	// Version is that of the agent's configuration.
	Version int
	// Space is the space of the trigger, or empty. Requester is the sender of the message
	// that started the run, or the name of the plan or service.
	Space     shoal.SpaceID
	Requester string
	// Linked reports whether the chain of agents passes a connected agent.
	Linked bool
	// Awake reports whether the executor has something to do for the run: start it,
	// continue it because something that it waited for has arrived, or cancel it.
	Awake     bool
	NotBefore shoal.Time
	// Cancel requests the end of the run.
	Cancel bool
	// Owner holds the lease until LeaseUntil. Generation grows with every claim; writes
	// with an older generation are rejected.
	Owner      string
	LeaseUntil *shoal.Time
	Generation int64
	// Conversation is the id of the conversation that the run belongs to. Began and Ended
	// are positions in that conversation's order of starts and ends, 0 for not yet.
	Conversation string
	Began, Ended int64
	// Turn is the executor's state of the run as a whole, opaque to the hub. Revision
	// counts its writes.
	Turn     json.RawMessage
	Revision int64
}

// RunFilter selects runs; an empty field does not restrict the selection. Space selects
// the runs that a message of that space started or that wrote to it. Reader selects the
// runs that this entity may see: those of its spaces. Since and Until limit CreatedAt;
// Until is exclusive.
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

// StepTx stores the steps of runs and the conversations of hosted agents.
type StepTx interface {
	// PutStep stores a step and replaces one with the same index.
	PutStep(session shoal.SessionID, run shoal.RunID, s Step) error
	// RunSteps returns the steps in order.
	RunSteps(session shoal.SessionID, run shoal.RunID) ([]Step, error)
	// DropSteps erases the steps with index from and higher.
	DropSteps(session shoal.SessionID, run shoal.RunID, from int) error
	// ClientInput returns the input that a front end sent for a run; NotFound when it sent
	// none.
	ClientInput(session shoal.SessionID, run shoal.RunID) (ClientInput, error)
	// PutClientInput stores the complete input of a front end for a run. Schemas may lose
	// the white space between their tokens.
	PutClientInput(session shoal.SessionID, run shoal.RunID, in ClientInput) error
	// Conversation fails with NotFound for a conversation that was never stored.
	Conversation(session shoal.SessionID, id string) (Conversation, error)
	// PutConversation stores all of c.
	PutConversation(c Conversation) error
	// Conversations lists, in the order of their ids, the conversations of an agent in
	// which runs have begun since they were last cleared.
	Conversations(session shoal.SessionID, agent shoal.EntityID, filter ConversationFilter) ([]ConversationState, error)
	// Blocks returns the newest filter.Limit runs of a conversation that match filter, with
	// their steps, in the order in which they began.
	Blocks(session shoal.SessionID, conversation string, filter BlockFilter) ([]Block, error)
}

// ConversationFilter selects one conversation by ID, or at most Limit conversations with
// ids after After.
type ConversationFilter struct {
	ID, After string
	Limit     int
}

// ConversationState is the state of the runs of a conversation. ActiveRun is the first run
// that has begun and not ended, or empty. LastEnded is when the newest of the ended runs
// ended.
type ConversationState struct {
	ID        string
	ActiveRun shoal.RunID
	LastEnded *shoal.Time
}

// BlockFilter selects ended runs by their positions in a conversation: those that ended
// before EndedBefore (unless it is 0), began after BeganAfter, and began before
// BeganBefore (unless it is 0).
type BlockFilter struct {
	BeganAfter, BeganBefore, EndedBefore int64
	Limit                                int
}

// Step is a step as readers see it, with the executor's own data.
type Step struct {
	shoal.Step
	Data json.RawMessage // opaque to the hub
	Done bool
}

// Conversation is the model-facing history of one hosted agent in one space, without
// its runs. Clock is the last position that was assigned to a start or an end of a run.
// Runs that began at Cleared or before are no longer part of it.
type Conversation struct {
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
	Steps        []json.RawMessage // Step.Data of the completed steps
}

// ComposedTx stores composite messages.
type ComposedTx interface {
	// Message fails with NotFound for a message that does not exist in that space.
	Message(session shoal.SessionID, space shoal.SpaceID, id shoal.MessageID) (shoal.Message, error)
	// UpdateMessage stores status, mentions, parts and updatedAt of a composite message,
	// and the state of its composer, which is opaque to the hub.
	UpdateMessage(m shoal.Message, state json.RawMessage) error
	// Composed returns the messages of a run with the states of their composers, in the
	// order in which they were opened.
	Composed(session shoal.SessionID, run shoal.RunID) ([]ComposedMessage, error)
	// Streaming returns the messages in progress of a space, or of all spaces if space is
	// empty.
	Streaming(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Message, error)
	// Cause returns the cause that InsertCause stored for a message, or the zero value.
	Cause(session shoal.SessionID, id shoal.MessageID) (Cause, error)
	InsertCause(session shoal.SessionID, id shoal.MessageID, c Cause) error
}

// ComposedMessage is a composite message with the state of its composer.
type ComposedMessage struct {
	shoal.Message
	State json.RawMessage
}

// Cause is the position of a message in a chain of agents. A message without a cause has
// depth 0 and is its own root.
type Cause struct {
	Root   string
	Depth  int
	Linked bool // the chain passes a connected agent
	// ActingFor are the entities at the roots of the chain, see [shoal.Run]; empty for
	// messages from before this was recorded.
	ActingFor []shoal.EntityID
}

// PendingTx stores pending actions and the other waits of runs.
type PendingTx interface {
	Pending(session shoal.SessionID, id shoal.PendingID) (Pending, error)
	InsertPending(p Pending) error
	// UpdatePending stores everything that can change.
	UpdatePending(p Pending) error
	// PendingOf returns those of a run, in any state, in the order in which they were
	// opened.
	PendingOf(session shoal.SessionID, run shoal.RunID) ([]Pending, error)
	// PendingActions lists pending actions, without PendingReply and PendingTimer, in the
	// order of the filter.
	PendingActions(session shoal.SessionID, filter PendingFilter) ([]Pending, error)
	// ReplyWaits returns the open waits for a reply in a space.
	ReplyWaits(session shoal.SessionID, space shoal.SpaceID) ([]Pending, error)
	// DuePending returns open ones of all sessions that are due at that time.
	DuePending(at shoal.Time, limit int) ([]Pending, error)
	// NextDue returns when the next open one is due, or nil.
	NextDue() (*shoal.Time, error)
}

// Internal kinds of pending rows, which no client sees: the run waits for a reply in a
// space, or for a time.
const (
	PendingReply shoal.PendingKind = "reply"
	PendingTimer shoal.PendingKind = "timer"
)

// Pending is a pending action, or an internal wait of a run, with the fields that
// only the server uses.
type Pending struct {
	shoal.PendingAction
	Session shoal.SessionID
	// Request is the executor's id of it. Hash binds it to the tool and its arguments.
	Request, Hash string
	// Requester is the sender of the message that started the run. Target, if set, is the
	// only member that sees the part and may answer.
	Requester string
	Target    shoal.EntityID
	Policy    Policy
	// Reply describes the message that a PendingReply waits for.
	Reply *ReplyWait
	// Due is when it is settled without an answer: ExpiresAt, or the end of a wait.
	Due *shoal.Time
	// Answer is the answer that settled it, AnswerHash the SHA-256 of the caller's input.
	Answer     *shoal.PendingAnswer
	AnswerHash string
	// Taken reports whether the run has received the answer.
	Taken bool
}

// Policy determines which entities may answer, see the package approval, and records the
// votes so far.
type Policy struct {
	By           []shoal.EntityID `json:"by,omitempty"`
	Quorum       int              `json:"quorum,omitempty"`
	NotRequester bool             `json:"notRequester,omitempty"`
	// Targeted reports whether the call itself names the space that shows it, ByService
	// whether a service started the run.
	Targeted  bool `json:"targeted,omitempty"`
	ByService bool `json:"byService,omitempty"`
	// ArgsSchema is the schema that changed arguments must match. Without it, answers
	// cannot change the arguments.
	ArgsSchema json.RawMessage `json:"argsSchema,omitempty"`
	// Requesters are the humans whose messages led to the run; nil if only Requester is
	// known.
	Requesters []shoal.EntityID `json:"requesters,omitempty"`
	Votes      []Vote           `json:"votes,omitempty"`
	// Remembered is the remembered decision that answered the action when it was opened.
	Remembered shoal.RememberedID `json:"remembered,omitempty"`
}

// Vote is one entity's answer to an open action.
type Vote struct {
	EntityID shoal.EntityID      `json:"entityId"`
	At       shoal.Time          `json:"at"`
	Answer   shoal.PendingAnswer `json:"answer"`
}

// RememberTx stores remembered decisions.
type RememberTx interface {
	InsertRemembered(session shoal.SessionID, d shoal.RememberedDecision) error
	// Remembered fails with NotFound for a decision that does not exist.
	Remembered(session shoal.SessionID, id shoal.RememberedID) (shoal.RememberedDecision, error)
	// RememberedDecisions lists the decisions that match filter, in the order of ids.
	RememberedDecisions(session shoal.SessionID, filter RememberedFilter) ([]shoal.RememberedDecision, error)
	DeleteRemembered(session shoal.SessionID, id shoal.RememberedID) error
	// DropRemembered erases the decisions of all sessions that had expired at that time.
	DropRemembered(at shoal.Time) error
}

// RememberedFilter selects remembered decisions; an empty field does not restrict the
// selection, and a Limit of 0 means no limit. Until selects decisions that expire later.
type RememberedFilter struct {
	Agent shoal.EntityID
	Tool  string
	Until *shoal.Time
	After shoal.RememberedID
	Limit int
}

// ReplyWait is a wait for a message in a space with a seq above After, from a sender that
// matches one of For.
type ReplyWait struct {
	Space shoal.SpaceID `json:"space"`
	After int64         `json:"after"`
	For   []ReplyFrom   `json:"for"`
}

// ReplyFrom matches senders. Type is any, agent, human, or entity, which means the sender
// with EntityID.
type ReplyFrom struct {
	Type     string         `json:"type"`
	EntityID shoal.EntityID `json:"entityId,omitempty"`
}

// PendingFilter selects pending actions; an empty field does not restrict the selection.
// Reader selects those that a space of this entity shows. They are in the order of ids,
// starting after After; with Newest they are in the reverse order, starting before it.
type PendingFilter struct {
	Status []shoal.PendingStatus
	Space  shoal.SpaceID
	Run    shoal.RunID
	Reader shoal.EntityID
	After  shoal.PendingID
	Newest bool
	Limit  int
}

// PlanTx stores plans (schedules).
type PlanTx interface {
	Plan(session shoal.SessionID, id shoal.PlanID) (shoal.Plan, error)
	// Plans lists the plans of an agent, or of the session if agent is empty, in the order
	// of ids.
	Plans(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Plan, error)
	InsertPlan(session shoal.SessionID, p shoal.Plan) error
	UpdatePlan(session shoal.SessionID, p shoal.Plan) error
	DeletePlan(session shoal.SessionID, id shoal.PlanID) error
	// DuePlans returns pending plans of all sessions whose NextRunAt is at or before at.
	DuePlans(at shoal.Time, limit int) ([]DuePlan, error)
	// NextPlan returns the earliest NextRunAt of a pending plan, or nil.
	NextPlan() (*shoal.Time, error)
}

// DuePlan is a plan with its session.
type DuePlan struct {
	Session shoal.SessionID
	shoal.Plan
}

// NoteTx stores the goals and memories of hosted agents, in the order of creation.
type NoteTx interface {
	Goals(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Goal, error)
	// PutGoal stores a goal and replaces one with the same id.
	PutGoal(session shoal.SessionID, agent shoal.EntityID, g shoal.Goal) error
	DeleteGoal(session shoal.SessionID, agent shoal.EntityID, id string) error
	Memories(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Memory, error)
	PutMemory(session shoal.SessionID, agent shoal.EntityID, m shoal.Memory) error
	DeleteMemory(session shoal.SessionID, agent shoal.EntityID, id string) error
}

// UsageTx stores the usage of model calls.
type UsageTx interface {
	// AddUsage stores the usage of one step and replaces an earlier value of that step.
	AddUsage(session shoal.SessionID, u StepUsage) error
	// Usage returns sums grouped by q.By, in that order.
	Usage(session shoal.SessionID, q UsageQuery) ([]shoal.UsageRow, error)
	// Spend adds s, which may be negative, to the amount that the runs with one root have
	// used or reserved, and returns the new total.
	Spend(session shoal.SessionID, root string, s Spending) (Spending, error)
}

// Spending is the cost and the tokens of model calls.
type Spending struct {
	Cost   float64 // in US dollars
	Tokens int64
}

// Plus returns the sum of both.
func (s Spending) Plus(t Spending) Spending { return Spending{s.Cost + t.Cost, s.Tokens + t.Tokens} }

// Minus returns the difference of both.
func (s Spending) Minus(t Spending) Spending { return Spending{s.Cost - t.Cost, s.Tokens - t.Tokens} }

// StepUsage is the usage of one step.
type StepUsage struct {
	Run   shoal.RunID
	Step  int
	Agent shoal.EntityID
	Model string
	At    shoal.Time
	shoal.Usage
}

// UsageQuery selects and groups usage. From and To limit the time; To is exclusive.
type UsageQuery struct {
	By       []string // of day, agent, model and run
	Agent    shoal.EntityID
	Run      shoal.RunID
	From, To *shoal.Time
}

// FileTx stores files.
type FileTx interface {
	InsertFile(session shoal.SessionID, f shoal.File, by shoal.EntityID, at shoal.Time, data []byte) error
	// File returns a file and the entity that uploaded it ("" for none).
	File(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, data []byte, err error)
	// ShowFile records that a space shows the file; it may be repeated.
	ShowFile(session shoal.SessionID, id shoal.FileID, space shoal.SpaceID) error
	// StoredBytes returns the total size of the files that an entity has uploaded or
	// created.
	StoredBytes(session shoal.SessionID, by shoal.EntityID) (int64, error)
	// FileHead is File without the data, which may be large.
	FileHead(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, err error)
	// DeleteFile erases a file with its name, and the stored response to the idempotency
	// key that it was uploaded under.
	DeleteFile(session shoal.SessionID, id shoal.FileID) error
	// FileShownTo reports whether a space of the entity shows the file.
	FileShownTo(session shoal.SessionID, id shoal.FileID, entity shoal.EntityID) (bool, error)
}
