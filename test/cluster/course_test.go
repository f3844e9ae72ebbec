package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// course is a crowd that uses a cluster, and the faults that strike it.
type course struct {
	*cluster
	crowd  *crowd.Crowd
	dice   *rand.Rand
	guard  *guard
	next   []int // the kinds of faults that come next
	struck map[string]int
	late   time.Duration // the longest time from the end of a fault to an answer that it delayed
}

// A crowd reaches all servers in turn while faults strike that the seed chooses. What must
// hold is in docs/reliability.md.
//
//	SHOAL_CLUSTER_FAULTS=75 SHOAL_FAULT_SEED=7 go test -timeout 60m ./test/cluster -run '^TestCourse$'
func TestCourse(t *testing.T) {
	rounds, seed := int(setting.Number(t, "SHOAL_CLUSTER_FAULTS", 8)), setting.Seed(t, "SHOAL_FAULT_SEED")
	for i, bus := range buses {
		t.Run(bus, func(t *testing.T) {
			c := newCluster(t, bus, 3)
			newCourse(t, c, seed+uint64(i)).run(t, rounds)
			checkPositions(t, c.postgres)
		})
	}
}

func newCourse(t *testing.T, c *cluster, seed uint64) *course {
	t.Helper()
	o := crowd.Options{
		URL: "http://" + balanced, Key: c.key, HTTP: c.balancer, Seed: seed, Agents: 2, Explicit: true, Settle: takeoverLimit + crowd.SettleLimit,
	}
	out := &course{cluster: c, crowd: crowd.New(t, o), dice: rand.New(rand.NewPCG(seed, 0)), struck: map[string]int{}}
	out.crowd.Uncounted = true // a killed server may lose the count of a delivery
	out.guard = newGuard(t, c)
	return out
}

const (
	minLoad = 300 * time.Millisecond // of load before a fault
	maxLoad = 1200 * time.Millisecond
	maxAway = 4 * time.Second // that a fault lasts
)

// run strikes the cluster a number of times and checks what the crowd has observed after
// each fault, and everything at the end.
func (c *course) run(t *testing.T, rounds int) {
	t.Helper()
	for i := 0; i < rounds && len(c.crowd.Found) == 0; i++ {
		f := c.choose()
		c.struck[f.name]++
		late := c.round(t, f)
		c.late = max(c.late, late)
		c.crowd.Check(t, false)
		t.Logf("%2d %s: answered at most %v after its end, %d findings", i, f, late.Round(time.Millisecond), len(c.crowd.Found))
	}
	if len(c.crowd.Found) == 0 {
		c.finish(t)
	}
	c.report(t)
	t.Logf("%d faults: %v; %d operations, %v; an answer that a fault delayed came at most %v after its end", rounds, c.struck, c.crowd.Operations(), c.crowd.Harm(), c.late.Round(time.Millisecond))
}

// report fails the test with what the crowd has found, at most 20 findings of it.
func (c *course) report(t *testing.T) {
	t.Helper()
	for _, found := range c.crowd.Found[:min(len(c.crowd.Found), 20)] {
		t.Error(found)
	}
}

// round runs all clients, strikes, ends the fault, and stops the clients. It returns the
// longest time from the end of the fault to an answer that it delayed.
func (c *course) round(t *testing.T, f fault) (late time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, run := range c.clients() {
		running.Go(func() {
			for crowd.Pause(ctx, crowd.ThinkTime) {
				run(ctx) // returns when the server that it has reached is gone
			}
		})
	}
	before := c.crowd.Answers.Load()
	until(t, "the crowd is answered", patience, func() bool { return c.crowd.Answers.Load() > before+50 })
	crowd.Pause(ctx, minLoad+time.Duration(c.dice.Int64N(int64(maxLoad-minLoad))))
	watch := c.guard.watch(ctx, t)
	f.strike(t)
	running.Go(func() { watch.post(ctx) })
	crowd.Pause(ctx, f.lasts)
	f.end(t)
	wrong, late := watch.end(t)
	c.crowd.Found = append(c.crowd.Found, wrong...)
	return late
}

// clients returns what the clients of the crowd do until the server that they reach is gone.
func (c *course) clients() (all []func(context.Context)) {
	for _, x := range c.crowd.Writers {
		all = append(all, x.Run)
	}
	for _, x := range c.crowd.Waiters {
		all = append(all, func(ctx context.Context) { x.Run(ctx, 1) })
	}
	for _, x := range c.crowd.Readers {
		if !x.Lasting {
			all = append(all, x.Run)
		}
	}
	for _, x := range c.crowd.Work.Jobbers {
		all = append(all, x.Run)
	}
	return append(all, c.crowd.TimelineReader.Run)
}

// finish settles the crowd, checks everything for the last time and stops the servers.
func (c *course) finish(t *testing.T) {
	t.Helper()
	c.crowd.Settle(t, 1)
	if !c.crowd.Check(t, true) {
		return
	}
	c.crowd.CheckReread(t.Context())
	c.crowd.CheckSearch(t.Context())
	c.crowd.Found = append(c.crowd.Found, c.crowd.Work.Check(t.Context())...)
	c.crowd.Close()
	for _, n := range c.nodes {
		if wrong := n.Stop(); wrong != "" {
			c.crowd.Found = append(c.crowd.Found, n.name+": "+wrong)
		}
	}
}

// guard is one entity for each server that waits there for a mention, and a guest whose key
// is revoked.
type guard struct {
	cluster *cluster
	waiters []*sentinel
	poster  *crowd.Caller
	admin   *client.Client
	posts   int
}

// sentinel waits for mentions, first on its own server and, when that is gone, on the others.
type sentinel struct {
	caller *crowd.Caller
	at     int
	cursor string
}

const guarded shoal.SpaceID = "guarded"

func newGuard(t *testing.T, c *cluster) *guard {
	t.Helper()
	g := &guard{cluster: c, admin: c.client(t)}
	members := []shoal.EntityID{"poster"}
	for i := range c.nodes {
		id := shoal.EntityID(fmt.Sprintf("sentinel-%d", i))
		members = append(members, id)
		g.waiters = append(g.waiters, &sentinel{caller: &crowd.Caller{HTTP: once, Key: *c.newKey(t, id, shoal.Agent).Secret, As: id}, at: i})
	}
	g.poster = &crowd.Caller{HTTP: c.balancer.client(), URL: "http://" + balanced, Key: *c.newKey(t, "poster", shoal.Human).Secret, As: "poster"}
	c.newKey(t, "guest", shoal.Human)
	c.space(t, guarded, members...)
	return g
}

// watched is one round of a guard.
type watched struct {
	*guard
	text    string
	posted  time.Time // when the mention was acknowledged
	guest   shoal.Key
	revoked time.Time
	ends    []<-chan waited // of the sentinels
	left    <-chan waited   // of the guest
	done    chan struct{}   // closed when both are acknowledged
	cancel  context.CancelFunc
}

// watch opens a wait on each server, and one of a guest, before a fault.
func (g *guard) watch(ctx context.Context, t *testing.T) *watched {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	g.posts++
	w := &watched{guard: g, text: fmt.Sprintf("guard-%d", g.posts), cancel: cancel, done: make(chan struct{}), guest: g.cluster.newKey(t, "guest", shoal.Human)}
	for _, s := range g.waiters {
		w.ends = append(w.ends, inBackground(func() (shoal.WaitResult, error) { return s.await(ctx, g.cluster, w.text) }))
	}
	guest := g.cluster.nodes[g.posts%len(g.cluster.nodes)].waitOnce(*w.guest.Secret, "guest")
	w.left = inBackground(func() (shoal.WaitResult, error) { return guest(ctx, patience) })
	return w
}

// inBackground makes one wait on a goroutine, which ends with the wait.
func inBackground(wait func() (shoal.WaitResult, error)) <-chan waited {
	done := make(chan waited, 1)
	go func() {
		result, err := wait()
		done <- waited{result, err, time.Now()}
	}()
	return done
}

// sentinelWait is longer than any fault and hintLimit.
const sentinelWait = hintLimit + 20*time.Second

// await waits until it has received a message with a text.
func (s *sentinel) await(ctx context.Context, c *cluster, text string) (shoal.WaitResult, error) {
	for at := s.at; ; {
		s.caller.URL = c.nodes[at].URL()
		result, err := (crowd.RestSpeaker{Caller: s.caller}).Wait(ctx, crowd.Waiting{Kind: shoal.WaitMentions, TimeoutMs: sentinelWait.Milliseconds(), Ack: s.cursor})
		if err != nil {
			if !crowd.Pause(ctx, 50*time.Millisecond) {
				return result, ctx.Err()
			}
			at = (at + 1) % len(c.nodes)
			continue
		}
		if result.Cursor != nil {
			s.cursor = *result.Cursor
		}
		if result.TimedOut || strings.Contains(texts(result), text) {
			return result, nil
		}
	}
}

// post posts a mention of all sentinels and revokes the key of the guest, each until it is
// acknowledged.
func (w *watched) post(ctx context.Context) {
	p := &crowd.Post{Key: w.text, Space: guarded, Text: w.text, Mentions: []shoal.EntityID{}}
	for _, s := range w.waiters {
		p.Mentions = append(p.Mentions, s.caller.As)
	}
	for crowd.Pause(ctx, crowd.ThinkTime) {
		if _, err := (crowd.RestSpeaker{Caller: w.poster}).Post(ctx, p); err == nil {
			w.posted = time.Now()
			break
		}
	}
	for crowd.Pause(ctx, crowd.ThinkTime) {
		if err := w.admin.RevokeKey(ctx, w.guest.ID); err == nil || shoal.KindOf(err) == shoal.NotFound {
			w.revoked = time.Now()
			close(w.done)
			return
		}
	}
}

// end checks, after a fault, that the sentinels got their mention and the guest was ended in
// time, and returns the longest time from the end of the fault or the call to an answer.
func (w *watched) end(t *testing.T) (wrong []string, late time.Duration) {
	t.Helper()
	defer w.cancel()
	healed := time.Now()
	limit := time.After(patience)
	select {
	case <-w.done:
	case <-limit:
		return []string{"lost: a post and a revocation are not acknowledged after a fault"}, 0
	}
	after := func(called, at time.Time) time.Duration {
		return at.Sub(slices.MaxFunc([]time.Time{healed, called}, time.Time.Compare))
	}
	for i, end := range w.ends {
		select {
		case got := <-end:
			took := after(w.posted, got.at)
			late = max(late, took)
			if got.result.TimedOut && got.at.Sub(w.posted) > crowd.WakeLimit {
				wrong = append(wrong, fmt.Sprintf("not delivered: the wait of sentinel %d timed out %v after its mention was posted", i, got.at.Sub(w.posted)))
			} else if took > hintLimit {
				wrong = append(wrong, fmt.Sprintf("not delivered: the wait of sentinel %d got its mention %v after the fault and the post", i, took))
			}
		case <-limit:
			wrong = append(wrong, fmt.Sprintf("not delivered: sentinel %d got nothing within %v", i, patience))
		}
	}
	select {
	case got := <-w.left:
		if took := after(w.revoked, got.at); took > revokeLimit+hintLimit {
			wrong = append(wrong, fmt.Sprintf("revoked: the wait of a revoked key ended %v after the fault and the revocation", took))
		}
	case <-limit:
		wrong = append(wrong, "revoked: the wait of a revoked key goes on")
	}
	for _, n := range w.cluster.nodes {
		for began := time.Now(); ; crowd.Pause(t.Context(), 20*time.Millisecond) {
			status, _, err := n.call(t, *w.guest.Secret, http.MethodGet, "/v1/me", "")
			if err == nil && status == http.StatusUnauthorized {
				break
			}
			if time.Since(began) > revokeLimit {
				wrong = append(wrong, fmt.Sprintf("revoked: %s answers a revoked key with %d (%v)", n.name, status, err))
				break
			}
		}
	}
	return wrong, late
}
