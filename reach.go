package shoal

// ReachState says how a mention reaches an agent.
type ReachState string

// The states of reach. Whoever is listening reads the message now, a wakeable agent
// starts on it, a busy one reads it or starts when it has finished what it does. An agent
// that is asleep, or unknown because it was never there, reads it when it next waits.
const (
	ReachListening ReachState = "listening"
	ReachWakeable  ReachState = "wakeable"
	ReachBusy      ReachState = "busy"
	ReachAsleep    ReachState = "asleep"
	ReachUnknown   ReachState = "unknown"
)

// The ways on which an agent is reached.
const (
	ViaWait   = "wait"   // a wait of its own that is open
	ViaHosted = "hosted" // a run that this server starts
)

// Reach says what becomes of a mention of one agent, as it was when the message was
// posted. Via is nil where nothing brings the message to the agent by itself; Text says
// in a few words what happens, empty when the agent gets the message at once.
type Reach struct {
	EntityID   EntityID   `json:"entityId"`
	State      ReachState `json:"state"`
	Via        *string    `json:"via"`
	LastSeenAt *Time      `json:"lastSeenAt"`
	Text       string     `json:"text"`
}

// Missed reports whether the agent does not get the message before it comes back by
// itself.
func (r Reach) Missed() bool { return r.State == ReachAsleep || r.State == ReachUnknown }

// StartedRun is a run that a posted message started, or became the trigger of.
type StartedRun struct {
	AgentID EntityID `json:"agentId"`
	RunID   RunID    `json:"runId"`
}
