package storage

import (
	"github.com/shoal-dev/shoal"
)

// RendererTx stores custom renderers. The URL of the returned renderers is empty.
type RendererTx interface {
	// Renderer returns the newest version; NotFound when the renderer does not exist or is
	// deleted.
	Renderer(session shoal.SessionID, name shoal.RendererName) (shoal.Renderer, error)
	// RendererPage returns a version with its page; NotFound for a version that is not
	// stored.
	RendererPage(session shoal.SessionID, name shoal.RendererName, version int) (shoal.Renderer, []byte, error)
	// Renderers lists the newest versions in the order of names, starting after the given
	// name.
	Renderers(session shoal.SessionID, after shoal.RendererName, limit int) ([]shoal.Renderer, error)
	// PutRenderer stores a page as the next version, regardless of r.Version, and returns
	// the number of that version: one more than any that the name has had, including those
	// from before it was deleted. The newest [shoal.MaxRendererVersions] versions are kept.
	PutRenderer(session shoal.SessionID, r shoal.Renderer, page []byte) (version int, err error)
	// DeleteRenderer erases every version; NotFound when the renderer does not exist.
	DeleteRenderer(session shoal.SessionID, name shoal.RendererName) error
}
