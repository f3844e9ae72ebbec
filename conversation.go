package shoal

// Conversation is what a hosted agent's model has said and read in one space, in the
// runs of one plan, or for one service: later runs there go on from it. ID names it
// among those of the agent: the id of the space, "plan:" with the id of the plan, or
// "service:" with the name of the service.
type Conversation struct {
	ID          string   `json:"id"`
	AgentID     EntityID `json:"agentId"`
	SpaceID     *SpaceID `json:"spaceId"`
	PlanID      *PlanID  `json:"planId"`
	ServiceName *string  `json:"serviceName"`
	// ActiveRunID is a run that has begun and not ended. While there is one, the
	// conversation cannot be cleared.
	ActiveRunID *RunID `json:"activeRunId"`
	// LastRunAt is when its newest run ended, null before the first one has.
	LastRunAt *Time `json:"lastRunAt"`
}

// ConversationRun is what one ended run added to a [Conversation]: what it read first,
// then the model's answers with the results of its calls. Runs that went on at once may
// have read the same messages; later runs read each once.
type ConversationRun struct {
	RunID    RunID          `json:"runId"`
	EndedAt  *Time          `json:"endedAt"`
	Messages []ModelMessage `json:"messages"`
	// Summary is the newest summary if it was made in this run: later runs read it in
	// place of older messages. Null for all other runs.
	Summary *string `json:"summary"`
}
