package coretest

import (
	"bytes"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

func renderers(c *storecase.Case, after shoal.RendererName, limit int) []shoal.Renderer {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) ([]shoal.Renderer, error) { return tx.Renderers(c.Session, after, limit) })
}

// wantNoPage checks that versions of a renderer are not kept.
func wantNoPage(c *storecase.Case, name shoal.RendererName, versions ...int) {
	c.Helper()
	for _, version := range versions {
		c.WantNotFound(func(tx storage.Tx) error { _, _, err := tx.RendererPage(c.Session, name, version); return err })
	}
}

var rendererTests = map[string]func(*storecase.Case){
	"every version is read as it was stored, the newest by default": func(c *storecase.Case) {
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		pages := [][]byte{bytes.Repeat(every, 4096), []byte("<p>"), {}}
		for i, page := range pages {
			want := c.AddRenderer("card", page)
			storecase.Equal(c, "the version", want.Version, i+1)
			storecase.Equal(c, "the newest", storecase.Read(c, func(tx storage.Tx) (shoal.Renderer, error) { return tx.Renderer(c.Session, "card") }), want)
			var got []byte
			storecase.Equal(c, "the renderer", storecase.Read(c, func(tx storage.Tx) (r shoal.Renderer, err error) {
				r, got, err = tx.RendererPage(c.Session, "card", want.Version)
				return r, err
			}), want)
			if !bytes.Equal(got, page) {
				c.Errorf("%d bytes came back instead of %d", len(got), len(page))
			}
		}
		wantNoPage(c, "card", 0, 4, -1)
		wantNoPage(c, "Card", 1)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Renderer(c.Session, "Card"); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Renderer("nowhere", "card"); return err })
	},

	"lists are in the byte order of names, page by page, with the newest version of each": func(c *storecase.Case) {
		storecase.Equal(c, "at first", renderers(c, "", 9), []shoal.Renderer{})
		var want, got []shoal.Renderer
		for _, id := range storecase.TrickyIDs {
			c.AddRenderer(shoal.RendererName(id), []byte("old"))
			want = append(want, c.AddRenderer(shoal.RendererName(id), []byte("newer")))
		}
		storecase.New(c.T, c.Store).AddRenderer("elsewhere", nil)
		for after := shoal.RendererName(""); ; {
			page := renderers(c, after, 5)
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			after = page[len(page)-1].Name
		}
		storecase.Equal(c, "the list", got, want)
	},

	"only the newest versions are kept": func(c *storecase.Case) {
		for range shoal.MaxRendererVersions + 2 {
			c.AddRenderer("card", []byte("<p>"))
		}
		wantNoPage(c, "card", 1, 2)
		storecase.Read(c, func(tx storage.Tx) (r shoal.Renderer, err error) {
			r, _, err = tx.RendererPage(c.Session, "card", 3)
			return r, err
		})
	},

	"a renderer is deleted with all versions, whose numbers are not assigned again": func(c *storecase.Case) {
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteRenderer(c.Session, "card") })
		c.AddRenderer("card", []byte("one"))
		c.AddRenderer("card", []byte("two"))
		other := c.AddRenderer("other", []byte("three"))
		for range 2 {
			c.Update(func(tx storage.Tx) error { return tx.DeleteRenderer(c.Session, "card") })
			c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Renderer(c.Session, "card"); return err })
			wantNoPage(c, "card", 1, 2, 3)
			c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteRenderer(c.Session, "card") })
			storecase.Equal(c, "the list", renderers(c, "", 9), []shoal.Renderer{other})
			c.AddRenderer("card", []byte("again"))
		}
		storecase.Equal(c, "the list", renderers(c, "", 1)[0].Version, 4)
	},

	"renderers are deleted with their session": func(c *storecase.Case) {
		c.AddRenderer("card", []byte("one"))
		c.Update(func(tx storage.Tx) error { return tx.DeleteSession(c.Session) })
		wantNoPage(c, "card", 1)
	},
}
