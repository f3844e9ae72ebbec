package e2e_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// reachStage is a stage with agents in every state.
type reachStage struct {
	*stage
	silent *httptest.Server // a model that never answers
}

func newReachStage(t *testing.T, data string) *reachStage {
	t.Helper()
	s := &reachStage{silent: served(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
	s.stage = &stage{server: serve(t, data)}
	s.ann, s.bob = s.human(t, "default", "ann"), s.human(t, "default", "bob")
	return s
}

// joins creates an agent that is in the space of its name, and returns its key.
func (s *reachStage) joins(t *testing.T, id string, until *shoal.Time) http.Header {
	t.Helper()
	var made shoal.Key
	s.rest(t, http.MethodPost, "/v1/keys", shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: shoal.EntityID(id), ExpiresAt: until}, &made)
	s.rest(t, http.MethodPut, lab+"/spaces/"+id+"/members/"+id, nil, nil)
	return bearer(*made.Secret)
}

// calls lets an agent make one call.
func (s *reachStage) calls(t *testing.T, key http.Header) {
	t.Helper()
	s.restAs(t, key, http.MethodGet, lab+"/spaces", nil, nil)
}

// background makes a call that lasts until the test ends.
func (s *reachStage) background(t *testing.T, key http.Header, path, body string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+lab+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = key.Clone()
	req.Header.Set("Content-Type", "application/json")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if res, err := http.DefaultClient.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body) // what it brings is not what is tested
			_ = res.Body.Close()
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

// waits lets an agent wait for mentions.
func (s *reachStage) waits(t *testing.T, id string) {
	t.Helper()
	s.background(t, s.joins(t, id, nil), "/entities/"+id+"/wait", `{"kind": "mentions", "timeoutMs": 60000}`)
	s.untilWaiting(t, shoal.DefaultSession, shoal.EntityID(id))
}

// lease gives an agent a program that wakes it, and returns its key.
func (s *reachStage) lease(t *testing.T, id string, busy bool) http.Header {
	t.Helper()
	key := s.joins(t, id, nil)
	s.restAs(t, key, http.MethodPut, lab+"/entities/"+id+"/wake-lease", shoal.WakeLease{Via: "runner", Runner: "ada-mbp", Busy: busy}, nil)
	return key
}

// remote puts a remote agent into the space of its name.
func (s *reachStage) remote(t *testing.T, id string) {
	t.Helper()
	s.rest(t, http.MethodPut, lab+"/agents/"+id, args{"version": "1.0", "agent": args{"id": id}, "remote": args{}}, nil)
	s.rest(t, http.MethodPut, lab+"/spaces/"+id+"/members/"+id, nil, nil)
}

// serves lets a program wait for the runs of a remote agent.
func (s *reachStage) serves(t *testing.T, id string) {
	t.Helper()
	s.background(t, bearer(s.key(t, shoal.DefaultSession, shoal.EntityID(id))), "/agents/"+id+"/claim", `{"limit": 1, "waitMs": 60000}`)
	s.untilWaiting(t, shoal.DefaultSession, shoal.EntityID(id))
}

// claims lets a program take the run of a remote agent that waits, and do nothing.
func (s *reachStage) claims(t *testing.T, id string) {
	t.Helper()
	var claimed struct{ Items []shoal.RemoteRun }
	key := bearer(s.key(t, shoal.DefaultSession, shoal.EntityID(id)))
	s.restAs(t, key, http.MethodPost, lab+"/agents/"+id+"/claim", args{"limit": 1, "waitMs": 0}, &claimed)
	if len(claimed.Items) != 1 {
		t.Fatalf("%s has claimed %+v", id, claimed.Items)
	}
}

// mention lets ann mention an agent that acts on it, and returns its run.
func (s *reachStage) mention(t *testing.T, space, id string) shoal.StartedRun {
	t.Helper()
	m := s.post(t, s.ann, space, "Begin.", id)
	if len(m.Runs) != 1 {
		t.Fatalf("the mention of %s starts %+v", id, m.Runs)
	}
	return m.Runs[0]
}

// expires lets the key of an agent that has called expire.
func (s *reachStage) expires(t *testing.T, id string) {
	t.Helper()
	at := shoal.At(time.Now().Add(2 * time.Second))
	key := s.joins(t, id, &at)
	s.calls(t, key)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for deadline := time.After(patience); ; {
		if request(t, http.MethodGet, s.url+lab+"/spaces", key, http.NoBody).status == http.StatusUnauthorized {
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("the key of %s has not expired within %v", id, patience)
		}
	}
}
