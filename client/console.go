package client

import (
	"context"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// ConsoleLink creates a link that opens the server's console in a browser and signs in
// as an admin. It works once, within ten minutes, for anybody with the link. If the server
// requires no sign-in, it is the plain address of the console. Admins only.
func (c *Client) ConsoleLink(ctx context.Context) (made shoal.ConsoleLink, err error) {
	in := call{op: "client.ConsoleLink", method: http.MethodPost, path: []string{"console", "links"}}
	return made, c.do(ctx, in, &made)
}
