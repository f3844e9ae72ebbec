package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/shoal-dev/shoal"
)

// Me returns the principal that the key proves, and the acting entity, if any.
func (c *Client) Me(ctx context.Context) (out shoal.Caller, err error) {
	return out, c.do(ctx, call{op: "client.Me", path: []string{"v1", "me"}}, &out)
}

// Keys lists all keys, without their secrets, in the order of ids. Admins only.
func (c *Client) Keys(ctx context.Context) iter.Seq2[shoal.Key, error] {
	return list[shoal.Key](ctx, c, call{op: "client.Keys", path: []string{"v1", "keys"}})
}

// SignIns lists the sign-ins of browsers in the order of ids: all for an admin, those of its
// session for an owner, and those of its own entity for anybody else. [Client.RevokeKey] ends one.
func (c *Client) SignIns(ctx context.Context) iter.Seq2[shoal.Key, error] {
	return list[shoal.Key](ctx, c, call{op: "client.SignIns", path: []string{"v1", "keys"}, query: url.Values{"signIns": {"true"}}})
}

// CreateKey creates a key. Its secret is returned only once: it is nil if the call was
// repeated because the first response was lost; then revoke the key. Admins only.
func (c *Client) CreateKey(ctx context.Context, n shoal.NewKey, options ...CallOption) (made shoal.Key, err error) {
	in := call{op: "client.CreateKey", path: []string{"v1", "keys"}, body: n}
	return made, c.create(ctx, in, &made, options)
}

// RotateKey replaces a key by a new one with the same rights, and returns the new one with its secret,
// as CreateKey does. The old one works on for the overlap of r. For admins and owners of the session.
func (c *Client) RotateKey(ctx context.Context, id shoal.KeyID, r shoal.KeyRotation, options ...CallOption) (made shoal.Key, err error) {
	in := call{op: "client.RotateKey", path: []string{"v1", "keys", string(id), "rotate"}, body: r}
	return made, c.create(ctx, in, &made, options)
}

// RevokeKey revokes a key with immediate effect, or ends the sign-in of a browser. For admins and
// owners of the session; everybody may end the sign-ins of their own entity.
func (c *Client) RevokeKey(ctx context.Context, id shoal.KeyID) error {
	in := call{op: "client.RevokeKey", method: http.MethodDelete, path: []string{"v1", "keys", string(id)}, once: true}
	return c.do(ctx, in, nil)
}
