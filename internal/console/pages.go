package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// built is what `npm run build` writes in web/.
//
//go:embed all:dist
var built embed.FS

// Built returns the console's pages as they are embedded in the program.
func Built() fs.FS {
	pages, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // the path above is wrong
	}
	return pages
}

const index = "index.html"

// mediaTypes are those of the files that a build can hold. A machine's own table
// would say something else on another machine.
var mediaTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".gif":         "image/gif",
	".html":        "text/html; charset=utf-8",
	".ico":         "image/x-icon",
	".jpg":         "image/jpeg",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".wasm":        "application/wasm",
	".webmanifest": "application/manifest+json",
	".webp":        "image/webp",
	".woff2":       "font/woff2",
}

// packed are the media types that are small already.
var packed = []string{"image/gif", "image/jpeg", "image/png", "image/webp", "font/woff2"}

// page is one file of the build.
type page struct {
	mediaType string
	lasting   bool // its name changes with its content
	plain     []byte
	forms     func() forms
}

// forms is what is worked out once for a file, when it is first asked for.
type forms struct {
	tag    string // of the plain form, without quotes
	zipped []byte // nil if it would not be smaller
}

// readPages reads all files of a build, by their paths in a URL.
func readPages(files fs.FS) (map[string]*page, error) {
	pages := map[string]*page{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		p := &page{mediaType: mediaTypes[path.Ext(name)], lasting: strings.HasPrefix(name, "assets/"), plain: content}
		if p.mediaType == "" {
			return fmt.Errorf("%s has an ending that no media type is known for; add it to mediaTypes", name)
		}
		p.forms = sync.OnceValue(p.form)
		pages["/"+name] = p
		return nil
	})
	if err == nil && pages["/"+index] == nil {
		err = errors.New("there is no " + index)
	}
	return pages, err
}

func (p *page) form() forms {
	sum := sha256.Sum256(p.plain)
	out := forms{tag: hex.EncodeToString(sum[:16])}
	if slices.Contains(packed, p.mediaType) {
		return out
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		panic(err) // the level above is wrong
	}
	_, _ = w.Write(p.plain) // a buffer takes everything
	_ = w.Close()           // as above
	if zipped.Len() < len(p.plain) {
		out.zipped = zipped.Bytes()
	}
	return out
}

// serve answers with a file, compressed if the client accepts that.
func (p *page) serve(w http.ResponseWriter, r *http.Request) {
	h, forms := w.Header(), p.forms()
	protect(h)
	h.Set("Content-Type", p.mediaType)
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if p.lasting {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body, tag := p.plain, `"`+forms.tag+`"`
	if forms.zipped != nil && accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		body, tag = forms.zipped, `"`+forms.tag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	allowTime(w, len(body))
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error means that the client has disconnected
	}
}

// How long a client may take for an answer.
const (
	patience = 10 * time.Second
	slowest  = 128 << 10 // bytes a second
)

func allowTime(w http.ResponseWriter, size int) {
	// An error here means a broken connection, which the write reports as well.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + time.Duration(size/slowest)*time.Second))
}

// accepts reports whether a header of the form of Accept names what with a
// weight above zero.
func accepts(header, what string) bool { return weight(header, what) > 0 }

// weight is what a header of the form of Accept gives to what: 0 if it does not
// name it.
func weight(header, what string) float64 {
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), what) {
			continue
		}
		for param := range strings.SplitSeq(params, ";") {
			if q, found := strings.CutPrefix(strings.ToLower(strings.TrimSpace(param)), "q="); found {
				given, err := strconv.ParseFloat(q, 64)
				if err != nil {
					return 0
				}
				return given
			}
		}
		return 1
	}
	return 0
}
