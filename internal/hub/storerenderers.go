package hub

import "github.com/shoal-dev/shoal"

// RendererTx keeps custom renderers. URL of what it returns is empty.
type RendererTx interface {
	// Renderer returns the newest version; NotFound when there is none, or the
	// renderer is deleted.
	Renderer(session shoal.SessionID, name shoal.RendererName) (shoal.Renderer, error)
	// RendererPage returns a version with its page; NotFound for one that is not
	// kept.
	RendererPage(session shoal.SessionID, name shoal.RendererName, version int) (shoal.Renderer, []byte, error)
	// Renderers lists the newest versions in the order of names, those after the
	// given one.
	Renderers(session shoal.SessionID, after shoal.RendererName, limit int) ([]shoal.Renderer, error)
	// PutRenderer stores a page as the next version, whatever r.Version says, and
	// returns which it is: one more than any that the name has had, also before it
	// was deleted. Of the versions the newest [shoal.KeptRenderers] are kept.
	PutRenderer(session shoal.SessionID, r shoal.Renderer, page []byte) (version int, err error)
	// DeleteRenderer erases every version; NotFound when there is none.
	DeleteRenderer(session shoal.SessionID, name shoal.RendererName) error
}
