package aguiapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/aguiapi"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/shop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience ends a test that has failed anyway.
const patience = 30 * time.Second

// world is a shop with its transport and its guard.
type world struct {
	*testing.T
	*shop.Shop
	url string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, nil)
}

// newWorldOn is newWorld with a store around that of the world.
func newWorldOn(t *testing.T, around func(storage.Store) storage.Store) *world {
	t.Helper()
	w := &world{T: t, Shop: shop.New(t, around)}
	w.url = w.Serve(guard.Options{}, aguiapi.New(chatapi.Options{Hub: w.Hub, Auth: w.Auth, Heartbeat: 50 * time.Millisecond}).Handler())
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// run is a run of the protocol that is on its way.
type run struct {
	*world
	events chan agui.Event
}

// input is a RunAgentInput with these messages.
func input(messages string) string {
	return `{"threadId":"t","runId":"r","messages":[` + messages + `]}`
}

func says(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"role":"user","content":%q}`, id, text)
}

// request makes a request.
func (w *world) request(ctx context.Context, method, space, key, contentType, body string, headers ...string) *http.Request {
	w.Helper()
	req, err := http.NewRequestWithContext(ctx, method, w.url+"/agui/default/"+space, strings.NewReader(body))
	w.must(err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

// refused sends a request that must be rejected, and returns the problem.
func (w *world) refused(req *http.Request) (status int, code, detail string) {
	w.Helper()
	res, err := http.DefaultClient.Do(req)
	w.must(err)
	defer func() { _ = res.Body.Close() }() // it is read
	var problem struct{ Code, Detail string }
	if err := json.NewDecoder(res.Body).Decode(&problem); err != nil || res.Header.Get("Content-Type") != "application/problem+json" {
		w.Errorf("the response is not a problem: %s, %v", res.Header.Get("Content-Type"), err)
	}
	return res.StatusCode, problem.Code, problem.Detail
}

// begin starts a run of the protocol as ann in the space shop.
func (w *world) begin(ctx context.Context, body string) *run {
	w.Helper()
	res, err := http.DefaultClient.Do(w.request(ctx, http.MethodPost, "shop", w.Key, "application/json", body))
	w.must(err)
	w.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(res.Body)
		w.Fatalf("%s: %s", res.Status, said)
	}
	r := &run{world: w, events: make(chan agui.Event, 100)}
	go func() { // ends with the response
		defer close(r.events)
		for scan := bufio.NewScanner(res.Body); scan.Scan(); {
			text, found := bytes.CutPrefix(scan.Bytes(), []byte("data: "))
			var e agui.Event
			if found && json.Unmarshal(text, &e) == nil {
				r.events <- e
			}
		}
	}()
	return r
}

// until returns the events up to one of that type.
func (r *run) until(last agui.EventType) []agui.Event {
	r.Helper()
	var all []agui.Event
	for {
		select {
		case e, more := <-r.events:
			if !more {
				r.Fatalf("the stream ended after %v", all)
			}
			if all = append(all, e); e.Type == last {
				return all
			}
			if e.Type == agui.RunError || e.Type == agui.RunFinished {
				r.Fatalf("the run ended before %s: %+v", last, all)
			}
		case <-time.After(patience):
			r.Fatalf("no %s after %+v", last, all)
		}
	}
}

// Errors before a stream begins are problems as in the REST API.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	admin := w.NewKey(shoal.NewKey{Role: shoal.RoleAdmin})
	service := w.NewKey(shoal.NewKey{Role: shoal.RoleService, Name: "s"})
	w.NewSpace("private", "bot")
	const post, plain = http.MethodPost, "application/json"
	hello := input(says("u", "Hi"))
	for _, c := range []struct {
		name, method, space, key, contentType, body string
		headers                                     []string
		status                                      int
		code                                        string
	}{
		{"no key", post, "shop", "", plain, hello, nil, 401, "unauthenticated"},
		{"a wrong key", post, "shop", "x", plain, hello, nil, 401, "unauthenticated"},
		{"another one's space", post, "private", w.Key, plain, hello, nil, 404, "not_found"},
		{"no such space", post, "nowhere", w.Key, plain, hello, nil, 404, "not_found"},
		{"an admin as nobody", post, "shop", admin, plain, hello, nil, 400, "entity_required"},
		{"an admin as no member", post, "private", admin, plain, hello, []string{"X-Shoal-Entity", "ann"}, 403, "forbidden"},
		{"a service", post, "shop", service, plain, hello, nil, 403, "forbidden"},
		{"another name", post, "shop", w.Key, plain, hello, []string{"X-Shoal-Entity", "bot"}, 403, "identity_mismatch"},
		{"a form", post, "shop", w.Key, "text/plain", hello, nil, 415, "unsupported_media_type"},
		{"no body", post, "shop", w.Key, plain, "", nil, 400, "invalid_json"},
		{"no JSON", post, "shop", w.Key, plain, "{", nil, 400, "invalid_json"},
		{"no input", post, "shop", w.Key, plain, `{"threadId":"t"}`, nil, 422, "invalid_argument"},
		{"an empty message", post, "shop", w.Key, plain, input(says("u", "")), nil, 422, "invalid_argument"},
		{"GET", http.MethodGet, "shop", w.Key, plain, "", nil, 405, "method_not_allowed"},
		{"another path", post, "shop/more", w.Key, plain, hello, nil, 404, "not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, code, detail := w.refused(w.request(t.Context(), c.method, c.space, c.key, c.contentType, c.body, c.headers...))
			if status != c.status || code != c.code || detail == "" {
				t.Errorf("%d %s: %s; want %d %s", status, code, detail, c.status, c.code)
			}
		})
	}
}

// A message is posted once for its id, however often the client sends it, and a failed
// run is reported as failed every time.
func TestPostsOnce(t *testing.T) {
	w := newWorld(t)
	first := w.begin(t.Context(), input(says("u", "Hi")))
	job := w.Claim()
	job.Say("Hello.")
	first.until(agui.TextMessageEnd)
	job.Finish(shoal.RunFailed, &shoal.RunError{Code: "max_steps", Message: "Too many steps."})
	end := first.until(agui.RunError)
	if e := end[len(end)-1]; e.Code != "max_steps" || e.Message != "Too many steps." {
		t.Errorf("it ends with %+v", e)
	}
	again := w.begin(t.Context(), input(says("u", "Hi"))).until(agui.RunError)
	if len(again) != 5 || again[0].Type != agui.RunStarted || again[2].Delta != "Hello." {
		t.Errorf("the same run again shows %+v", again)
	}
	status, code, detail := w.refused(w.request(t.Context(), http.MethodPost, "shop", w.Key, "application/json", input(says("u", "Something else"))))
	if status != http.StatusConflict || !strings.Contains(detail, "another id") {
		t.Errorf("another message with the same id: %d %s: %s", status, code, detail)
	}
	all, err := w.Hub.Messages.Read(t.Context(), w.Admin, shoal.DefaultSession, "shop", storage.Page{Limit: 10})
	if err != nil || len(all) != 3 || all[0].EntityID != "ann" || all[2].EntityID != shoal.System {
		t.Errorf("the space holds %+v, %v", all, err)
	}
}

// A run whose client has gone goes on, and streams end when the hub stops.
func TestEndsOfStreams(t *testing.T) {
	w := newWorld(t)
	ctx, hangUp := context.WithCancel(t.Context())
	r := w.begin(ctx, input(says("u", "Hi")))
	r.until(agui.RunStarted)
	hangUp()
	for range r.events { // until the client has gone
	}
	job := w.Claim()
	job.Say("Hello.")
	job.Finish(shoal.RunCompleted, nil)

	r = w.begin(t.Context(), input(says("u2", "And now?")))
	r.until(agui.RunStarted)
	w.Hub.Stop()
	end := r.until(agui.RunError)
	if e := end[len(end)-1]; e.Code != string(shoal.Busy) {
		t.Errorf("a stopping server sent %+v", e)
	}
}

// A client that is removed from the space, or whose key is revoked, gets an error, and its
// stream ends.
func TestEndOfRights(t *testing.T) {
	w := newWorld(t)
	r := w.begin(t.Context(), input(says("u", "Hi")))
	r.until(agui.RunStarted)
	_, err := w.Hub.Spaces.Leave(t.Context(), w.Admin, shoal.DefaultSession, "shop", "ann")
	w.must(err)
	end := r.until(agui.RunError)
	if e := end[len(end)-1]; e.Code != string(shoal.NotFound) {
		t.Errorf("the removed client got %+v", e)
	}
}

// Nobody acts where no hosted agent is, and the message says what to do.
func TestNobodyActs(t *testing.T) {
	w := newWorld(t)
	_, err := w.Hub.Spaces.Leave(t.Context(), w.Admin, shoal.DefaultSession, "shop", "bot")
	w.must(err)
	end := w.begin(t.Context(), input(says("u", "Hi"))).until(agui.RunError)
	if e := end[len(end)-1]; len(end) != 2 || e.Code != string(shoal.NotFound) || !strings.Contains(e.Message, "no hosted agent") {
		t.Errorf("it ends with %+v", end)
	}
}

// Errors in a message name its location in the input.
func TestRefusalsNameTheInput(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		input(`{"id":"a","role":"system","content":"x"},{"id":"b","role":"user","content":[{"type":"image","source":{"type":"url","value":"ftp://x"}}]}`): `"body.messages[1].content"`,
		`{"threadId":"t","runId":"r","messages":[` + says("b", "hello") + `],"forwardedProps":{"mentions":["a b"]}}`:                                      `"body.forwardedProps.mentions[0]"`,
	} {
		resp, err := http.DefaultClient.Do(w.request(t.Context(), http.MethodPost, "shop", w.Key, "application/json", body))
		w.must(err)
		text, err := io.ReadAll(resp.Body)
		w.must(errors.Join(err, resp.Body.Close()))
		if resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(text), `"location":`+want) {
			t.Errorf("answered %d %s, want the location %s", resp.StatusCode, text, want)
		}
	}
}
