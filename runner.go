package shoal

import "time"

// RunnerID names a machine on which a program runs coding agents, such as ada-mbp.
type RunnerID string

const (
	// RunnerWindow is for how long a runner counts as online after a report. It reports three times
	// in that time.
	RunnerWindow = 90 * time.Second
	// MaxRunners is on how many machines an agent is remembered. One more forgets the one that has
	// been silent for the longest.
	MaxRunners = 8
)

// Runner is a machine on which a program, such as shoal runner, runs agents of a session. Version and
// SeenAt are those of its last report.
type Runner struct {
	ID      RunnerID      `json:"id"`
	Online  bool          `json:"online"`
	Version string        `json:"version"`
	SeenAt  Time          `json:"seenAt"`
	Agents  []RunnerAgent `json:"agents"`
}

// RunnerAgent is an agent on a runner. Report is what the runner has said last, and KeyID the key with
// which it has: the agent's own, or nil for an admin's.
type RunnerAgent struct {
	AgentID    EntityID     `json:"agentId"`
	Online     bool         `json:"online"`
	EnrolledAt Time         `json:"enrolledAt"`
	SeenAt     Time         `json:"seenAt"`
	KeyID      *KeyID       `json:"keyId"`
	Report     RunnerReport `json:"report"`
}

// RunnerReport is what a runner says about an agent: the program that it runs, where, and what it lets
// that program do. Nothing on the server changes it. RespondTo and Approve list entity ids, and "owner"
// and "members". Zero means no bound. Problem says why the agent does not work, and Stopped that the
// runner has stopped in order.
type RunnerReport struct {
	Version         string   `json:"version"`
	Kind            string   `json:"kind"`
	Dir             string   `json:"dir"`
	Worktree        bool     `json:"worktree"`
	Mode            string   `json:"mode"`
	RespondTo       []string `json:"respondTo"`
	Approve         []string `json:"approve"`
	MaxTurnsPerHour int      `json:"maxTurnsPerHour"`
	MaxTokensPerDay int      `json:"maxTokensPerDay"`
	MaxCostPerDay   float64  `json:"maxCostPerDay"`
	Problem         string   `json:"problem,omitempty"`
	Stopped         bool     `json:"stopped,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (r RunnerReport) Validate() error {
	var p problems
	p.add(CheckID("kind", r.Kind))
	p.add(CheckID("mode", r.Mode))
	p.add(checkLine("version", r.Version, MaxName, false))
	p.add(checkLine("dir", r.Dir, MaxDescription, false))
	p.add(checkLine("problem", r.Problem, MaxDescription, false))
	for _, id := range r.RespondTo {
		p.add(CheckID("respondTo", id))
	}
	for _, id := range r.Approve {
		p.add(CheckID("approve", id))
	}
	if r.MaxTurnsPerHour < 0 || r.MaxTokensPerDay < 0 || r.MaxCostPerDay < 0 {
		p.add(Invalid("maxTurnsPerHour", "must not be negative, and neither must the other bounds"))
	}
	return p.err()
}
