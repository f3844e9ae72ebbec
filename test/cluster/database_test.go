package cluster

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// try posts once and returns the status, 0 without a response, and how long it took.
func (n *node) try(t *testing.T, key string, space shoal.SpaceID, text string) (status int, took time.Duration) {
	t.Helper()
	began := time.Now()
	status, _, _ = n.call(t, key, http.MethodPost, "/v1/sessions/default/spaces/"+string(space)+"/messages", fmt.Sprintf(`{"text":%q,"triggerAgents":false}`, text))
	return status, time.Since(began)
}

// waitOnce waits over REST and does not try again.
func (n *node) waitOnce(key string, as shoal.EntityID) waitFunc {
	return func(ctx context.Context, timeout time.Duration) (out shoal.WaitResult, err error) {
		c := &crowd.Caller{HTTP: once, URL: n.URL(), Key: key, As: as}
		return crowd.RestSpeaker{Caller: c}.Wait(ctx, crowd.Waiting{Kind: shoal.WaitMentions, TimeoutMs: timeout.Milliseconds()})
	}
}

// A server whose line to PostgreSQL is cut, or silent, refuses changes in time, says that it
// is not ready, and ends its waits and streams, so that their clients go elsewhere. The
// others serve on. When the line is whole again, it is ready again.
func serverWithoutDatabase(t *testing.T, c *cluster) {
	jan, kim := c.newKey(t, "jan", shoal.Human), c.newKey(t, "kim", shoal.Agent)
	c.space(t, "cove", "jan", "kim")
	lost, other := c.nodes[1], c.nodes[2]
	for name, harm := range map[string]func(){
		"cut":    lost.database.Cut,
		"silent": func() { lost.database.Harm(silent, silent) },
	} {
		done := lost.open(t.Context(), t, lost.waitOnce(*kim.Secret, "kim"), 0)
		// A read that is in progress at the fault lasts as long as the silence, up to a minute,
		// and so would the wait. Nothing reports that it has read its inbox.
		crowd.Pause(t.Context(), time.Second)
		began := time.Now()
		harm()
		status, took := lost.try(t, *jan.Secret, "cove", "lost")
		t.Logf("%s: a post on the server without its database returns %d after %v", name, status, took)
		if status != http.StatusServiceUnavailable || took > refuseLimit {
			t.Errorf("%s: a post on the server without its database returned %d after %v, want 503 within %v", name, status, took, refuseLimit)
		}
		until(t, name+": the server is not ready", refuseLimit, func() bool { return !lost.Ready(t.Context()) })
		t.Logf("%s: not ready %s after the fault", name, since(began))
		if status, took := other.try(t, *jan.Secret, "cove", "elsewhere"); status != http.StatusCreated || took > refuseLimit {
			t.Errorf("%s: a post on another server returned %d after %v", name, status, took)
		}
		got := <-done
		t.Logf("%s: the wait on it ended %v after the fault: %v", name, got.at.Sub(began), got.err)
		if ended := got.at.Sub(began); got.err == nil || ended > leaveLimit {
			t.Errorf("%s: a wait on the server without its database ended %v after the fault with %v, want an error within %v", name, ended, got.err, leaveLimit)
		}
		lost.database.Heal()
		lost.database.Reset()
		healed := time.Now()
		until(t, name+": the server is ready again", patience, func() bool { return lost.Ready(t.Context()) })
		until(t, name+": a post on it succeeds again", patience, func() bool {
			status, _ := lost.try(t, *jan.Secret, "cove", "back")
			return status == http.StatusCreated
		})
		t.Logf("%s: serving again %s after the line was whole", name, since(healed))
		c.untilBusIsUp(t)
	}
}

// PostgreSQL is restarted: all servers serve again, and reach each other again.
func databaseRestarts(t *testing.T, c *cluster) {
	leo, mia := c.newKey(t, "leo", shoal.Human), c.newKey(t, "mia", shoal.Agent)
	c.space(t, "reef", "leo", "mia")
	for _, how := range []postgrestest.End{postgrestest.Fast, postgrestest.Immediate} {
		c.postgres.Stop(t, how)
		for _, n := range c.nodes {
			if status, took := n.try(t, *leo.Secret, "reef", "away"); status != http.StatusServiceUnavailable || took > refuseLimit {
				t.Errorf("%s: without PostgreSQL a post on %s returned %d after %v, want 503 within %v", how, n.name, status, took, refuseLimit)
			}
		}
		c.postgres.Start(t)
		began := time.Now()
		for _, n := range c.nodes {
			until(t, "a post succeeds on "+n.name, patience, func() bool {
				status, _ := n.try(t, *leo.Secret, "reef", "back")
				return status == http.StatusCreated
			})
		}
		t.Logf("%s: posts succeed on all servers %s after PostgreSQL accepts connections", how, since(began))
		wait := overREST(t, c.nodes[1], *mia.Secret, "mia")
		done := c.nodes[1].open(t.Context(), t, wait, 0)
		t.Logf("%s: %v from a post on a to the response of the wait on b", how, c.wakes(t, done, c.nodes[0], *leo.Secret, "reef", "mia", "restarted "+string(how)))
		c.untilBusIsUp(t)
	}
}

// The server that executes a run is paused until another has taken it over, and continues:
// it writes nothing more of the run, and serves.
func pausedServerLosesRun(t *testing.T, c *cluster) {
	ned := c.newKey(t, "ned", shoal.Human)
	c.hire(t, "clerk", "dock", 60*time.Millisecond, longText)
	c.space(t, "dock", "ned", "clerk")
	var followers []*follower
	for _, n := range c.nodes {
		followers = append(followers, n.follow(t, *ned.Secret, "dock"))
	}
	if _, err := c.nodes[0].session(t, *ned.Secret).Post(t.Context(), "dock", say("Write, please.", "clerk")); err != nil {
		t.Fatal(err)
	}
	until(t, "the run waits", patience, func() bool { return followers[1].saw(shoal.EventRunWaitingTool) > 0 })
	c.answer(t, c.nodes[0], *ned.Secret)
	paused := c.executing(t)
	other := followers[(paused+1)%3]
	before := other.saw(shoal.EventTextDelta)
	until(t, "the long text streams", patience, func() bool { return other.saw(shoal.EventTextDelta) > before+10 })

	c.nodes[paused].pause()
	began := time.Now()
	next := c.executing(t, paused)
	t.Logf("%s executes the run %s after %s was paused", c.nodes[next].name, since(began), c.nodes[paused].name)
	c.nodes[paused].resume()
	for _, f := range followers {
		until(t, "the run ends on "+f.node.name, patience, func() bool { return f.saw(shoal.EventRunCompleted) > 0 })
	}
	t.Logf("%s ends its execution of the lost run %v later", c.nodes[paused].name, c.untilNoRun(t))
	page, err := c.admin(t, paused).Messages(t.Context(), "dock", client.MessagesOptions{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	checkRun(t, page, firstText, longText)
	for _, f := range followers {
		f.agrees(t, page)
	}
	if status, took := c.nodes[paused].try(t, *ned.Secret, "dock", "I am awake"); status != http.StatusCreated {
		t.Errorf("a post on the continued server returned %d after %v", status, took)
	}
	c.untilBusIsUp(t)
}

// checkPositions checks that each event of a session has a position of its own, and that the messages
// of a space have theirs in the order of the timeline.
func checkPositions(t *testing.T, s *postgrestest.Server) {
	t.Helper()
	for what, query := range map[string]string{
		"events have the position of a message": `SELECT FROM events AS e JOIN messages AS m ON m.session_id = e.session_id AND m.event_place = e.place`,
		"messages have the position of another": `SELECT FROM messages WHERE event_place IS NOT NULL GROUP BY session_id, event_place HAVING COUNT(*) > 1`,
		"messages come after a later one":       `SELECT FROM messages AS a JOIN messages AS b ON b.session_id = a.session_id AND b.space_id = a.space_id AND b.seq > a.seq AND b.event_place <= a.event_place`,
	} {
		if n := s.Exec(t, "shoal", query); n > 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}
