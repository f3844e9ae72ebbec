package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// route is one row of the table: what is done, and what the OpenAPI document
// says about it.
type route struct {
	method string
	path   string // a pattern of http.ServeMux, without the method
	do     func(c *call) error
	public bool   // needs no key
	stream bool   // answers with server-sent events
	waits  bool   // may hold its caller for long, and has limits of its own
	label  string // the route in the metrics: method and path

	id           string // the operationId
	tag          string // its group; empty: it is not in the document
	summary      string
	about        string
	query        []param
	in           any      // a value of the body's type; nil: no body
	example      string   // of the body
	types        []string // of the body, besides JSON
	media        string   // of a body that is no JSON; empty: it is
	upload       bool     // takes a file in place of JSON
	optionalBody bool     // does without a body, too
	idempotent   bool     // takes an Idempotency-Key
	status       int      // of success
	also         int      // another status of success, with the same body
	file         bool     // answers with a file
	out          any      // a value of the answer's type; nil: no body
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
	{"cursor", "Where to go on: the `nextCursor` of the page before.", stringParam},
	limitParam,
}

var limitParam = param{"limit", "How many at most, 1 to 200; more is cut. The default is 50.", integerParam}

// sessionPath is where everything in a session lies.
const sessionPath = "/v1/sessions/{session}"

// methods are the routes of one path.
type methods map[string]*route

// find returns the route for a method. HEAD is GET without its body, but a
// stream has nothing but a body.
func (m methods) find(method string) *route {
	rt := m[method]
	if rt == nil && method == http.MethodHead {
		if get := m[http.MethodGet]; get != nil && !get.stream {
			return get
		}
	}
	return rt
}

// allow is the value of the header Allow.
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

// serve does what is asked.
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

// uploading does what is asked as one of the uploads of the caller: it takes as long
// as the sender takes, so it is no call under way.
func (c *call) runUpload(do func(*call) error) error {
	if err := c.Limits.Upload(c.who); err != nil {
		return err
	}
	defer c.Limits.Uploaded(c.who)
	return do(c)
}

// bounded does what is asked as one of the calls that the caller has under way.
func (c *call) runCounted(do func(*call) error) error {
	if err := c.Limits.Begin(c.who); err != nil {
		return err
	}
	defer c.Limits.End(c.who)
	return do(c)
}

// admit finds out what is asked and by whom, and returns the handler, or nil
// when the call is answered already.
func (c *call) admit(m methods) (func(*call) error, error) {
	rt := m.find(c.r.Method)
	c.rt = rt
	switch {
	case m == nil:
		return nil, shoal.E("httpapi", shoal.NotFound, "There is nothing here. What there is stands in /docs and /v1/openapi.json.")
	case rt == nil:
		c.methodNotAllowed(m.allow())
		return nil, nil
	case rt.public:
		return rt.do, nil
	}
	who, err := c.Auth.Principal(c.r)
	if err != nil {
		return nil, err
	}
	c.who = who
	if err := c.Limits.Call(who); err != nil {
		return nil, err
	}
	if who.EntityID != "" {
		c.recordPresence()
	}
	return rt.do, nil
}

// called notes that the acting entity is there.
func (c *call) recordPresence() {
	session := c.who.SessionID
	if session == "" {
		session = c.session()
	}
	if session != "" {
		c.Auth.Called(c.who, session)
	}
}
