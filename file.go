package shoal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is an uploaded file. URL is where this server serves it.
type File struct {
	ID        FileID `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`
	URL       string `json:"url"`
}

// MaxFile is how many bytes an uploaded file may have.
const MaxFile = 10 << 20

// Validate checks the input of an upload: [TooLarge] over [MaxFile] bytes, else every wrong
// field in one [InvalidArgument] error.
func (f File) Validate() error {
	if f.Size > MaxFile {
		return E("", TooLarge, fmt.Sprintf("The file has %d bytes; at most %d are allowed.", f.Size, MaxFile))
	}
	var p problems
	p.add(checkLine("name", f.Name, MaxName, true))
	p.add(checkLine("mediaType", f.MediaType, MaxName, true))
	return p.err()
}

// FilePath returns the path at which a server serves a file. It is valid as the URL of a
// file part.
func FilePath(session SessionID, id FileID) string {
	return "/v1/sessions/" + string(session) + "/files/" + string(id)
}

// File returns the uploaded file that a file part shows; ok is false for files on other
// servers, and for other parts.
func (p Part) File() (session SessionID, id FileID, ok bool) {
	rest, here := strings.CutPrefix(p.URL, "/v1/sessions/")
	said, file, found := strings.Cut(rest, "/files/")
	session, id = SessionID(said), FileID(file)
	if p.Type != FilePart || !here || !found || CheckID("", said) != nil || CheckID("", file) != nil {
		return "", "", false
	}
	return session, id, true
}

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
	// MaxRendererVersions is how many versions of a renderer are stored, so that an open
	// page can still load the one that it started with.
	MaxRendererVersions = 10
)

// CheckRenderer reports whether a page can be a renderer: [TooLarge] over
// [MaxRenderer] bytes, [InvalidArgument] if it is empty or not UTF-8.
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

// RendererPath returns the path at which a server serves a version of a renderer.
func RendererPath(session SessionID, name RendererName, version int) string {
	return "/console/renderers/" + string(session) + "/" + string(name) + "/" + strconv.Itoa(version)
}
