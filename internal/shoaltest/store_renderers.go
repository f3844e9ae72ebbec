package shoaltest

import (
	"bytes"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// push stores the next version of a renderer and returns it.
func (c *storeCase) push(name shoal.RendererName, page []byte) shoal.Renderer {
	c.Helper()
	r := shoal.Renderer{Name: name, Version: 99, Hash: hostile, Size: int64(len(page)), CreatedAt: storeTime(len(page))}
	r.Version = done(c, func(tx hub.Tx) (int, error) { return tx.PutRenderer(c.session, r, page) })
	return r
}

func (c *storeCase) renderers(after shoal.RendererName, limit int) []shoal.Renderer {
	c.Helper()
	return seen(c, func(tx hub.Tx) ([]shoal.Renderer, error) { return tx.Renderers(c.session, after, limit) })
}

// noPage checks that versions of a renderer are not kept.
func (c *storeCase) noPage(name shoal.RendererName, versions ...int) {
	c.Helper()
	for _, version := range versions {
		c.absent(func(tx hub.Tx) error { _, _, err := tx.RendererPage(c.session, name, version); return err })
	}
}

var rendererTests = map[string]func(*storeCase){
	"every version comes back as it was stored, the newest by default": func(c *storeCase) {
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		pages := [][]byte{bytes.Repeat(every, 4096), []byte("<p>"), {}}
		for i, page := range pages {
			want := c.push("card", page)
			same(c, "the version", want.Version, i+1)
			same(c, "the newest", seen(c, func(tx hub.Tx) (shoal.Renderer, error) { return tx.Renderer(c.session, "card") }), want)
			var got []byte
			same(c, "the renderer", seen(c, func(tx hub.Tx) (r shoal.Renderer, err error) {
				r, got, err = tx.RendererPage(c.session, "card", want.Version)
				return r, err
			}), want)
			if !bytes.Equal(got, page) {
				c.Errorf("%d bytes came back instead of %d", len(got), len(page))
			}
		}
		c.noPage("card", 0, 4, -1)
		c.noPage("Card", 1)
		c.absent(func(tx hub.Tx) error { _, err := tx.Renderer(c.session, "Card"); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.Renderer("nowhere", "card"); return err })
	},

	"they are listed in the order of the bytes of their names, page by page, the newest version of each": func(c *storeCase) {
		same(c, "at first", c.renderers("", 9), []shoal.Renderer{})
		var want, got []shoal.Renderer
		for _, id := range trickyIDs {
			c.push(shoal.RendererName(id), []byte("old"))
			want = append(want, c.push(shoal.RendererName(id), []byte("newer")))
		}
		newStoreCase(c.T, c.store).push("elsewhere", nil)
		for after := shoal.RendererName(""); ; {
			page := c.renderers(after, 5)
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			after = page[len(page)-1].Name
		}
		same(c, "the list", got, want)
	},

	"only the newest versions are kept": func(c *storeCase) {
		for range shoal.KeptRenderers + 2 {
			c.push("card", []byte("<p>"))
		}
		c.noPage("card", 1, 2)
		seen(c, func(tx hub.Tx) (r shoal.Renderer, err error) {
			r, _, err = tx.RendererPage(c.session, "card", 3)
			return r, err
		})
	},

	"a deleted one is gone with all its versions, whose numbers are not given again": func(c *storeCase) {
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteRenderer(c.session, "card") })
		c.push("card", []byte("one"))
		c.push("card", []byte("two"))
		other := c.push("other", []byte("three"))
		for range 2 {
			c.update(func(tx hub.Tx) error { return tx.DeleteRenderer(c.session, "card") })
			c.absent(func(tx hub.Tx) error { _, err := tx.Renderer(c.session, "card"); return err })
			c.noPage("card", 1, 2, 3)
			c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteRenderer(c.session, "card") })
			same(c, "the list", c.renderers("", 9), []shoal.Renderer{other})
			c.push("card", []byte("again"))
		}
		same(c, "the list", c.renderers("", 1)[0].Version, 4)
	},

	"they go with their session": func(c *storeCase) {
		c.push("card", []byte("one"))
		c.update(func(tx hub.Tx) error { return tx.DeleteSession(c.session) })
		c.noPage("card", 1)
	},
}
