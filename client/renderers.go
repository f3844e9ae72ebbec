package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// PutRenderer stores a page of HTML as the newest version of a renderer, with which the
// console shows the calls of a tool. If the page equals the newest version, nothing changes
// and that version is returned. TooLarge over shoal.MaxRenderer bytes. Admins only.
func (s *Session) PutRenderer(ctx context.Context, name shoal.RendererName, page []byte) (out shoal.Renderer, err error) {
	in := call{op: "client.PutRenderer", method: http.MethodPut, path: s.path("renderers", string(name)), body: content{"text/html; charset=utf-8", page}}
	return out, s.client.do(ctx, in, &out)
}

// Renderers lists the newest versions of the renderers, in the order of names.
func (s *Session) Renderers(ctx context.Context) iter.Seq2[shoal.Renderer, error] {
	return list[shoal.Renderer](ctx, s.client, call{op: "client.Renderers", path: s.path("renderers")})
}

// DeleteRenderer deletes a renderer with all its versions. Admins only.
func (s *Session) DeleteRenderer(ctx context.Context, name shoal.RendererName) error {
	in := call{op: "client.DeleteRenderer", method: http.MethodDelete, path: s.path("renderers", string(name)), once: true}
	return s.client.do(ctx, in, nil)
}
