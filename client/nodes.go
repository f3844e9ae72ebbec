package client

import (
	"context"
	"iter"

	"github.com/shoal-dev/shoal"
)

// Nodes lists the servers that share the database, in the order of their start. The list is empty
// if the server shares it with no other. Admins only.
func (c *Client) Nodes(ctx context.Context) iter.Seq2[shoal.Node, error] {
	return list[shoal.Node](ctx, c, call{op: "client.Nodes", path: []string{"v1", "nodes"}})
}
