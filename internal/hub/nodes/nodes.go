// Package nodes knows the servers that run on the database of a hub.
package nodes

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Age is how long after it was last seen a server still counts as alive.
const Age = 6 * time.Second

// Nodes are the servers that run on the database.
type Nodes struct{ core *core.Core }

// NewNodes returns the servers of a hub.
func NewNodes(c *core.Core) *Nodes { return &Nodes{c} }

// List returns the servers that are alive, in the order of their start. Admins only.
func (n *Nodes) List(ctx context.Context, caller shoal.Principal) (out []shoal.Node, err error) {
	if err := core.RequireAdmin(caller); err != nil {
		return nil, err
	}
	err = n.core.View(ctx, "hub.Nodes.List", func(tx storage.Tx) (err error) {
		out, err = tx.Nodes(Age)
		return err
	})
	return out, err
}

// Beat records that a server is alive, and returns all servers that are, itself included. It
// checks no rights.
func (n *Nodes) Beat(ctx context.Context, self shoal.Node) (alive []shoal.Node, err error) {
	err = n.core.Change(ctx, "hub.Nodes.Beat", storage.NoSession, func(ch *core.Change) (err error) {
		if err := ch.SaveNode(self, Age); err != nil {
			return err
		}
		alive, err = ch.Nodes(Age)
		return err
	})
	return alive, err
}

// Leave removes a server that stops. It checks no rights.
func (n *Nodes) Leave(ctx context.Context, id shoal.NodeID) error {
	return n.core.Change(ctx, "hub.Nodes.Leave", storage.NoSession, func(ch *core.Change) error { return ch.DeleteNode(id) })
}

// Key returns the secret that all servers of the database share, and creates it if there is
// none. It checks no rights.
func (n *Nodes) Key(ctx context.Context) (key string, err error) {
	err = n.core.Change(ctx, "hub.Nodes.Key", storage.NoSession, func(ch *core.Change) (err error) {
		key, err = ch.ClusterKey(rand.Text() + rand.Text())
		return err
	})
	return key, err
}

// LastPlaces returns the last place of each of the sessions. It checks no rights.
func (n *Nodes) LastPlaces(ctx context.Context, sessions []shoal.SessionID) (places map[shoal.SessionID]int64, err error) {
	err = n.core.View(ctx, "hub.Nodes.LastPlaces", func(tx storage.Tx) error {
		places = make(map[shoal.SessionID]int64, len(sessions))
		for _, s := range sessions {
			end, err := tx.InboxEnd(s)
			if err != nil {
				return err
			}
			places[s] = end
		}
		return nil
	})
	return places, err
}
