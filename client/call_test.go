package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

var hello = shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}}

// However often the connection breaks, the server is asked the same under the
// same key, so it stores one message.
func TestPostIsRepeatedUnderOneKey(t *testing.T) {
	var keys, bodies []string
	take := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			keys, bodies = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, string(body))
			then(w, r)
		}
	}
	handler := inTurn(
		take(func(http.ResponseWriter, *http.Request) { cut() }),
		take(func(w http.ResponseWriter, _ *http.Request) { say(w, `{"id":"msg_`); cut() }),
		take(func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 503, `{"code":"busy","detail":"Too much to do."}`)
		}),
		take(func(w http.ResponseWriter, _ *http.Request) { answer(w, 201, `{"id":"msg_1","seq":7}`) }),
	)
	inWorld(t, handler, func(w *world) {
		m, err := w.client.Session("default").Post(w.Context(), "shop", hello)
		if err != nil || m.ID != "msg_1" || m.Seq != 7 {
			w.Fatalf("Post = %+v, %v", m, err)
		}
		if len(keys) != 4 || keys[0] == "" || len(slices.Compact(slices.Clone(keys))) != 1 {
			w.Errorf("the keys of the tries: %q, want one key four times", keys)
		}
		if len(slices.Compact(slices.Clone(bodies))) != 1 {
			w.Errorf("the tries asked different things: %q", bodies)
		}
		var sent shoal.Draft
		if err := json.Unmarshal([]byte(bodies[0]), &sent); err != nil || sent.Parts[0].Text != "hello" {
			w.Errorf("body = %s (%v)", bodies[0], err)
		}
	})
}

func TestTheCallersIdempotencyKeyIsUsed(t *testing.T) {
	var key string
	handler := func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Idempotency-Key")
		answer(w, 201, `{}`)
	}
	inWorld(t, handler, func(w *world) {
		_, err := w.client.Session("default").CreateSpace(w.Context(), shoal.NewSpace{Name: "Shop"}, client.IdempotencyKey("mine-1"))
		if err != nil || key != "mine-1" {
			w.Errorf("key = %q, error %v", key, err)
		}
	})
}

// What is repeated: whatever does no harm when done twice, and whatever was not
// done.
func TestWhatIsRepeated(t *testing.T) {
	get := func(c *client.Client) error {
		_, err := c.Session("default").Space(context.Background(), "shop")
		return err
	}
	remove := func(c *client.Client) error { return c.Session("default").DeleteEntity(context.Background(), "bot") }
	post := func(c *client.Client) error {
		_, err := c.Session("default").Post(context.Background(), "shop", hello)
		return err
	}
	refuse := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, status, `{"code":"`+code+`","detail":"No."}`) }
	}
	broken := func(http.ResponseWriter, *http.Request) { cut() }
	for _, c := range []struct {
		name   string
		do     func(*client.Client) error
		answer http.HandlerFunc
		kind   shoal.Kind
		tries  int32
	}{
		{"read, busy", get, refuse(503, "busy"), shoal.Busy, 5},
		{"read, broken", get, broken, client.ErrUnreachable, 5},
		{"read, limited", get, refuse(429, "rate_limited"), shoal.RateLimited, 5},
		{"read, failed", get, refuse(500, "internal"), shoal.Internal, 1},
		{"read, missing", get, refuse(404, "not_found"), shoal.NotFound, 1},
		{"remove, busy", remove, refuse(503, "busy"), shoal.Busy, 1},
		{"remove, broken", remove, broken, client.ErrUnreachable, 1},
		{"remove, limited", remove, refuse(429, "rate_limited"), shoal.RateLimited, 5},
		{"post, busy", post, refuse(503, "busy"), shoal.Busy, 5},
		{"post, closed", post, refuse(409, "space_closed"), shoal.SpaceClosed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tries atomic.Int32
			handler := func(w http.ResponseWriter, r *http.Request) { tries.Add(1); c.answer(w, r) }
			inWorld(t, handler, func(w *world) {
				err := c.do(w.hasty)
				if !errors.Is(err, c.kind) || shoal.KindOf(err) != c.kind {
					w.Errorf("error = %v, want kind %s", err, c.kind)
				}
				if tries.Load() != c.tries {
					w.Errorf("tried %d times, want %d", tries.Load(), c.tries)
				}
			})
		})
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	handler := inTurn(
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			answer(w, 429, `{"code":"rate_limited"}`)
		},
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", time.Now().Add(5*time.Second).UTC().Format(http.TimeFormat))
			answer(w, 503, `{"code":"busy"}`)
		},
		func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `{"id":"shop"}`) },
	)
	inWorld(t, handler, func(w *world) {
		began := time.Now()
		s, err := w.client.Session("default").Space(w.Context(), "shop")
		if err != nil || s.ID != "shop" {
			w.Fatalf("Space = %+v, %v", s, err)
		}
		if took := time.Since(began); took < 11*time.Second || took > 13*time.Second {
			w.Errorf("came back after %v altogether, want about 12 s", took)
		}
	})
}

// A server that asks to stay away for an hour is not waited for.
func TestALongRetryAfterIsTheCallersMatter(t *testing.T) {
	handler := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		answer(w, 429, `{"code":"rate_limited"}`)
	}
	inWorld(t, handler, func(w *world) {
		began := time.Now()
		_, err := w.client.Session("default").Post(w.Context(), "shop", hello)
		if !errors.Is(err, shoal.RateLimited) || time.Since(began) > time.Second {
			w.Errorf("error = %v after %v, want RateLimited at once", err, time.Since(began))
		}
	})
}

func TestASilentServerIsAskedAgain(t *testing.T) {
	handler := inTurn(
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		func(w http.ResponseWriter, r *http.Request) { say(w, `{"id":`); <-r.Context().Done() },
		func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `{"id":"shop"}`) },
	)
	inWorld(t, handler, func(w *world) {
		began := time.Now()
		s, err := w.client.Session("default").Space(w.Context(), "shop")
		if err != nil || s.ID != "shop" {
			w.Fatalf("Space = %+v, %v", s, err)
		}
		if took := time.Since(began); took < time.Minute || took > 62*time.Second {
			w.Errorf("took %v, want twice 30 s", took)
		}
	})
}

// A server that restarts within ten seconds is only slow to its callers. One that stays
// away longer is given up.
func TestCallsOutliveARestart(t *testing.T) {
	posted := 0
	handler := func(w http.ResponseWriter, _ *http.Request) { posted++; answer(w, 201, `{"id":"msg_1","seq":7}`) }
	for _, c := range []struct {
		away  time.Duration
		kind  shoal.Kind
		count int
	}{{8 * time.Second, "", 1}, {time.Hour, client.ErrUnreachable, 0}} {
		posted = 0
		inWorld(t, handler, func(w *world) {
			w.pipes.down.Store(true)
			back := time.AfterFunc(c.away, func() { w.pipes.down.Store(false) })
			defer back.Stop()
			began := time.Now()
			_, err := w.client.Session("default").Post(w.Context(), "shop", hello)
			if shoal.KindOf(err) != c.kind || posted != c.count {
				w.Errorf("away for %v: error %v, posted %d times", c.away, err, posted)
			}
			if took := time.Since(began); took < 8*time.Second || took > 10*time.Second {
				w.Errorf("away for %v: took %v", c.away, took)
			}
		})
	}
}

// A call that never left may be tried again whatever it does.
func TestNoServer(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.pipes.down.Store(true)
		err := w.hasty.Session("default").DeleteEntity(w.Context(), "bot")
		if !errors.Is(err, client.ErrUnreachable) || !errors.Is(err, errDown) {
			w.Errorf("error = %v, want ErrUnreachable because of %v", err, errDown)
		}
		if n := w.pipes.dialed.Load(); n != 5 {
			w.Errorf("dialed %d times, want 5", n)
		}
	})
}

func TestTheEndOfTheContextEndsTheCall(t *testing.T) {
	enough := errors.New("enough")
	for name, handler := range map[string]http.HandlerFunc{
		"while the server is silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"between two tries": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "20")
			answer(w, 503, `{}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, handler, func(w *world) {
				ctx, cancel := context.WithCancelCause(w.Context())
				time.AfterFunc(3*time.Second, func() { cancel(enough) })
				began := time.Now()
				err := w.client.Ready(ctx)
				if !errors.Is(err, enough) || time.Since(began) != 3*time.Second {
					w.Errorf("error = %v after %v, want %v after 3 s", err, time.Since(began), enough)
				}
			})
		})
	}
}

func TestARefusalIsAnErrorOfTheContract(t *testing.T) {
	handler := func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 422, `{"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The body is wrong.",
			"code":"invalid_argument","errors":[{"location":"body.name","message":"is missing"}]}`)
	}
	inWorld(t, handler, func(w *world) {
		_, err := w.client.Session("default").CreateSpace(w.Context(), shoal.NewSpace{})
		var e *shoal.Error
		if !errors.As(err, &e) {
			w.Fatalf("error = %v, want a *shoal.Error", err)
		}
		want := shoal.FieldError{Location: "body.name", Message: "is missing"}
		if e.Kind != shoal.InvalidArgument || e.Msg != "The body is wrong." || e.Op != "client.CreateSpace" || !slices.Equal(e.Fields, []shoal.FieldError{want}) {
			w.Errorf("error = %+v", e)
		}
	})
}

// What proxies and strangers answer still gets a kind.
func TestAnswersOfOthers(t *testing.T) {
	for _, c := range []struct {
		status int
		kind   shoal.Kind
	}{
		{401, shoal.Unauthenticated},
		{403, shoal.Forbidden},
		{404, shoal.Internal}, // no server of ours says it like this
		{413, shoal.TooLarge},
		{502, client.ErrUnreachable},
		{504, client.ErrUnreachable},
		{200, shoal.Internal},
		{302, shoal.Internal},
	} {
		handler := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, "<h1>Hello</h1>")
		}
		inWorld(t, handler, func(w *world) {
			if _, err := w.client.Session("default").Get(w.Context()); shoal.KindOf(err) != c.kind {
				w.Errorf("%d: error = %v, want kind %s", c.status, err, c.kind)
			}
		})
	}
}
