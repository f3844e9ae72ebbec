package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []client.Options{
		{},
		{URL: "localhost:7462"},
		{URL: "ftp://localhost"},
		{URL: "http://"},
		{URL: "http://ann:pw@localhost"},
		{URL: "http://localhost/?key=1"},
		{URL: "http://localhost", Key: "two words"},
		{URL: "http://localhost", Key: "line\nX-Shoal-Entity: root"},
		{URL: "http://localhost", As: "a/b"},
	} {
		if _, err := client.New(o); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("New(%+v) = %v, want InvalidArgument", o, err)
		}
	}
	if _, err := client.New(client.Options{URL: "https://shoal.example/chat/"}); err != nil {
		t.Error(err)
	}
}

// Every call goes to its place in the contract, with the key and the acting
// entity in their headers and nowhere else.
func TestWhereCallsGo(t *testing.T) {
	calls := map[string]func(w *world, s *client.Session) error{
		"GET /healthz":           func(w *world, _ *client.Session) error { return w.client.Health(w.Context()) },
		"GET /readyz":            func(w *world, _ *client.Session) error { return w.client.Ready(w.Context()) },
		"GET /v1/keys?limit=200": func(w *world, _ *client.Session) error { return drain(w.client.Keys(w.Context())) },
		"POST /v1/keys": func(w *world, _ *client.Session) error {
			_, err := w.client.CreateKey(w.Context(), shoal.NewKey{Role: shoal.RoleAdmin})
			return err
		},
		"POST /console/links": func(w *world, _ *client.Session) error {
			_, err := w.client.ConsoleLink(w.Context())
			return err
		},
		"GET /v1/sessions/s1/renderers?limit=200": func(w *world, s *client.Session) error { return drain(s.Renderers(w.Context())) },
		"PUT /v1/sessions/s1/renderers/card": func(w *world, s *client.Session) error {
			_, err := s.PutRenderer(w.Context(), "card", []byte("<p>"))
			return err
		},
		"DELETE /v1/sessions/s1/renderers/card": func(w *world, s *client.Session) error { return s.DeleteRenderer(w.Context(), "card") },
		"DELETE /v1/keys/key_1":                 func(w *world, _ *client.Session) error { return w.client.RevokeKey(w.Context(), "key_1") },
		"GET /v1/sessions?limit=200": func(w *world, _ *client.Session) error {
			return drain(w.client.Sessions(w.Context()))
		},
		"POST /v1/sessions": func(w *world, _ *client.Session) error {
			_, err := w.client.CreateSession(w.Context(), shoal.NewSession{})
			return err
		},
		"GET /v1/sessions/s1":        func(w *world, s *client.Session) error { _, err := s.Get(w.Context()); return err },
		"POST /v1/sessions/s1/close": func(w *world, s *client.Session) error { _, err := s.Close(w.Context()); return err },
		"DELETE /v1/sessions/s1":     func(w *world, s *client.Session) error { return s.Delete(w.Context()) },
		"GET /v1/sessions/s1/entities?limit=200": func(w *world, s *client.Session) error {
			return drain(s.Entities(w.Context()))
		},
		"POST /v1/sessions/s1/entities": func(w *world, s *client.Session) error {
			_, err := s.CreateEntity(w.Context(), shoal.NewEntity{ID: "bot"})
			return err
		},
		"GET /v1/sessions/s1/entities/bot": func(w *world, s *client.Session) error {
			_, err := s.Entity(w.Context(), "bot")
			return err
		},
		"PATCH /v1/sessions/s1/entities/bot": func(w *world, s *client.Session) error {
			_, err := s.ChangeEntity(w.Context(), "bot", shoal.EntityChange{})
			return err
		},
		"DELETE /v1/sessions/s1/entities/bot":     func(w *world, s *client.Session) error { return s.DeleteEntity(w.Context(), "bot") },
		"POST /v1/sessions/s1/entities/bot/erase": func(w *world, s *client.Session) error { return s.EraseEntity(w.Context(), "bot") },
		"POST /v1/sessions/s1/entities/bot/wait": func(w *world, s *client.Session) error {
			_, err := s.Wait(w.Context(), "bot", client.WaitRequest{})
			return err
		},
		"GET /v1/sessions/s1/spaces?limit=200": func(w *world, s *client.Session) error { return drain(s.Spaces(w.Context())) },
		"POST /v1/sessions/s1/spaces": func(w *world, s *client.Session) error {
			_, err := s.CreateSpace(w.Context(), shoal.NewSpace{Name: "Shop"})
			return err
		},
		"GET /v1/sessions/s1/spaces/shop": func(w *world, s *client.Session) error {
			_, err := s.Space(w.Context(), "shop")
			return err
		},
		"PATCH /v1/sessions/s1/spaces/shop": func(w *world, s *client.Session) error {
			_, err := s.ChangeSpace(w.Context(), "shop", shoal.SpaceChange{})
			return err
		},
		"POST /v1/sessions/s1/spaces/shop/close": func(w *world, s *client.Session) error {
			_, err := s.CloseSpace(w.Context(), "shop", "Done.")
			return err
		},
		"PUT /v1/sessions/s1/spaces/shop/members/bot": func(w *world, s *client.Session) error {
			_, err := s.AddMember(w.Context(), "shop", "bot")
			return err
		},
		"DELETE /v1/sessions/s1/spaces/shop/members/bot": func(w *world, s *client.Session) error {
			_, err := s.RemoveMember(w.Context(), "shop", "bot")
			return err
		},
		"GET /v1/sessions/s1/spaces/shop/messages?after=7&limit=50": func(w *world, s *client.Session) error {
			_, err := s.Messages(w.Context(), "shop", client.MessagesOptions{After: 7})
			return err
		},
		"GET /v1/sessions/s1/spaces/shop/messages?before=9&limit=3": func(w *world, s *client.Session) error {
			_, err := s.Messages(w.Context(), "shop", client.MessagesOptions{Before: 9, Limit: 3})
			return err
		},
		"GET /v1/sessions/s1/spaces/shop/messages?after=0&limit=200": func(w *world, s *client.Session) error {
			return drain(s.Timeline(w.Context(), "shop", 0))
		},
		"POST /v1/sessions/s1/spaces/shop/messages": func(w *world, s *client.Session) error {
			_, err := s.Post(w.Context(), "shop", hello)
			return err
		},
		"POST /v1/sessions/s1/spaces/shop/read": func(w *world, s *client.Session) error { return s.MarkRead(w.Context(), "shop", 7) },
		"GET /v1/sessions/s1/search?kind=agent&limit=200&q=two+words&space=shop": func(w *world, s *client.Session) error {
			return drain(s.Search(w.Context(), "two words", client.SearchOptions{Space: "shop", SenderKind: shoal.Agent}))
		},
	}
	maps.Copy(calls, hostedCalls())
	for want, call := range calls {
		handler := func(w http.ResponseWriter, r *http.Request) {
			if got := r.Method + " " + r.URL.RequestURI(); got != want {
				t.Errorf("the call went to %s, want %s", got, want)
			}
			if key, as := r.Header.Get("Authorization"), r.Header.Get("X-Shoal-Entity"); key != "Bearer secret" || as != "ann" {
				t.Errorf("%s: Authorization %q, X-Shoal-Entity %q", want, key, as)
			}
			answer(w, 200, `{}`)
		}
		inWorld(t, handler, func(w *world) {
			if err := call(w, w.client.Session("s1")); err != nil {
				w.Errorf("%s: %v", want, err)
			}
		})
	}
}

func drain[T any](seq func(func(T, error) bool)) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// An invalid ID could change the path: removing ".." from the session s1 would delete
// the session.
func TestInvalidIDsAreNotSent(t *testing.T) {
	handler := func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s", r.Method, r.URL) }
	inWorld(t, handler, func(w *world) {
		for _, id := range []shoal.EntityID{"", ".", "..", "a/b", "a?b", "%2e%2e", "system"} {
			if err := w.client.Session("s1").DeleteEntity(w.Context(), id); !errors.Is(err, shoal.InvalidArgument) {
				w.Errorf("DeleteEntity(%q) = %v, want InvalidArgument", id, err)
			}
		}
		for _, err := range w.client.Session("s1").Follow(w.Context(), client.FollowOptions{Space: ".."}) {
			if !errors.Is(err, shoal.InvalidArgument) {
				w.Errorf("Follow = %v, want InvalidArgument", err)
			}
		}
	})
}

// A timeline is read to its end, whatever the size of a page.
func TestATimelineIsReadToItsEnd(t *testing.T) {
	const all = 450
	handler := func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		limit, _ := strconv.ParseInt(r.URL.Query().Get("limit"), 10, 64)
		var page struct {
			Items []shoal.Message `json:"items"`
		}
		for seq := after + 1; seq <= min(all, after+limit); seq++ {
			page.Items = append(page.Items, shoal.Message{Seq: seq})
		}
		body, _ := json.Marshal(page)
		answer(w, 200, string(body))
	}
	inWorld(t, handler, func(w *world) {
		next := int64(38)
		for m, err := range w.client.Session("default").Timeline(w.Context(), "shop", 37) {
			if err != nil || m.Seq != next {
				w.Fatalf("got seq %d, %v, want %d", m.Seq, err, next)
			}
			next++
		}
		if next != all+1 {
			w.Errorf("ended before seq %d, want all %d", next, all)
		}
	})
}

func TestAListGoesOverAllPages(t *testing.T) {
	var asked []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		cursor := r.URL.Query().Get("cursor")
		asked = append(asked, cursor)
		switch cursor {
		case "":
			answer(w, 200, `{"items":[{"id":"a"},{"id":"b"}],"nextCursor":"two/2"}`)
		case "two/2":
			answer(w, 200, `{"items":[],"nextCursor":"three"}`)
		case "three":
			answer(w, 200, `{"items":[{"id":"c"}],"nextCursor":null}`)
		}
	}
	inWorld(t, handler, func(w *world) {
		var ids []shoal.SpaceID
		for s, err := range w.client.Session("default").Spaces(w.Context()) {
			if err != nil {
				w.Fatal(err)
			}
			ids = append(ids, s.ID)
		}
		if fmt.Sprint(ids) != "[a b c]" || !slices.Equal(asked, []string{"", "two/2", "three"}) {
			w.Errorf("items %v, cursors %q", ids, asked)
		}
		asked = nil
		for _, err := range w.client.Session("default").Spaces(w.Context()) {
			if err != nil || len(asked) != 1 {
				w.Errorf("one item fetched the pages %q, %v", asked, err)
			}
			break
		}
	})
}
