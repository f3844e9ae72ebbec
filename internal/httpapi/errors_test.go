package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// Every code of the contract that REST can answer today, by a call that gets
// it.
func TestEveryErrorHasItsCodeAndStatus(t *testing.T) {
	w := newWorldWith(t, hub.Options{MaxWaits: -1})
	ann, bot := w.entity("default", "ann"), w.entity("default", "bot")
	service := w.mint(shoal.NewKey{Role: shoal.RoleService})
	w.space(ann, "shop")
	w.space(ann, "shut")
	w.do(ann, "POST", base+"/spaces/shut/close", `{"summary": "done"}`).wants(200)
	const shop, messages = base + "/spaces/shop", base + "/spaces/shop/messages"
	w.do(ann, "POST", messages, `{"text": "once"}`, "Idempotency-Key", "k").wants(201)

	for _, c := range []struct {
		kind         shoal.Kind
		secret       string
		method, path string
		body         any
		headers      []string
	}{
		{shoal.InvalidJSON, ann, "POST", messages, `{"text": "cut`, nil},
		{shoal.InvalidJSON, ann, "POST", messages, `{"text": "a"} {}`, nil},
		{shoal.InvalidJSON, ann, "POST", messages, `{"text": "a", "text": "b"}`, nil},
		{shoal.InvalidJSON, ann, "POST", messages, nil, nil},
		{shoal.InvalidArgument, ann, "POST", messages, `[]`, nil},
		{shoal.InvalidArgument, ann, "POST", messages, `null`, nil},
		{shoal.InvalidArgument, ann, "POST", messages, `{}`, nil},
		{shoal.InvalidArgument, ann, "POST", messages, `{"text": ""}`, nil},
		{shoal.InvalidArgument, ann, "POST", messages, `{"text": "a", "parts": []}`, nil},
		{shoal.InvalidArgument, ann, "POST", messages, `{"text": "a"}`, []string{"Idempotency-Key", strings.Repeat("x", 256)}},
		{shoal.InvalidArgument, ann, "POST", shop + "/read", `{}`, nil},
		{shoal.InvalidArgument, ann, "POST", shop + "/read", `{"seq": -1}`, nil},
		{shoal.InvalidArgument, ann, "POST", shop + "/close", `{"summary": ""}`, nil},
		{shoal.InvalidArgument, ann, "POST", base + "/spaces", `{"name": "a", "members": ["nobody"]}`, nil},
		{shoal.InvalidArgument, w.admin, "POST", "/v1/sessions", `{"id": "no/slash"}`, nil},
		{shoal.InvalidArgument, w.admin, "POST", "/v1/keys", `{"role": "king"}`, nil},
		{shoal.InvalidArgument, w.admin, "POST", "/v1/keys", `{"role": "admin", "expiresAt": "2001-01-01T00:00:00Z"}`, nil},
		{shoal.InvalidArgument, ann, "POST", base + "/entities/ann/wait", `{"kind": "anything"}`, nil},
		{shoal.InvalidArgument, ann, "POST", base + "/entities/ann/wait", `{"timeoutMs": 1}`, nil},
		{shoal.InvalidArgument, ann, "GET", base + "/spaces?limit=many", nil, nil},
		{shoal.InvalidArgument, ann, "GET", base + "/spaces?cursor=%21", nil, nil},
		{shoal.InvalidArgument, ann, "GET", messages + "?before=3&after=1", nil, nil},
		{shoal.InvalidArgument, ann, "GET", messages + "?before=0&after=0", nil, nil},
		{shoal.InvalidArgument, ann, "GET", messages + "?after=-1", nil, nil},
		{shoal.InvalidArgument, ann, "GET", messages + "?cursor=bm9uZQ", nil, nil},
		{shoal.InvalidArgument, ann, "GET", messages + "?after=1&cursor=YWZ0ZXIgMQ", nil, nil},
		{shoal.InvalidArgument, ann, "GET", base + "/search", nil, nil},
		{shoal.InvalidArgument, ann, "GET", base + "/search?q=a&kind=robot", nil, nil},
		{shoal.InvalidArgument, ann, "GET", base + "/search?q=a&cursor=bm9uZQ", nil, nil},
		{shoal.InvalidArgument, ann, "GET", shop + "/events?after=yesterday", nil, nil},
		{shoal.EntityRequired, w.admin, "POST", messages, `{"text": "a"}`, nil},
		{shoal.EntityRequired, w.admin, "POST", shop + "/read", `{"seq": 1}`, nil},
		{shoal.Unauthenticated, "", "GET", shop, nil, nil},
		{shoal.Unauthenticated, "shoal_wrong", "GET", shop, nil, nil},
		{shoal.Unauthenticated, "", "GET", shop + "?key=" + ann, nil, nil},
		{shoal.Unauthenticated, "", "GET", shop, nil, []string{"Authorization", "Basic " + ann}},
		{shoal.Forbidden, service, "POST", messages, `{"text": "a"}`, nil},
		{shoal.Forbidden, ann, "POST", "/v1/sessions", `{}`, nil},
		{shoal.Forbidden, ann, "PATCH", base + "/entities/bot", `{"name": "mine"}`, nil},
		{shoal.IdentityMismatch, ann, "POST", messages, `{"text": "a", "senderId": "bot"}`, nil},
		{shoal.IdentityMismatch, ann, "POST", base + "/entities/bot/wait", `{"kind": "mentions", "timeoutMs": 0}`, nil},
		{shoal.IdentityMismatch, ann, "POST", base + "/entities/ann/wait", `{"kind": "mentions", "entityId": "bot"}`, nil},
		{shoal.IdentityMismatch, ann, "GET", shop, nil, []string{"X-Shoal-Entity", "bot"}},
		{shoal.NotFound, bot, "GET", shop, nil, nil},
		{shoal.NotFound, ann, "GET", base + "/spaces/nowhere", nil, nil},
		{shoal.NotFound, ann, "GET", "/v1/sessions/elsewhere", nil, nil},
		{shoal.NotFound, ann, "GET", "/v1/nothing", nil, nil},
		{shoal.NotFound, ann, "GET", "/v1/sessions/", nil, nil},
		{shoal.NotFound, ann, "POST", "/v1//sessions", `{}`, nil},
		{shoal.NotFound, ann, "GET", base + "/spaces/../spaces/shop", nil, nil},
		{shoal.NotFound, "", "GET", "/", nil, nil},
		{shoal.AlreadyExists, ann, "POST", base + "/spaces", `{"id": "shop", "name": "again"}`, nil},
		{shoal.SpaceClosed, ann, "POST", base + "/spaces/shut/messages", `{"text": "a"}`, nil},
		{shoal.SpaceClosed, ann, "POST", base + "/spaces/shut/close", `{"summary": "again"}`, nil},
		{shoal.Conflict, w.admin, "POST", base + "/close", nil, nil},
		{shoal.IdempotencyMismatch, ann, "POST", messages, `{"text": "twice"}`, []string{"Idempotency-Key", "k"}},
		{shoal.TooLarge, ann, "POST", messages, `{"text": "` + strings.Repeat("x", shoal.MaxContent+1) + `"}`, nil},
		{shoal.TooLarge, ann, "POST", messages, `{"text": "` + strings.Repeat("x", guard.MaxBody) + `"}`, nil},
		{shoal.UnsupportedMediaType, ann, "POST", messages, `{"text": "a"}`, []string{"Content-Type", "text/plain"}},
		{shoal.TooManyWaiters, ann, "POST", base + "/entities/ann/wait", `{"kind": "mentions"}`, nil},
	} {
		t.Run(fmt.Sprintf("%s %s %s %.40v", c.kind, c.method, c.path, c.body), func(t *testing.T) {
			w := *w
			w.TB = t
			got := w.do(c.secret, c.method, c.path, c.body, c.headers...)
			got.refuses(c.kind)
			if later := got.header.Get("Retry-After") != ""; later != (got.status == 429 || got.status == 503) {
				t.Errorf("status %d with Retry-After %q", got.status, got.header.Get("Retry-After"))
			}
		})
	}
}

// One answer names every place that is wrong, so that it is mended in one go.
func TestEveryWrongPlaceIsNamed(t *testing.T) {
	w := newWorld(t)
	ann := w.entity("default", "ann")
	w.space(ann, "shop")
	const messages = base + "/spaces/shop/messages"
	for _, c := range []struct {
		method, path, body string
		places             []string
	}{
		{"POST", messages, `{"text": 1, "mentions": "bob", "triggerAgents": "yes", "txt": null}`, []string{"body.mentions", "body.text", "body.triggerAgents", "body.txt"}},
		{"POST", messages, `{"parts": [{"type": "text", "text": "a"}, {"type": "text", "text": 7}, 8]}`, []string{"body.parts[1].text", "body.parts[2]"}},
		{"POST", messages, `{"parts": [{"type": "text"}, {"type": "file", "name": "a"}, {"type": "tool_call"}]}`, []string{
			"body.parts[0].text", "body.parts[1].mediaType", "body.parts[1].url", "body.parts[1].url", "body.parts[2].type",
		}},
		{"POST", messages, `{"text": "a\u0000b"}`, []string{"body.text"}},
		{"POST", messages, `{"mentions": []}`, []string{"body.parts"}},
		{"POST", messages, `7`, []string{"body"}},
		{"POST", base + "/spaces", `{"id": "a b", "metadata": [], "members": {}}`, []string{"body.members"}},
		{"POST", base + "/spaces", `{"id": "a b", "metadata": []}`, []string{"body.id", "body.name", "body.metadata"}},
		{"POST", base + "/entities/ann/wait", `{"kind": "mentions", "timeoutMs": "soon", "redeliver": 1, "from": [1]}`, []string{"body.from[0]", "body.redeliver", "body.timeoutMs"}},
		{"POST", base + "/entities/ann/wait", `{"kind": "mentions", "ack": "made up"}`, []string{"body.ack"}},
		{"POST", base + "/spaces/shop/read", `{"seq": 1.5}`, []string{"body.seq"}},
		{"POST", "/v1/keys", `{"role": "entity", "expiresAt": "soon"}`, []string{"body.expiresAt"}},
		{"POST", "/v1/keys", `{"role": "entity", "kind": "dog"}`, []string{"body.entityId", "body.kind"}},
		{"GET", messages + "?limit=x", ``, []string{"query.limit"}},
		{"GET", base + "/search?q=", ``, []string{"query.q"}},
		{"GET", base + "/search?q=a&kind=dog", ``, []string{"query.kind"}},
		{"GET", base + "/events?after=x", ``, []string{"query.after"}},
	} {
		secret := ann
		if c.path == "/v1/keys" {
			secret = w.admin
		}
		var body any
		if c.body != "" {
			body = c.body
		}
		p := w.do(secret, c.method, c.path, body).refuses(shoal.InvalidArgument)
		var places []string
		for _, f := range p.Errors {
			places = append(places, f.Location)
			if f.Message == "" {
				t.Errorf("%s %s: nothing is said of %s", c.path, c.body, f.Location)
			}
		}
		if !slices.Equal(places, c.places) {
			t.Errorf("%s %s %s names %q, want %q", c.method, c.path, c.body, places, c.places)
		}
	}
	for header, place := range map[string]string{"Last-Event-ID": "header.Last-Event-ID"} {
		p := w.do(ann, "GET", base+"/events", nil, header, "x").refuses(shoal.InvalidArgument)
		if p.Errors[0].Location != place {
			t.Errorf("the error of a wrong %s names %s", header, p.Errors[0].Location)
		}
	}
}

// Null is the same as leaving a field out.
func TestNullIsLeftOut(t *testing.T) {
	w := newWorld(t)
	ann := w.entity("default", "ann")
	w.do(ann, "POST", base+"/spaces", `{"id": "shop", "name": "a", "members": null, "adminAgentId": null, "showAgentReasoning": null}`).wants(201)
	w.do(ann, "POST", base+"/spaces/shop/messages", `{"text": "a", "parts": null, "mentions": null, "triggerAgents": null, "senderId": null}`).wants(201)
	w.do(ann, "POST", base+"/entities/ann/wait", `{"kind": "mentions", "timeoutMs": 0, "spaceId": null, "from": null, "ack": null, "redeliver": null, "entityId": null}`).wants(200)
}

func TestWrongMethodNamesTheRightOnes(t *testing.T) {
	w := newWorld(t)
	for path, allow := range map[string]string{
		base + "/spaces": "GET, HEAD, POST", base + "/spaces/a/members/b": "DELETE, GET, HEAD, PUT", base + "/events": "GET", "/healthz": "GET, HEAD",
	} {
		a := w.do("", http.MethodOptions, path, nil).wants(405)
		if got := a.header.Get("Allow"); got != allow {
			t.Errorf("%s allows %q, want %q", path, got, allow)
		}
		if p := into[problem](a); p.Code != "method_not_allowed" || p.Status != 405 || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("the body of a 405 is %s", a.body)
		}
	}
	w.do("", http.MethodHead, base+"/events", nil).wants(405)
}

// An internal failure of a handler is logged once. The client receives only a request
// id.
func TestInternalFailuresAreLoggedNotReturned(t *testing.T) {
	w := newWorld(t)
	add := func(path string, do func(c *call) error) {
		w.api.mux.Handle(path, w.api.handle(methods{"GET": {public: true, do: do}}))
	}
	add("/panic", func(*call) error { panic("secret of the panic") })
	add("/error", func(*call) error { return errors.New("secret of the error") })
	add("/full", func(*call) error { return shoal.E("", shoal.StorageFull, "The disk is full.") })
	add("/busy", func(*call) error { return fmt.Errorf("while at it: %w", shoal.E("", shoal.Busy, "Later.")) })
	add("/stopping", func(*call) error { return core.ErrStopping })
	add("/half", func(c *call) error {
		c.status = 200
		_, _ = c.w.Write([]byte("half"))
		panic("secret of the half answer")
	})
	for path, kind := range map[string]shoal.Kind{
		"/panic": shoal.Internal, "/error": shoal.Internal, "/full": shoal.StorageFull, "/busy": shoal.Busy, "/stopping": shoal.Busy,
	} {
		a := w.do("", "GET", path, nil)
		a.refuses(kind)
		if strings.Contains(string(a.body), "secret") {
			t.Errorf("%s returns %s", path, a.body)
		}
		if id := a.header.Get("X-Request-Id"); kind == shoal.Internal && !strings.Contains(w.log.String(), id) {
			t.Errorf("the log does not hold the request %q", id)
		}
	}
	fresh := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // a kept connection would be tried again
	if res, err := fresh.Get(w.server.URL + "/half"); err == nil {
		if _, err = res.Body.Read(make([]byte, 100)); err == nil {
			_, err = res.Body.Read(make([]byte, 100))
		}
		if err == nil || err.Error() == "EOF" {
			t.Error("half an answer looks whole")
		}
		res.Body.Close()
	}
	for _, secret := range []string{"secret of the panic", "secret of the error", "secret of the half answer"} {
		if n := strings.Count(w.log.String(), secret); n != 1 {
			t.Errorf("%q is logged %d times", secret, n)
		}
	}
}

// An error that says what has happened is returned as it is, also if it happened because
// something was canceled, such as a statement for which the database took too long.
func TestKnownErrorsAreNotReportedAsStopping(t *testing.T) {
	w := newWorld(t)
	const said = "The database cannot be reached."
	for path, err := range map[string]error{
		"/known":   &shoal.Error{Kind: shoal.Busy, Msg: said, Err: context.Canceled},
		"/unknown": fmt.Errorf("a read: %w", context.Canceled),
	} {
		w.api.mux.Handle(path, w.api.handle(methods{"GET": {public: true, do: func(*call) error { return err }}}))
	}
	if p := w.do("", "GET", "/known", nil).refuses(shoal.Busy); p.Detail != said {
		t.Errorf("the answer says %q", p.Detail)
	}
	if p := w.do("", "GET", "/unknown", nil).refuses(shoal.Busy); !strings.Contains(p.Detail, "stopping") {
		t.Errorf("without a known error the answer says %q", p.Detail)
	}
}

func TestEveryAnswerHasSecurityHeaders(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/healthz", "/v1/sessions", "/nowhere", "/docs", "/docs/style.css", "/v1/openapi.json"} {
		a := w.do("", "GET", path, nil)
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s has %s: %q", path, name, got)
			}
		}
		if !strings.HasPrefix(a.header.Get("X-Request-Id"), "req_") {
			t.Errorf("%s has the request id %q", path, a.header.Get("X-Request-Id"))
		}
	}
}

// Whatever JSON comes in, decoding it ends in a value or in a problem that
// names a place.
func FuzzDecode(f *testing.F) {
	for _, rt := range routes() {
		if rt.in != nil {
			f.Add([]byte(rt.example))
		}
	}
	f.Add([]byte(`{"parts": [{"type": 1, "size": "x"}, null], "timeoutMs": 1e999, "expiresAt": {}, "Text": []}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 || guard.Scan(body, guard.MaxDepth) != nil {
			return // the guard lets none of this pass
		}
		for _, in := range []any{&messageInput{}, &waitInput{}, &shoal.NewSpace{}, &shoal.NewKey{}, &readInput{}, &unreadInput{}, &triggerInput{}, &toolResultInput{}, &shoal.PendingAnswer{}, &shoal.NewPlan{}, &shoal.PlanChange{}} {
			err := bodyDecoder.Decode(body, in)
			var e *shoal.Error
			if err != nil && (!errors.As(err, &e) || e.Kind != shoal.InvalidArgument || len(e.Fields) == 0) {
				t.Errorf("%s as %T: %v", body, in, err)
			}
		}
	})
}
