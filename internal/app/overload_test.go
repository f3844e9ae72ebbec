package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// crowd is a server with agents that post into a space each.
type crowd struct {
	t     *testing.T
	url   string
	keys  []string
	http  *http.Client
	paths []string
}

func newCrowd(t *testing.T, agents int) *crowd {
	t.Helper()
	s, key := apptest.Run(t, app.Config{MaxCallsPerSecond: -1})
	admin, err := client.New(client.Options{URL: s.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{t: t, url: s.URL(), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096}}}
	t.Cleanup(c.http.CloseIdleConnections)
	for i := range agents {
		id := shoal.EntityID(fmt.Sprintf("a%d", i))
		key := apptest.Key(t, admin, id)
		space, err := admin.Session(shoal.DefaultSession).CreateSpace(t.Context(), shoal.NewSpace{Name: string(id), Members: []shoal.EntityID{id}})
		if err != nil {
			t.Fatal(err)
		}
		c.keys = append(c.keys, key)
		c.paths = append(c.paths, "/v1/sessions/default/spaces/"+string(space.ID)+"/messages")
	}
	return c
}

// post posts as an agent and returns the status.
func (c *crowd) post(agent int) int {
	body, err := json.Marshal(map[string]string{"text": strings.Repeat("x", 200)})
	if err != nil {
		c.t.Error(err)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url+c.paths[agent], bytes.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+c.keys[agent])
	r.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Error(err)
		return 0
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		c.t.Error(err)
	}
	if status := res.StatusCode; status >= 429 && res.Header.Get("Retry-After") == "" {
		c.t.Errorf("%d has no Retry-After", status)
	}
	return res.StatusCode
}

// load is what senders see for a while: how long each message that was stored took,
// and how many were refused.
type load struct {
	stored  []time.Duration
	refused int
	lasted  time.Duration // until the last answer
}

// rate is how many messages were stored in a second.
func (l load) rate() float64 { return float64(len(l.stored)) / l.lasted.Seconds() }

// run lets each agent post on so many connections at once, as fast as it can; an
// agent that is refused retries ten times sooner than Retry-After says.
func (c *crowd) run(span time.Duration, connections ...int) []load {
	c.t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(c.t.Context(), span)
	defer cancel()
	var mu sync.Mutex
	out := make([]load, len(connections))
	var all sync.WaitGroup
	for agent, n := range connections {
		for range n {
			all.Go(func() {
				for ctx.Err() == nil {
					began := time.Now()
					status := c.post(agent)
					took := time.Since(began)
					mu.Lock()
					switch status {
					case http.StatusCreated:
						out[agent].stored = append(out[agent].stored, took)
					case http.StatusTooManyRequests, http.StatusServiceUnavailable:
						out[agent].refused++
					case 0:
					default:
						c.t.Errorf("a post answers %d", status)
					}
					mu.Unlock()
					if status >= 429 {
						select {
						case <-ctx.Done():
						case <-time.After(100 * time.Millisecond):
						}
					}
				}
			})
		}
	}
	all.Wait()
	for i := range out {
		out[i].lasted = time.Since(start)
	}
	return out
}

// together adds loads up.
func together(loads []load) (all load) {
	for _, l := range loads {
		all.stored, all.refused, all.lasted = append(all.stored, l.stored...), all.refused+l.refused, l.lasted
	}
	return all
}

func at(quantile float64, took []time.Duration) time.Duration {
	if len(took) == 0 {
		return time.Hour
	}
	slices.Sort(took)
	return took[min(len(took)-1, int(quantile*float64(len(took))))]
}

// A crowd that wants far more than the server can do: some of it is served all the
// time, the rest gets Retry-After, and once the crowd has gone nobody is refused. How much is got through is in the log, and measured by bench (overload).
func TestOverload(t *testing.T) {
	c := newCrowd(t, 4)
	c.run(500*time.Millisecond, 16, 16, 16, 16) // so that nothing is cold
	const span = 2 * time.Second
	peak := together(c.run(span, 16, 16, 16, 16))
	over := together(c.run(span, 400, 400, 400, 400))
	calm := c.run(time.Second, 1)[0]
	t.Logf("peak %.0f/s, p99 %v; overload %.0f/s (%.0f %%), %d refused, p99 %v; afterwards one sender %.0f/s, p50 %v, p99 %v",
		peak.rate(), at(.99, peak.stored), over.rate(), 100*over.rate()/peak.rate(), over.refused, at(.99, over.stored), calm.rate(), at(.5, calm.stored), at(.99, calm.stored))
	if len(over.stored) == 0 || over.refused == 0 {
		t.Errorf("of the crowd %d were served and %d refused, want both above 0", len(over.stored), over.refused)
	}
	if calm.refused > 0 || len(calm.stored) == 0 {
		t.Errorf("when it is over, %d are served and %d refused", len(calm.stored), calm.refused)
	}
}

// One caller with many connections takes no more of another one's time than many
// callers with one connection each would: a caller with one connection gets about as
// many messages stored as each of the many.
func TestOneCrowdDoesNotStarveAnother(t *testing.T) {
	c := newCrowd(t, 2)
	c.run(300*time.Millisecond, 64, 1)
	got := c.run(2*time.Second, 64, 1)
	many, one := got[0].stored, got[1].stored
	t.Logf("64 connections: %d stored, p50 %v, p99 %v; one: %d stored, p50 %v, p99 %v",
		len(many), at(.5, many), at(.99, many), len(one), at(.5, one), at(.99, one))
	if each := len(many) / 64; len(one) < each/4 {
		t.Errorf("the one connection got %d messages stored, each of the other caller's 64 about %d", len(one), each)
	}
}
