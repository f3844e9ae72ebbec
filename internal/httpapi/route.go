package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/skew"
)

// route is one row of the table: the handler of an operation, and its description in the OpenAPI
// document.
type route struct {
	method string
	path   string // a pattern of http.ServeMux, without the method
	do     func(c *call) error
	public bool   // requires no key
	stream bool   // responds with server-sent events
	waits  bool   // may block for long, and has separate limits
	unseen bool   // records itself whether the entity has made the call, because a program may have
	label  string // the route in the metrics: method and path

	id           string // the operationId
	tag          string // its group; empty for a route that is not in the document
	summary      string
	about        string
	query        []param
	in           any      // a value of the body's type; nil for no body
	example      string   // of the body
	types        []string // media types of the body besides JSON
	media        string   // of a body that is not JSON; empty for JSON
	upload       bool     // accepts a file instead of JSON
	optionalBody bool     // the body may be left out
	idempotent   bool     // accepts an Idempotency-Key
	status       int      // of success
	also         int      // another status of success, with the same body
	file         bool     // responds with a file
	out          any      // a value of the response's type; nil for no body
	errors       []shoal.Kind
}

// param is a query parameter.
type param struct {
	name, about string
	kind        paramKind
}

type paramKind string

const (
	stringParam  paramKind = "string"
	integerParam paramKind = "integer"
	booleanParam paramKind = "boolean"
)

// The parameters of every list.
var listParams = []param{
	{"cursor", "The `nextCursor` of the previous page.", stringParam},
	limitParam,
}

var limitParam = param{"limit", "The maximum number of items, 1 to 200; a larger number counts as 200. The default is 50.", integerParam}

// sessionPath is the prefix of everything in a session.
const sessionPath = "/v1/sessions/{session}"

// methods are the routes of one path.
type methods map[string]*route

// find returns the route for a method, nil if there is none. GET also serves HEAD, except for
// streams.
func (m methods) find(method string) *route {
	rt := m[method]
	if rt == nil && method == http.MethodHead {
		if get := m[http.MethodGet]; get != nil && !get.stream {
			return get
		}
	}
	return rt
}

// allow returns the value of the header Allow.
func (m methods) allow() string {
	names := slices.Collect(maps.Keys(m))
	if m.find(http.MethodHead) != nil {
		names = append(names, http.MethodHead)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// handle returns the handler of one path.
func (a *API) handle(m methods) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := call{API: a, w: w, r: r}
		c.assignID()
		defer c.finish()
		if err := c.serve(m); err != nil {
			c.fail(err)
		}
	}
}

// serve executes the call.
func (c *call) serve(m methods) error {
	do, err := c.admit(m)
	if err != nil || do == nil {
		return err
	}
	if err := c.checkParams(); err != nil {
		return err
	}
	if c.rt.public || c.rt.stream || c.rt.waits {
		return do(c)
	}
	if c.rt.upload || c.rt.media == shoal.ExportType {
		return c.runUpload(do)
	}
	return c.runCounted(do)
}

// runUpload executes the call as one of the caller's uploads. An upload takes as long as its
// sender does, so it does not count as one of the caller's concurrent calls.
func (c *call) runUpload(do func(*call) error) error {
	if err := c.Limits.Upload(c.caller); err != nil {
		return err
	}
	defer c.Limits.Uploaded(c.caller)
	return do(c)
}

// runCounted executes the call as one of the caller's concurrent calls.
func (c *call) runCounted(do func(*call) error) error {
	if err := c.Limits.Begin(c.caller); err != nil {
		return err
	}
	defer c.Limits.End(c.caller)
	return do(c)
}

// admit selects the route, authenticates the caller and applies its rate limit. It returns the
// handler, or nil when it has written the response itself.
func (c *call) admit(m methods) (func(*call) error, error) {
	rt := m.find(c.r.Method)
	c.rt = rt
	switch {
	case m == nil:
		return nil, &shoal.Error{Op: "httpapi", Kind: shoal.NotFound, Msg: "Path not found. /docs and /v1/openapi.json list all paths.", Err: skew.ErrUnknown}
	case rt == nil:
		return nil, c.methodNotAllowed(m.allow())
	case rt.public:
		return rt.do, nil
	}
	caller, err := c.Auth.Principal(c.r)
	if err != nil {
		return nil, err
	}
	c.caller = caller
	if err := c.Limits.Call(caller); err != nil {
		return nil, err
	}
	if !rt.unseen {
		c.recordPresence()
	}
	return rt.do, nil
}

// recordPresence records that the acting entity, if there is one, has made a call.
func (c *call) recordPresence() {
	if c.caller.EntityID == "" {
		return
	}
	session := c.caller.SessionID
	if session == "" {
		session = c.session()
	}
	if session != "" {
		c.Auth.RecordCall(c.caller, session)
	}
}
