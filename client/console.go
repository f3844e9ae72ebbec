package client

import (
	"context"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// ConsoleLink makes a link that opens the server's console in a browser and signs
// in there as an admin: once, and within ten minutes. Whoever has the link can use
// it. Where nobody has to sign in it is the plain address. Admins only.
func (c *Client) ConsoleLink(ctx context.Context) (made shoal.ConsoleLink, err error) {
	in := call{op: "client.ConsoleLink", method: http.MethodPost, path: []string{"console", "links"}}
	return made, c.do(ctx, in, &made)
}
