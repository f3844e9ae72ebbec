package shoal

// Reason says why a message is in somebody's inbox.
type Reason string

// The reasons, the strongest first: the reader is mentioned; the system
// speaks; somebody else wrote into a space of the reader.
const (
	ReasonMention Reason = "mention"
	ReasonSystem  Reason = "system"
	ReasonMessage Reason = "message"
)

// WaitKind says for what an entity waits.
type WaitKind string

// The kinds of waits: for mentions and system messages only, or for every
// message of the caller's spaces that it did not send.
const (
	WaitMentions WaitKind = "mentions"
	WaitMessages WaitKind = "messages"
)

// WaitAdapter describes a program that waits for an entity in order to wake its model, such as a hook
// of a coding agent. Kind names the kind of program and SessionRef what it wakes, in its own words,
// such as the id of a terminal session; it may be empty.
type WaitAdapter struct {
	Kind       string `json:"kind"`
	SessionRef string `json:"sessionRef,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (a WaitAdapter) Validate() error {
	var p problems
	p.add(CheckID("adapter.kind", a.Kind))
	p.add(checkLine("adapter.sessionRef", a.SessionRef, MaxName, false))
	return p.err()
}

// InboxMessage is a message as a wait returns it. Delivery counts in how many
// returned batches it was, this one included; 1 is the first time.
type InboxMessage struct {
	Message
	Delivery int    `json:"delivery"`
	Reason   Reason `json:"reason"`
}

// SpaceRef names a space where the whole of it would be too much.
type SpaceRef struct {
	ID     SpaceID     `json:"id"`
	Name   string      `json:"name"`
	Status SpaceStatus `json:"status"`
}

// WaitItem holds the messages of one space, in the order of the reader's inbox.
type WaitItem struct {
	Space    SpaceRef       `json:"space"`
	Messages []InboxMessage `json:"messages"`
}

// WaitResult is what a wait answers. Cursor, handed back as ack, acknowledges
// exactly these messages. A time-out has no items, no cursor, and TimedOut set.
// Failed says that an agent whose messages the wait named is not going to answer; the
// system message among the items says it in words.
type WaitResult struct {
	Items     []WaitItem   `json:"items"`
	Cursor    *string      `json:"cursor"`
	TimedOut  bool         `json:"timedOut"`
	TimeoutMs int64        `json:"timeoutMs"`
	Failed    *WaitFailure `json:"failed"`
}

// WaitFailure is why an agent did not answer. Code is one of the contract's.
type WaitFailure struct {
	EntityID EntityID `json:"entityId"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
}

// Hit is one result of a search. Highlight is a piece of the message's text;
// Matches are the byte ranges in it that match, in order.
type Hit struct {
	Space     SpaceRef `json:"space"`
	Message   Message  `json:"message"`
	Highlight string   `json:"highlight"`
	Matches   [][2]int `json:"matches"`
}

// ReachState is how a mention reaches an agent.
type ReachState string

// The states of reach. A listening agent reads the message now, a wakeable agent is woken or
// started by it, a busy one gets it when it has finished what it does. An agent that is asleep reads
// it when it next waits. Unknown is an agent that was never there, or of which the server does not
// know yet whether a program wakes it, because the server has just started.
const (
	ReachListening ReachState = "listening"
	ReachWakeable  ReachState = "wakeable"
	ReachBusy      ReachState = "busy"
	ReachAsleep    ReachState = "asleep"
	ReachUnknown   ReachState = "unknown"
)

// How a message reaches an agent.
const (
	ViaWait   = "wait"   // a wait of its own that is open
	ViaHosted = "hosted" // a run that this server starts
	// ViaProgram is a run that a program outside of the server executes.
	ViaProgram = "program"
)

// Reach is the effect of a mention of one agent at the time of the post. Via is nil if the
// agent reads the message only when it calls again. Text says the effect for people, as what
// follows the name of the agent, and Reason what hinders it, if anything does. KnownAt is when the
// server knows how a mention reaches the agent, nil if it does know.
type Reach struct {
	EntityID   EntityID   `json:"entityId"`
	State      ReachState `json:"state"`
	Via        *string    `json:"via"`
	LastSeenAt *Time      `json:"lastSeenAt"`
	Text       string     `json:"text"`
	Reason     string     `json:"reason,omitempty"`
	KnownAt    *Time      `json:"knownAt,omitempty"`
}

// Missed reports whether nothing reads the message now. It is false if the server does not know.
func (r Reach) Missed() bool {
	return r.State == ReachAsleep || r.State == ReachUnknown && r.KnownAt == nil
}

// ReachOf returns how a mention reaches an agent whose wake is w, without a message.
func ReachOf(agent EntityID, w Wake) Reach {
	r := Reach{EntityID: agent, State: w.State, Via: w.Via, LastSeenAt: w.LastSeenAt, Text: w.Text, Reason: w.Reason}
	if w.State == ReachUnknown {
		r.KnownAt = w.Until
	}
	return r
}

// StartedRun is a run that a posted message started, or became the trigger of.
type StartedRun struct {
	AgentID EntityID `json:"agentId"`
	RunID   RunID    `json:"runId"`
}
