package storage

import (
	"github.com/shoal-dev/shoal"
)

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
	OnNewMessage      string // parallel, enqueue, interrupt, reject or steer
	SettleMs          int64
	MaxSteps          int
	// Remote means that a program outside of the server executes the runs.
	Remote bool
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
