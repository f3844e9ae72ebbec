// Package guard checks every request before any other code of the server sees it. It
// rejects requests that a web page of another origin makes through a user's browser, and
// bodies that are too large, too slow, of the wrong type, or JSON that two decoders could
// read differently. It also has the one table that maps error kinds to HTTP statuses, and
// writes errors in the form of REST and of MCP.
//
//	g, err := guard.New(guard.Options{MCPPaths: []string{"/mcp", "/sse"}})
//	if err != nil {
//		return err // a host or an origin of the options cannot be right
//	}
//	server := &http.Server{Handler: g.Wrap(faces), ReadHeaderTimeout: 10 * time.Second}
//
// A handler that the guard wraps can rely on this:
//   - a request with a body has an allowed type and no content coding, and the
//     body has arrived whole within 10 s and within the limit of its API;
//   - a JSON body is one JSON text that [Scan] accepts, at most 64 levels deep;
//   - Body(r) gives those bytes without reading, r.Body reads them once more;
//   - only what [Options].Upload names comes unread, of any type, so that a large
//     body costs no memory before its sender is known;
//   - the call came from no web page of another origin that is not allowed, and the
//     answer has the CORS headers that an allowed one needs to read it;
//   - r.Context() ends when the client goes away, since nothing of the request
//     is left unread, and no read deadline remains set;
//   - the answer has the header X-Request-Id, the client's own if it sent one that
//     is fit, and [RequestID] returns it.
//
// A refused request never reaches the handler. Its answer is written whole: a
// problem document of RFC 9457, or on an MCP path a JSON-RPC error object.
//
// The guard knows no keys. It asks Admit for the caller before it reads anything of a body,
// and each caller has its share of the memory for bodies (see internal/limit).
package guard

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Options says whom a [Guard] lets through. The zero value is the strictest:
// loopback hosts, no foreign origin, JSON only, and REST everywhere.
type Options struct {
	// Public says that the listener is bound to an address that other machines
	// can reach. Without it the Host of a request must be a loopback name or
	// address, or one of AllowHosts: a foreign name then means that a web page
	// has pointed its own name here. With it any Host is right while AllowHosts
	// is empty.
	Public bool
	// AllowHosts are further hosts that clients may call the server by. One
	// without a port holds for every port.
	AllowHosts []string
	// AllowOrigins are further origins whose web pages may call the server, as
	// scheme://host or scheme://host:port. Their preflight requests (CORS) are
	// answered by the guard, and their pages may read every answer, but without the
	// cookies of the browser. Where a proxy ends TLS in front of the server, its
	// public origin belongs here.
	AllowOrigins []string
	// MCPPaths are the paths of MCP, each with everything below it. There the
	// larger limit holds and refusals are JSON-RPC errors.
	MCPPaths []string
	// Accept names media types that a request may carry instead of JSON, such
	// as application/yaml for an agent config. Such a body is held to the limit
	// and the time, but not scanned. A nil Accept, or an empty answer, means
	// JSON only. It must be safe for concurrent use.
	Accept func(r *http.Request) []string
	// Upload says how many bytes the body of an upload may have, and 0 of any
	// other request. The body of an upload is handed on as it arrives: of any
	// type, not scanned, cut off at that size with an error of kind TooLarge, and
	// with UploadTime to arrive. [Body] returns nil for it. A nil Upload means that
	// there are none. It must be safe for concurrent use.
	Upload func(r *http.Request) int64
	// Admit returns the caller of a request with a body, before the body is read, or an
	// error that refuses it; then the body is discarded. For requests that need no key it
	// returns the address. A nil Admit refuses nothing. It must be safe for
	// concurrent use.
	Admit func(r *http.Request) (limit.Caller, error)
	// MaxBodies is how many bytes of bodies, uploads apart, may be in memory at
	// once, 256 MiB if zero. What is beyond a caller's share is refused with Busy.
	MaxBodies int64
	// Metrics counts what is refused here; nil is allowed.
	Metrics *metrics.Set
}

// Guard is the gate that [New] makes. It is safe for concurrent use and holds
// nothing that must be closed.
type Guard struct {
	public   bool
	hosts    map[string]bool // as "name" for every port or "name:port"
	origins  map[string]bool // as normalOrigin writes them
	mcpPaths []string
	accept   func(r *http.Request) []string
	upload   func(r *http.Request) int64
	admit    func(r *http.Request) (limit.Caller, error)
	bodies   bodies
	refused  metrics.Counters
}

// New returns a Guard with these options, or an error of kind InvalidArgument
// that names the first host, origin or path among them that cannot be right.
func New(opts Options) (*Guard, error) {
	g := &Guard{public: opts.Public, hosts: map[string]bool{}, origins: map[string]bool{}, accept: opts.Accept, upload: opts.Upload, admit: opts.Admit}
	g.bodies.Open = limit.NewBytes(0, cmp.Or(opts.MaxBodies, 256<<20))
	g.refused = opts.Metrics.Counters("shoal_requests_refused_total", "Requests that were refused before it was known who calls, by why.", "code")
	opts.Metrics.GaugeFunc("shoal_body_bytes", "Memory of the bodies of requests that are being read or answered.", func() float64 { return float64(g.bodies.Count()) })
	for _, entry := range opts.AllowHosts {
		name, port, ok := splitHost(entry)
		if !ok || name == "" || strings.ContainsAny(entry, "/*@ ") {
			return nil, shoal.Invalid("allowHosts", quoted(entry)+" is no host; write it as shoal.example or shoal.example:8443")
		}
		g.hosts[joinHost(name, port)] = true
	}
	for _, entry := range opts.AllowOrigins {
		origin, ok := normalOrigin(entry)
		if !ok {
			return nil, shoal.Invalid("allowOrigins", quoted(entry)+" is no origin; write it as https://shoal.example or https://shoal.example:8443")
		}
		g.origins[origin] = true
	}
	for _, path := range opts.MCPPaths {
		if !strings.HasPrefix(path, "/") {
			return nil, shoal.Invalid("mcpPaths", quoted(path)+" is no path; start it with a slash")
		}
		g.mcpPaths = append(g.mcpPaths, strings.TrimSuffix(path, "/"))
	}
	return g, nil
}

// Wrap returns a handler that passes on to next what the guard lets through and
// answers the rest itself. It panics if the server's ResponseWriter was wrapped
// in one that hides its read deadline: a slow sender could then hold a
// connection for ever.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name(w, r)
		mcp := g.isMCP(r.URL.Path)
		if hasBody(r) {
			limitTime(w)
		}
		if err := g.checkHost(r); err != nil {
			status := http.StatusMisdirectedRequest
			if mcp {
				status = http.StatusForbidden
			}
			g.refuse(w, r, mcp, status, err)
			return
		}
		if g.allowPage(w, r) {
			return
		}
		b := body{bodies: g.bodies}
		defer b.release()
		err := g.checkOrigin(r, mcp)
		if err == nil {
			b.caller, err = g.whoSends(r)
		}
		if limit := g.uploadLimit(r, mcp); limit > 0 && err == nil {
			if err = checkUpload(w, r, limit); err == nil {
				passOn(w, r, limit, next)
				return
			}
		} else if err == nil {
			r, err = g.readBody(w, r, mcp, &b)
		}
		if err != nil {
			g.refuse(w, r, mcp, Status(err.Kind), err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// whoSends returns the caller of a request with a body.
func (g *Guard) whoSends(r *http.Request) (limit.Caller, *shoal.Error) {
	if g.admit == nil || !hasBody(r) {
		return limit.From(r.RemoteAddr), nil
	}
	caller, err := g.admit(r)
	if err != nil {
		return caller, tell(err)
	}
	return caller, nil
}

// Bodies is what bounds the memory of the bodies of all callers.
func (g *Guard) Bodies() *limit.Open { return g.bodies.Open }

// isMCP reports whether path belongs to MCP.
func (g *Guard) isMCP(path string) bool {
	return slices.ContainsFunc(g.mcpPaths, func(root string) bool {
		rest, found := strings.CutPrefix(path, root)
		return found && (rest == "" || rest[0] == '/')
	})
}

// refuse answers a request in the words of its protocol.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, mcp bool, status int, err *shoal.Error) {
	g.refused.With(string(err.Kind)).Add(1)
	hearOut(r)
	if mcp {
		writeRPCError(w, status, err)
	} else {
		writeProblem(w, status, err)
	}
}
