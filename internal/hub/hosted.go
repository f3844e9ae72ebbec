package hub

import (
	"context"

	"github.com/shoal-dev/shoal"
)

// Agents keeps the configurations of hosted agents. What is in them is decoded
// and checked by whoever calls.
type Agents struct{ *core }

// Put stores a configuration as the newest version and makes the agent's entity if
// it is new. created says that there was no version before. A configuration with
// the hash of the newest version changes nothing. Conflict for a human. Admins only.
func (a *Agents) Put(ctx context.Context, who shoal.Principal, n StoredAgent) (out shoal.HostedAgent, created bool, err error) {
	panic("not built")
}

// Get returns the newest version, or, if version is not 0, that one. Admins only.
func (a *Agents) Get(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.EntityID, version int) (shoal.HostedAgent, error) {
	panic("not built")
}

// List returns the newest versions in the order of ids, those after the given one.
// Admins only.
func (a *Agents) List(ctx context.Context, who shoal.Principal, session shoal.SessionID, after shoal.EntityID, limit int) ([]shoal.HostedAgent, error) {
	panic("not built")
}

// Delete leaves a connected agent behind, and cancels its runs. Admins only.
func (a *Agents) Delete(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.EntityID) error {
	panic("not built")
}
