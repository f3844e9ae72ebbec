package storage

import "github.com/shoal-dev/shoal"

// RunnerTx stores which agents run on which machines, as their runners report it.
type RunnerTx interface {
	// SaveRunner stores a report, with the time of the database's clock. Of the machines of an
	// agent it keeps those that were seen last, at most the given number.
	SaveRunner(session shoal.SessionID, r RunnerRow, most int) error
	// Runners lists the reports of at most limit machines of a session, in the order of the ids of
	// the machines and then of the agents, starting after the given machine.
	Runners(session shoal.SessionID, after shoal.RunnerID, limit int) ([]RunnerRow, error)
	// HasRunner reports whether a machine has reported about an agent.
	HasRunner(session shoal.SessionID, id shoal.RunnerID, agent shoal.EntityID) (bool, error)
	// RunnerKeys returns the keys with which a machine has reported about agents. It fails with
	// NotFound for a machine that has not.
	RunnerKeys(session shoal.SessionID, id shoal.RunnerID) ([]shoal.KeyID, error)
	// DeleteRunner forgets a machine. An unknown machine is not an error.
	DeleteRunner(session shoal.SessionID, id shoal.RunnerID) error
	// DeleteRunnersOf forgets the machines of an agent.
	DeleteRunnersOf(session shoal.SessionID, agent shoal.EntityID) error
}

// RunnerRow is the last report of a machine about an agent. EnrolledAt, of the first one, and SeenAt are
// times of the database's clock, which SaveRunner sets.
type RunnerRow struct {
	Runner     shoal.RunnerID
	Agent      shoal.EntityID
	Key        *shoal.KeyID
	EnrolledAt shoal.Time
	SeenAt     shoal.Time
	Report     shoal.RunnerReport
}
