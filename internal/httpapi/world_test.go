package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/remoterun"
	"github.com/shoal-dev/shoal/internal/run"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// patience bounds how long a test waits for what must happen.
const patience = 20 * time.Second

// world is a whole server on a database of its own, with its guard and its
// keys, reached over TCP.
type world struct {
	testing.TB
	hub    *hub.Hub
	store  storage.Store
	auth   *auth.Authenticator
	api    *API
	server *httptest.Server
	log    *syncBuffer
	admin  string
}

func newWorld(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	return newWorldWith(t, hub.Options{}, change...)
}

func newWorldWith(t testing.TB, h hub.Options, change ...func(*Options)) *world {
	t.Helper()
	w := &world{TB: t, log: &syncBuffer{}}
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite://" + shoaltest.EmptyDatabase(t)})
	w.must(err)
	w.store, h.Store, h.Bus = store, store, localbus.New()
	w.hub = hub.New(h)
	w.must(w.hub.Start(t.Context()))
	g, err := guard.New(guard.Options{Accept: bodies.Types, Upload: bodies.UploadLimit})
	w.must(err)
	w.auth = auth.New(w.hub, auth.Options{Guard: g})
	w.admin = auth.NewSecret()
	_, err = w.hub.Keys.Adopt(t.Context(), shoal.NewKey{Role: shoal.RoleAdmin, Name: "test"}, auth.Hash(w.admin))
	w.must(err)
	executor, err := run.New(run.Options{Hub: w.hub}) // it executes nothing
	w.must(err)
	t.Cleanup(executor.Stop)
	remote := remoterun.New(remoterun.Options{Hub: w.hub})
	remote.Start()
	t.Cleanup(remote.Stop)
	o := Options{Remote: remote, Preview: executor.Preview, Conversation: history.Public, Hub: w.hub, Auth: w.auth, Version: "test", Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, c := range change {
		c(&o)
	}
	w.api = New(o)
	w.server = httptest.NewServer(g.Wrap(w.api.Handler()))
	t.Cleanup(func() {
		w.hub.Stop()
		w.server.Close()
		w.must(store.Close())
	})
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// syncBuffer is a log that many goroutines write and a test reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// answer is what came back for a request.
type answer struct {
	testing.TB
	asked  string
	status int
	header http.Header
	body   []byte
}

// request builds a request. body is JSON text, or a value to be written as
// JSON, or nil; headers are pairs.
func (w *world) request(ctx context.Context, secret, method, path string, body any, headers ...string) *http.Request {
	w.Helper()
	var text []byte
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
	default:
		var err error
		text, err = json.Marshal(b)
		w.must(err)
	}
	r, err := http.NewRequestWithContext(ctx, method, w.server.URL+path, bytes.NewReader(text))
	w.must(err)
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	if text != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// do makes a call and holds the answer to the OpenAPI document.
func (w *world) do(secret, method, path string, body any, headers ...string) answer {
	w.Helper()
	return w.send(w.request(w.Context(), secret, method, path, body, headers...))
}

func (w *world) send(r *http.Request) answer {
	w.Helper()
	res, err := w.server.Client().Do(r)
	w.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	w.must(err)
	a := answer{w.TB, r.Method + " " + r.URL.Path, res.StatusCode, res.Header, text}
	w.documented(r, a)
	return a
}

// wants fails unless the status is the one, and returns the answer.
func (a answer) wants(status int) answer {
	a.Helper()
	if a.status != status {
		a.Fatalf("%s = %d, want %d\n%s", a.asked, a.status, status, a.body)
	}
	return a
}

// refuses fails unless the answer is a problem with this code and status.
func (a answer) refuses(kind shoal.Kind) problem {
	a.Helper()
	p := into[problem](a)
	if p.Code != kind || a.status != guard.Status(kind) || p.Status != a.status || p.Detail == "" || p.Title == "" ||
		a.header.Get("Content-Type") != "application/problem+json" {
		a.Fatalf("%s = %d %s\n%s\nwant a problem with the code %s", a.asked, a.status, a.header.Get("Content-Type"), a.body, kind)
	}
	return p
}

// into decodes the body of an answer.
func into[T any](a answer) (out T) {
	a.Helper()
	if err := json.Unmarshal(a.body, &out); err != nil {
		a.Fatalf("%s = %d %s: %v", a.asked, a.status, a.body, err)
	}
	return out
}

// entity makes an entity with a key, and returns the secret.
func (w *world) entity(session, id string) string {
	w.Helper()
	kind := shoal.Agent
	if id == "ann" {
		kind = shoal.Human
	}
	return w.mint(shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.SessionID(session), EntityID: shoal.EntityID(id), Kind: kind})
}

func (w *world) mint(n shoal.NewKey) string {
	w.Helper()
	key := into[shoal.Key](w.do(w.admin, "POST", "/v1/keys", n).wants(201))
	return *key.Secret
}

// space makes a space of the session default.
func (w *world) space(secret, id string, members ...shoal.EntityID) {
	w.Helper()
	w.do(secret, "POST", base+"/spaces", shoal.NewSpace{ID: shoal.SpaceID(id), Name: id, Members: members}).wants(201)
}

func (w *world) post(secret, space, text string, mentions ...shoal.EntityID) shoal.Message {
	w.Helper()
	return into[shoal.Message](w.do(secret, "POST", base+"/spaces/"+space+"/messages", map[string]any{"text": text, "mentions": mentions}).wants(201))
}

// base is where the session default lies.
const base = "/v1/sessions/default"

// documentedRoutes finds the operation of a path in the OpenAPI document.
var documentedRoutes = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for path := range document().Paths {
		mux.HandleFunc(path, http.NotFound)
	}
	return mux
})

// documented fails unless the document knows the answer: its status, and its
// body with every field that it says and no other.
func (w *world) documented(r *http.Request, a answer) {
	w.Helper()
	_, pattern := documentedRoutes().Handler(r)
	item := document().Paths[pattern]
	if item == nil || a.status == http.StatusMethodNotAllowed || path.Clean(r.URL.Path) != r.URL.Path {
		return
	}
	op := item[strings.ToLower(r.Method)]
	if op == nil {
		return
	}
	res := op.Responses[fmt.Sprint(a.status)]
	if res == nil {
		w.Errorf("%s answers %d, which is not documented\n%s", a.asked, a.status, a.body)
		return
	}
	if res.Ref != "" {
		res = document().Components.Responses[strings.TrimPrefix(res.Ref, responseRefs)]
		if code := into[problem](a).Code; !strings.Contains(res.Description, "`"+string(code)+"`") {
			w.Errorf("%s answers %d %s; documented is only %s", a.asked, a.status, code, res.Description)
		}
	}
	for mediaType, content := range res.Content {
		if mediaType == anyMedia {
			continue
		}
		if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, mediaType) {
			w.Errorf("%s answers %d as %q, documented is %q", a.asked, a.status, got, mediaType)
		}
		if strings.HasSuffix(mediaType, "json") {
			w.fits(a.asked, content.Schema, a.body)
		}
	}
}

// fits holds JSON to a schema of the document.
func (w *world) fits(what string, schema *jsonschema.Schema, text []byte) {
	w.Helper()
	var tree any
	w.must(json.Unmarshal(text, &tree))
	resolved, err := resolve(schema)
	w.must(err)
	if err := resolved.Validate(tree); err != nil {
		w.Errorf("%s is not as documented: %v\n%s", what, err, text)
	}
}

// definitions are the schemas of the document where a JSON Schema has them.
var definitions = sync.OnceValues(func() ([]byte, error) {
	text, err := json.Marshal(document().Components.Schemas)
	return bytes.ReplaceAll(text, []byte(schemaRefs), []byte("#/$defs/")), err
})

var resolvedSchemas sync.Map // from the JSON of a schema to *jsonschema.Resolved

// resolve returns a schema of the document, ready to validate.
func resolve(schema *jsonschema.Schema) (*jsonschema.Resolved, error) {
	key, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	if known, found := resolvedSchemas.Load(string(key)); found {
		return known.(*jsonschema.Resolved), nil
	}
	defs, err := definitions()
	if err != nil {
		return nil, err
	}
	root := new(jsonschema.Schema)
	if err := json.Unmarshal(bytes.ReplaceAll(key, []byte(schemaRefs), []byte("#/$defs/")), root); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(defs, &root.Defs); err != nil {
		return nil, err
	}
	resolved, err := root.Resolve(nil)
	if err == nil {
		resolvedSchemas.Store(string(key), resolved)
	}
	return resolved, err
}

// event is one server-sent event, or a comment line, whose text is in comment.
type event struct {
	id, name, comment string
	data              json.RawMessage
}

// listener reads a stream.
type listener struct {
	*world
	events chan event // closed when the stream has ended
	cancel context.CancelFunc
	last   string // id of the last event
}

// follow opens a stream and fails unless the server takes it.
func (w *world) follow(secret, path string, headers ...string) *listener {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	res, err := w.server.Client().Do(w.request(ctx, secret, "GET", path, nil, headers...)) //nolint:bodyclose // the reading goroutine closes it
	w.must(err)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(res.Body)
		w.Fatalf("GET %s = %d %s\n%s", path, res.StatusCode, res.Header.Get("Content-Type"), text)
	}
	l := &listener{world: w, events: make(chan event, 1000), cancel: cancel}
	go func() {
		defer cancel()
		defer res.Body.Close()
		defer close(l.events)
		lines := bufio.NewReaderSize(res.Body, 1<<20)
		var ev event
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			line = strings.TrimSuffix(line, "\n")
			field, value, _ := strings.Cut(line, ": ")
			switch field {
			case "":
				if line != "" {
					l.events <- event{comment: value}
				} else if ev.name != "" {
					l.events <- ev
				}
				ev = event{}
			case "id":
				ev.id = value
			case "event":
				ev.name = value
			case "data":
				ev.data = json.RawMessage(value)
			}
		}
	}()
	w.Cleanup(cancel)
	return l
}

// next returns the next event, comment lines passed over.
func (l *listener) next() event {
	l.Helper()
	for began := time.Now(); ; {
		if time.Since(began) > patience {
			l.Fatal("the stream has comment lines and no events")
		}
		ev, ok := l.take()
		if !ok {
			l.Fatal("the stream has ended")
		}
		if ev.comment != "" || ev.name == "entity.updated" || ev.name == "delivery.updated" {
			continue
		}
		if ev.id != "" {
			l.last = ev.id
		}
		return ev
	}
}

func (l *listener) take() (event, bool) {
	l.Helper()
	select {
	case ev, ok := <-l.events:
		return ev, ok
	case <-time.After(patience):
		l.Fatal("the stream is silent")
		return event{}, false
	}
}

// wants fails unless the next events have these names, and returns the last.
func (l *listener) wants(names ...string) (ev event) {
	l.Helper()
	for _, name := range names {
		if ev = l.next(); ev.name != name {
			l.Fatalf("the next event is %s %s, want %s", ev.name, ev.data, name)
		}
	}
	return ev
}

// ends fails unless the stream ends by itself.
func (l *listener) ends() {
	l.Helper()
	for {
		if _, ok := l.take(); !ok {
			return
		}
	}
}

// data decodes the data of an event.
func data[T any](t testing.TB, ev event) (out T) {
	t.Helper()
	if err := json.Unmarshal(ev.data, &out); err != nil {
		t.Fatalf("%s %s: %v", ev.name, ev.data, err)
	}
	return out
}
