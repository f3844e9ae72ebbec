package shoal

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// RendererName names a custom renderer: it is the `display.customUI` of the tools
// that it shows, or the name of a tool that has none. It is formed like an id.
type RendererName string

// Renderer is one version of a web page that shows the calls of a tool. Versions
// count from 1 and are never given twice. Hash is the SHA-256 of the page in
// hexadecimal, Size its length in bytes, URL where this server serves it.
type Renderer struct {
	Name      RendererName `json:"name"`
	Version   int          `json:"version"`
	Hash      string       `json:"hash"`
	Size      int64        `json:"size"`
	URL       string       `json:"url"`
	CreatedAt Time         `json:"createdAt"`
}

const (
	// MaxRenderer is how many bytes a renderer may have.
	MaxRenderer = 1 << 20
	// KeptRenderers is how many versions of a renderer are kept, so that a page that
	// is open finds the one that it began with.
	KeptRenderers = 10
)

// CheckRenderer reports whether a page can be a renderer: [TooLarge] over
// [MaxRenderer] bytes, [InvalidArgument] if it is empty or no UTF-8.
func CheckRenderer(page []byte) error {
	switch {
	case len(page) > MaxRenderer:
		return E("", TooLarge, fmt.Sprintf("The renderer has %d bytes; at most %d are allowed.", len(page), MaxRenderer))
	case len(page) == 0:
		return Invalid("body", "is empty: send a page of HTML")
	case !utf8.Valid(page):
		return Invalid("body", "is not valid UTF-8")
	}
	return nil
}

// RendererPath is where this server serves a version of a renderer.
func RendererPath(session SessionID, name RendererName, version int) string {
	return "/console/renderers/" + string(session) + "/" + string(name) + "/" + strconv.Itoa(version)
}
