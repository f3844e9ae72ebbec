// Package bodies says which bodies the requests of the API may have: their media types, their
// size, and whether they count as calls under way. It is for the options of a guard, which
// decides before a handler sees the request.
package bodies

import (
	"net/http"
	"path"
	"strings"

	"github.com/shoal-dev/shoal/internal/httpapi/upload"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// The media types of bodies that are not JSON.
const (
	Renderer = "text/html"
	// Work is the media type of lines of work.
	Work = "application/x-ndjson"
)

// Configs are the media types of agent configurations besides JSON.
var Configs = []string{"application/yaml", "text/yaml", "application/x-yaml"}

// Types returns the media types that the body of a request may have instead of JSON: those of
// YAML for an agent configuration, that of HTML for a renderer, that of lines for work. It is for guard.Options.Accept.
func Types(r *http.Request) []string {
	switch segmentsBelow(r.URL.Path, "agents") {
	case 1:
		if r.Method == http.MethodPut {
			return Configs
		}
	case 2:
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/preview") {
			return Configs
		}
	}
	if isWork(r) {
		return []string{Work}
	}
	if r.Method == http.MethodPut && segmentsBelow(r.URL.Path, "renderers") == 1 {
		return []string{Renderer}
	}
	return nil
}

// UploadLimit returns the maximum size in bytes of a request that uploads a file or imports a
// session, and 0 for all others. It is for guard.Options.Upload.
func UploadLimit(r *http.Request) int64 {
	switch {
	case r.Method != http.MethodPost:
		return 0
	case segmentsBelow(r.URL.Path, "files") == 0:
		return upload.MaxBody
	case segmentsBelow(r.URL.Path, "import") == 0:
		return storage.MaxImport
	}
	return 0
}

// Concurrent reports whether a request with a body counts as one of its caller's concurrent calls:
// uploads, waits and calls of other transports do not.
func Concurrent(r *http.Request) bool {
	isWait := segmentsBelow(r.URL.Path, "entities") == 2 && strings.HasSuffix(r.URL.Path, "/wait") ||
		segmentsBelow(r.URL.Path, "agents") == 2 && strings.HasSuffix(r.URL.Path, "/claim")
	return strings.HasPrefix(r.URL.Path, "/v1/") && !isWait && UploadLimit(r) == 0
}

// segmentsBelow returns the number of segments of place below a collection of a session, or -1 if
// place is not in that collection.
func segmentsBelow(place, noun string) int {
	rest, inSession := strings.CutPrefix(place, "/v1/sessions/")
	_, rest, _ = strings.Cut(rest, "/")
	below, found := strings.CutPrefix(rest, noun)
	if !inSession || !found || below != "" && below[0] != '/' {
		return -1
	}
	return strings.Count(below, "/")
}

// isWork reports whether a request reports work on a run.
func isWork(r *http.Request) bool {
	return r.Method == http.MethodPost && segmentsBelow(r.URL.Path, "runs") == 2 && path.Base(r.URL.Path) == "work"
}
