// Package renderersql is the SQL of renderers.
package renderersql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noRenderer      = "Renderer %q not found."
	rendererColumns = `r.name, r.version, r.hash, r.size, r.created_at`
)

// Tx reads and changes renderers in the current transaction of a connection.
type Tx struct{ c *sqlconn.Conn }

// New returns the Tx of a connection.
func New(c *sqlconn.Conn) *Tx { return &Tx{c} }

func rendererOf(r *sqlconn.Rows) shoal.Renderer {
	return shoal.Renderer{
		Name: shoal.RendererName(r.Text(0)), Version: int(r.Int(1)), Hash: r.Text(2), Size: r.Int(3), CreatedAt: r.Time(4),
	}
}

// Renderer implements [hub.RendererTx].
func (t *Tx) Renderer(session shoal.SessionID, name shoal.RendererName) (shoal.Renderer, error) {
	r, ok, err := sqlconn.One(t.c, rendererOf,
		`SELECT `+rendererColumns+` FROM renderers AS r WHERE r.session_id = $1 AND r.name = $2 AND r.page IS NOT NULL
		 ORDER BY r.version DESC LIMIT 1`, session, name)
	return sqlconn.OrNotFound(r, ok, err, "Renderer", noRenderer, name)
}

// RendererPage implements [hub.RendererTx].
func (t *Tx) RendererPage(session shoal.SessionID, name shoal.RendererName, version int) (out shoal.Renderer, page []byte, err error) {
	out, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) shoal.Renderer {
		page = append([]byte{}, r.Bytes(5)...)
		return rendererOf(r)
	}, `SELECT `+rendererColumns+`, r.page FROM renderers AS r
		WHERE r.session_id = $1 AND r.name = $2 AND r.version = $3 AND r.page IS NOT NULL`, session, name, version)
	out, err = sqlconn.OrNotFound(out, ok, err, "RendererPage", "Version %d of the renderer %q not found.", version, name)
	return out, page, err
}

// Renderers implements [hub.RendererTx].
func (t *Tx) Renderers(session shoal.SessionID, after shoal.RendererName, limit int) ([]shoal.Renderer, error) {
	return sqlconn.ListFirst(t.c, limit, rendererOf,
		`SELECT `+rendererColumns+` FROM renderers AS r WHERE r.session_id = $1 AND r.name > $2 AND r.page IS NOT NULL
		 AND NOT EXISTS (SELECT 1 FROM renderers AS n WHERE n.session_id = r.session_id AND n.name = r.name AND n.version > r.version)
		 ORDER BY r.name`+sqlconn.Limit(limit), session, after)
}

// PutRenderer implements [hub.RendererTx].
func (t *Tx) PutRenderer(session shoal.SessionID, r shoal.Renderer, page []byte) (version int, err error) {
	if page == nil {
		page = []byte{} // NULL marks a deleted renderer
	}
	last, err := sqlconn.Number(t.c, `SELECT MAX(version) FROM renderers WHERE session_id = $1 AND name = $2`, session, r.Name)
	if err != nil {
		return 0, err
	}
	_, err = t.c.Exec(
		`INSERT INTO renderers (session_id, name, version, hash, size, created_at, page) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		session, r.Name, last+1, r.Hash, r.Size, r.CreatedAt, page)
	if err != nil {
		return 0, err
	}
	_, err = t.c.Exec(`DELETE FROM renderers WHERE session_id = $1 AND name = $2 AND version <= $3`, session, r.Name, last+1-shoal.MaxRendererVersions)
	return int(last + 1), err
}

// DeleteRenderer implements [hub.RendererTx]. The row of the newest version is kept without
// its page, so that its number is not assigned again.
func (t *Tx) DeleteRenderer(session shoal.SessionID, name shoal.RendererName) error {
	newest, err := t.Renderer(session, name)
	if err != nil {
		return err
	}
	if _, err := t.c.Exec(`DELETE FROM renderers WHERE session_id = $1 AND name = $2 AND version < $3`, session, name, newest.Version); err != nil {
		return err
	}
	_, err = t.c.Exec(`UPDATE renderers SET page = NULL, hash = '', size = 0 WHERE session_id = $1 AND name = $2`, session, name)
	return err
}
