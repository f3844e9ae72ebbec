package spaces

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Renderers stores the web pages that display tool calls. Browsers run them in a sandbox;
// the hub never reads their content.
type Renderers struct{ core *core.Core }

// NewRenderers returns the renderers of a hub.
func NewRenderers(c *core.Core) *Renderers { return &Renderers{c} }

// Put stores a page as the newest version of a renderer. created reports that there was no
// renderer with this name. The page of the newest version changes nothing. Put fails with
// TooLarge for more than [shoal.MaxRenderer] bytes. For admins and owners of the session.
func (n *Renderers) Put(ctx context.Context, caller shoal.Principal, session shoal.SessionID, name shoal.RendererName, page []byte) (out shoal.Renderer, created bool, err error) {
	const op = "hub.Renderers.Put"
	if err := errors.Join(core.Authorize(caller, session, roles.Manage), shoal.CheckID("name", string(name)), shoal.CheckRenderer(page)); err != nil {
		return out, false, core.Wrap(op, core.FirstError(err))
	}
	sum := sha256.Sum256(page)
	hash := hex.EncodeToString(sum[:])
	err = n.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		out, err = ch.Renderer(session, name)
		if created = errors.Is(err, shoal.NotFound); err != nil && !created || err == nil && out.Hash == hash {
			return err
		}
		out = shoal.Renderer{Name: name, Hash: hash, Size: int64(len(page)), CreatedAt: ch.At}
		out.Version, err = ch.PutRenderer(session, out, page)
		return err
	})
	return withURL(session, out), created, err
}

// List returns the newest versions of at most limit renderers with names after the given
// one, in the order of names. For every caller in the session.
func (n *Renderers) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, after shoal.RendererName, limit int) (out []shoal.Renderer, err error) {
	const op = "hub.Renderers.List"
	if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
		return nil, core.Wrap(op, err)
	}
	err = n.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		out, err = tx.Renderers(session, after, limit)
		return err
	})
	for i, r := range out {
		out[i] = withURL(session, r)
	}
	return out, err
}

// Page returns a version of a renderer with its page. For every caller in the session. It
// fails with NotFound for a version that is no longer kept.
func (n *Renderers) Page(ctx context.Context, caller shoal.Principal, session shoal.SessionID, name shoal.RendererName, version int) (out shoal.Renderer, page []byte, err error) {
	const op = "hub.Renderers.Page"
	if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
		return out, nil, core.Wrap(op, err)
	}
	missing := shoal.E("", shoal.NotFound, fmt.Sprintf("Version %d of the renderer %q not found in this session. List the renderers to see their newest versions.", version, name))
	if !core.ValidID(session) || !core.ValidID(name) || version < 1 {
		return out, nil, core.Wrap(op, missing)
	}
	err = n.core.View(ctx, op, func(tx storage.Tx) error {
		out, page, err = tx.RendererPage(session, name, version)
		if errors.Is(err, shoal.NotFound) {
			err = missing
		}
		return err
	})
	return withURL(session, out), page, err
}

// Delete deletes a renderer with all its versions: the calls that it displayed are
// displayed like those of other tools. For admins and owners of the session.
func (n *Renderers) Delete(ctx context.Context, caller shoal.Principal, session shoal.SessionID, name shoal.RendererName) error {
	const op = "hub.Renderers.Delete"
	if err := core.Authorize(caller, session, roles.Manage); err != nil {
		return core.Wrap(op, err)
	}
	return n.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		err := error(shoal.NotFound)
		if core.ValidID(name) {
			err = ch.DeleteRenderer(session, name)
		}
		if errors.Is(err, shoal.NotFound) {
			err = shoal.E("", shoal.NotFound, fmt.Sprintf("Renderer %q not found in this session. List the renderers to see their names.", name))
		}
		return err
	})
}

// withURL returns r with the URL under which it is served.
func withURL(session shoal.SessionID, r shoal.Renderer) shoal.Renderer {
	r.URL = shoal.RendererPath(session, r.Name, r.Version)
	return r
}
