// Package guard checks every request before any other code of the server sees it. It
// rejects requests that a web page of another origin makes through a user's browser, and
// bodies that are too large, too slow, of the wrong type, or JSON that two decoders could
// read differently. It also has the one table that maps error kinds to HTTP statuses, and
// writes errors in the form of REST, of MCP and of OpenAI's API.
//
//	g, err := guard.New(guard.Options{MCPPaths: []string{"/mcp", "/sse"}})
//	if err != nil {
//		return err // a host or an origin of the options is invalid
//	}
//	server := &http.Server{Handler: g.Wrap(handler), ReadHeaderTimeout: 10 * time.Second}
//
// Guarantees for a wrapped handler:
//   - A request body has an allowed media type and no content coding. It arrived
//     completely, within 10 s and within the size limit of its API; a longer one that
//     [Options].Shorten knows is shortened to it.
//   - A JSON body is one JSON text that [Scan] accepts, at most 64 levels deep.
//   - Body(r) returns the bytes without reading; r.Body reads the same bytes again.
//   - Only the bodies of uploads (see [Options].Upload) are unread, and of any type, so
//     that a large body uses no memory before its sender is known.
//   - The request does not come from a web page of an origin that is not allowed. The
//     response has the CORS headers with which pages of allowed origins can read it.
//   - r.Context() ends when the client disconnects, because the request was read
//     completely, and no read deadline is set.
//   - The response has the header X-Request-Id: the client's value if it is valid. It is
//     also the result of [RequestID].
//
// A refused request never reaches the handler. Its response is a problem document of
// RFC 9457, on an MCP path a JSON-RPC error object, below OpenAIPath an error object of
// OpenAI's API, and below TextPath a sentence.
//
// The guard knows no keys. It asks Admit for the caller before it reads anything of a body,
// and each caller has its share of the memory for bodies (see internal/limit).
package guard

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Options configures a [Guard]. The zero value is the strictest: loopback hosts, no
// foreign origin, JSON only, and REST everywhere.
type Options struct {
	// Public means that other machines can reach the listener. If it is false, the Host
	// of a request must be a loopback name or address, or one of AllowHosts: any other
	// name means that a web page has pointed its own name at this address. If it is
	// true and AllowHosts is empty, every Host is accepted.
	Public bool
	// AllowHosts are additional hosts under which clients may call the server. An entry
	// without a port applies to every port.
	AllowHosts []string
	// AllowOrigins are additional origins with web pages that may call the server, as
	// scheme://host or scheme://host:port. The guard answers their preflight requests
	// (CORS), and their pages may read every response, but without the cookies of the
	// browser. If a proxy terminates TLS, add its public origin.
	AllowOrigins []string
	// Origin returns the origin under which browsers reach a server that speaks TLS itself: that of its
	// links for programs that call it by an address of its own machine. A nil Origin, or an empty
	// result, means the host of the request. It must be safe for concurrent use.
	Origin func() string
	// MCPPaths are the paths of MCP, each with everything below it. They have a larger
	// size limit, and refusals are JSON-RPC errors.
	MCPPaths []string
	// OpenAIPath is where everything below speaks OpenAI's API, so that refusals have the form
	// of its errors; "" for nowhere.
	OpenAIPath string
	// TextPath is where the clients of everything below show the body of a refusal to their
	// user, so that it is only the sentence; "" for nowhere.
	TextPath string
	// Accept returns the media types that a request may have besides JSON, such as
	// application/yaml for an agent configuration. Size and time of such a body are
	// limited, but it is not scanned. A nil Accept, or an empty result, means JSON
	// only. It must be safe for concurrent use.
	Accept func(r *http.Request) []string
	// Challenge returns the header WWW-Authenticate of a 401 on an MCP path. A nil Challenge means
	// "Bearer". It must be safe for concurrent use.
	Challenge func(r *http.Request) string
	// Upload returns the size limit of the body if the request is an upload, else 0. The
	// handler reads the body of an upload as it arrives: of any type, not scanned, with
	// an error of kind TooLarge at the limit, and with UploadTime to arrive. [Body]
	// returns nil for it. If Upload is nil, no request is an upload. It must be safe for
	// concurrent use.
	Upload func(r *http.Request) int64
	// Shorten returns a function that makes the body of this request shorter as it arrives, if
	// it may be larger than [MaxBody], else nil. The function returns a JSON body with at most
	// so many bytes; its errors are as those of handlers. It is called for a body that is
	// announced with more than MaxBody and at most [MaxLongBody] bytes. A nil Shorten shortens
	// nothing. It must be safe for concurrent use.
	Shorten func(r *http.Request) func(body io.Reader, most int) ([]byte, error)
	// Admit returns the caller of a request with a body, before the body is read, or an
	// error that refuses it; then the body is discarded. If the caller is over a limit, a
	// body of more than 64 KiB ends the connection. For requests that need no key it
	// returns the address. A nil Admit refuses nothing. It must be safe for
	// concurrent use.
	Admit func(r *http.Request) (limit.Caller, error)
	// MaxBodies limits the bytes of all bodies in memory, except of uploads; zero means
	// 256 MiB. A request beyond the caller's share is refused with Busy.
	MaxBodies int64
	// Metrics counts the refused requests; it may be nil.
	Metrics *metrics.Set
}

// Guard checks requests. It is safe for concurrent use and needs no Close.
type Guard struct {
	public    bool
	hosts     map[string]bool // as "name" for every port or "name:port"
	origins   map[string]bool // as normalOrigin writes them
	mcpPaths  []string
	openAI    string
	text      string
	origin    func() string
	accept    func(r *http.Request) []string
	upload    func(r *http.Request) int64
	shorten   func(r *http.Request) func(io.Reader, int) ([]byte, error)
	challenge func(r *http.Request) string
	admit     func(r *http.Request) (limit.Caller, error)
	bodies    bodies
	refused   metrics.Counters
}

// New returns a Guard with these options, or an error of kind InvalidArgument
// that names the first host, origin or path that is invalid.
func New(opts Options) (*Guard, error) {
	g := &Guard{public: opts.Public, hosts: map[string]bool{}, origins: map[string]bool{}, origin: opts.Origin, openAI: opts.OpenAIPath, text: opts.TextPath, accept: opts.Accept, challenge: opts.Challenge, upload: opts.Upload, shorten: opts.Shorten, admit: opts.Admit}
	g.bodies.Open = limit.NewBytes(0, cmp.Or(opts.MaxBodies, 256<<20))
	g.refused = opts.Metrics.Counters("shoal_requests_refused_total", "Requests that were refused before a handler saw them, by error code.", "code")
	opts.Metrics.GaugeFunc("shoal_body_bytes", "Memory of the bodies of requests that are being read or answered.", func() float64 { return float64(g.bodies.Count()) })
	for _, entry := range opts.AllowHosts {
		name, port, ok := splitHost(entry)
		if !ok || name == "" || strings.ContainsAny(entry, "/*@ ") {
			return nil, shoal.Invalid("allowHosts", quoted(entry)+" is not a host; write it as shoal.example or shoal.example:8443")
		}
		g.hosts[joinHost(name, port)] = true
	}
	for _, entry := range opts.AllowOrigins {
		origin, ok := normalOrigin(entry)
		if !ok {
			return nil, shoal.Invalid("allowOrigins", quoted(entry)+" is not an origin; write it as https://shoal.example or https://shoal.example:8443")
		}
		g.origins[origin] = true
	}
	for _, path := range opts.MCPPaths {
		if !strings.HasPrefix(path, "/") {
			return nil, shoal.Invalid("mcpPaths", quoted(path)+" is not a path; start it with a slash")
		}
		g.mcpPaths = append(g.mcpPaths, strings.TrimSuffix(path, "/"))
	}
	return g, nil
}

// Wrap returns a handler that calls next for accepted requests and answers the others
// itself. It panics if a wrapper of the server's ResponseWriter hides its read deadline,
// because a slow sender could then hold a connection forever.
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
			b.caller, err = g.callerOf(r)
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

// callerOf returns the caller of a request with a body.
func (g *Guard) callerOf(r *http.Request) (limit.Caller, *shoal.Error) {
	if g.admit == nil || !hasBody(r) {
		return limit.From(r.RemoteAddr), nil
	}
	caller, err := g.admit(r)
	if err != nil {
		return caller, publicError(err)
	}
	return caller, nil
}

// Bodies limits the memory of the bodies of all callers.
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
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		drain(w, r)
	default:
		hearOut(r)
	}
	switch {
	case mcp:
		if status == http.StatusUnauthorized && g.challenge != nil {
			w.Header().Set("WWW-Authenticate", g.challenge(r))
		}
		writeRPCError(w, status, err)
	case g.openAI != "" && strings.HasPrefix(r.URL.Path, g.openAI):
		writeOpenAIError(w, status, err)
	case g.text != "" && strings.HasPrefix(r.URL.Path, g.text):
		writeText(w, status, err)
	default:
		writeProblem(w, status, err)
	}
}
