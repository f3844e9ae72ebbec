package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// everyKind is one client for each way in which a call travels; with -short, one of each SDK and
// transport.
func everyKind() []client {
	all := []client{overREST, ts1HTTP, ts2Stdio, goModern, ts1SSE, ts1Stdio, ts2Session, ts2Modern, goSession, goSSE}
	return all[:setting.Repeats(len(all), 5)]
}

// pair is an agent that waits, in a space with an entity that only posts.
type pair struct {
	*server
	t        *testing.T
	agent    agent
	id       shoal.EntityID // of the agent
	agentKey string
	key      string // of the poster
	space    string // its path
}

// meet connects an agent and puts it into a space of its own.
func meet(t *testing.T, s *server, with client) *pair {
	t.Helper()
	p := &pair{server: s, t: t, id: shoal.EntityID("waiter." + with.name)}
	p.agentKey = s.key(t, shoal.DefaultSession, p.id)
	p.agent = with.connect(t, s, p.id, p.agentKey)
	p.key = s.key(t, shoal.DefaultSession, "poster."+p.id)
	p.space = "/v1/sessions/default/spaces/" + string(p.id)
	s.restAs(t, http.Header{"Authorization": {"Bearer " + p.key}}, http.MethodPost, "/v1/sessions/default/spaces",
		shoal.NewSpace{ID: shoal.SpaceID(p.id), Name: "A pair", Members: []shoal.EntityID{p.id}}, nil)
	return p
}

// post mentions the agent.
func (p *pair) post(text string) {
	p.t.Helper()
	p.restAs(p.t, http.Header{"Authorization": {"Bearer " + p.key}}, http.MethodPost, p.space+"/messages",
		args{"text": text, "mentions": []shoal.EntityID{p.id}}, nil)
}

// texts are what a wait brought, with the numbers of their deliveries.
func texts(r shoal.WaitResult) map[string]int {
	all := map[string]int{}
	for _, item := range r.Items {
		for _, m := range item.Messages {
			all[m.Text()] = m.Delivery
		}
	}
	return all
}

// A time-out that makes no sense is cut to one that does.
func TestExtremeTimeoutsAreClamped(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, with := range []client{ts1HTTP, ts2Modern, goSSE, overREST} {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			p := meet(t, s, with)
			var got shoal.WaitResult
			do(t, p.agent, "wait_for_mentions", args{"timeoutMs": -1}, &got)
			if diff := cmp.Diff(shoal.WaitResult{Items: []shoal.WaitItem{}, TimedOut: true}, got); diff != "" {
				t.Errorf("a wait of -1 ms (-want +got):\n%s", diff)
			}
			wait := p.agent.begin(t, "wait_for_messages", args{"timeoutMs": 1e18})
			p.untilWaiting(t, shoal.DefaultSession, p.id)
			var me shoal.Entity
			p.rest(t, http.MethodGet, "/v1/sessions/default/entities/"+string(p.id), nil, &me)
			if left := time.Until(me.WaitEndsAt.Time); left > shoal.MaxWait || left < shoal.MaxWait-patience {
				t.Errorf("a wait of 1e18 ms would end in %v, want %v", left, shoal.MaxWait)
			}
			p.post("at last")
			succeeded(t, wait, &got)
			if got.TimeoutMs != shoal.MaxWait.Milliseconds() || texts(got)["at last"] != 1 {
				t.Errorf("a wait of 1e18 ms returns %+v", got)
			}
		})
	}
}

// A client that cancels its call ends its wait and acknowledges nothing: it receives
// later messages when it calls again.
func TestAbandonedCallsEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, with := range everyKind() {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			p := meet(t, s, with)
			wait := p.agent.begin(t, "wait_for_mentions", args{"timeoutMs": 600_000})
			p.untilWaiting(t, shoal.DefaultSession, p.id)
			wait.cancel()
			if o := <-wait.done; o.err == nil {
				t.Errorf("the call that was given up brought %+v", o.result)
			}
			p.until(t, shoal.DefaultSession, p.id, shoal.Connected)
			p.post("are you there?")
			var got shoal.WaitResult
			do(t, p.agent, "wait_for_mentions", args{"timeoutMs": 0}, &got)
			if diff := cmp.Diff(map[string]int{"are you there?": 1}, texts(got)); diff != "" {
				t.Errorf("the next wait (-want +got):\n%s", diff)
			}
		})
	}
}

// A caller that loses its key while it waits receives nothing more.
func TestRevokedKeysReceiveNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	// Of the clients on SSE only Go's notices at once that its stream is cut.
	for _, with := range []client{ts1HTTP, ts1Stdio, ts2Modern, goSession, goSSE, overREST} {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			p := meet(t, s, with)
			wait := p.agent.begin(t, "wait_for_mentions", args{"timeoutMs": 3000})
			p.untilWaiting(t, shoal.DefaultSession, p.id)
			var keys struct{ Items []shoal.Key }
			p.rest(t, http.MethodGet, "/v1/keys?limit=200", nil, &keys)
			for _, key := range keys.Items {
				if key.EntityID != nil && *key.EntityID == p.id {
					p.rest(t, http.MethodDelete, "/v1/keys/"+string(key.ID), nil, nil)
				}
			}
			p.post("a secret")
			select {
			case o := <-wait.done:
				if o.err == nil && !o.result.IsError {
					t.Errorf("with a revoked key the wait brings %s", o.result.Text)
				}
			case <-time.After(patience):
				t.Errorf("with a revoked key the wait has no end")
			}
		})
	}
}
