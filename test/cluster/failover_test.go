package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// standby is a PostgreSQL server that replicates another one over a line of its own.
type standby struct {
	*postgrestest.Server
	line *faultproxy.Proxy
}

// timelineExit is the exit status of a server whose database continues from another point of
// its history (docs/operating.md).
const timelineExit = 70

// newReplicated starts a number of servers on a PostgreSQL with a standby.
func newReplicated(t *testing.T, bus string, n int) *cluster {
	t.Helper()
	c := &cluster{postgres: postgrestest.NewServer(t)}
	line := faultproxy.New(t, "unix", c.postgres.Socket)
	c.standby = &standby{postgrestest.NewStandby(t, line.Addr()), line}
	c.start(t, bus, n)
	return c
}

// replicated waits until the standby has what the primary has.
func (c *cluster) replicated(t *testing.T) {
	t.Helper()
	until(t, "the standby has everything", patience, func() bool {
		return c.postgres.Exec(t, "shoal", `SELECT FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()`) == 1
	})
}

// synchronize makes PostgreSQL confirm a commit only once the standby has it.
func (c *cluster) synchronize(t *testing.T) {
	t.Helper()
	c.postgres.Exec(t, "shoal", `ALTER SYSTEM SET synchronous_standby_names = '*'`)
	c.postgres.Exec(t, "shoal", `SELECT pg_reload_conf()`)
	until(t, "the standby is synchronous", patience, func() bool {
		return c.postgres.Exec(t, "shoal", `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`) == 1
	})
}

// fail kills PostgreSQL.
func (c *cluster) fail(t *testing.T) {
	t.Helper()
	c.postgres.Stop(t, postgrestest.Killed)
}

// takeOver promotes the standby, and starts each server again when it has ended, as systemd
// and Kubernetes do: once more if it finds the database busy and ends at once.
func (c *cluster) takeOver(t *testing.T) {
	t.Helper()
	promoted := time.Now()
	c.standby.Promote(t)
	for _, n := range c.nodes {
		if code := n.Died(refuseLimit); code != timelineExit {
			t.Fatalf("%s ended with %d within %v of the failover, want %d", n.name, code, refuseLimit, timelineExit)
		}
		until(t, n.name+" starts again", patience, func() bool {
			_, err := n.TryStart(t.Context())
			if err != nil {
				t.Log(err)
			}
			return err == nil
		})
	}
	t.Logf("all servers are ready %s after the order to promote the standby", since(promoted))
}

// PostgreSQL is killed while a crowd works, and its synchronous standby takes over: nothing
// that was acknowledged is lost, and I1 to I7 hold as after a restart.
func TestFailover(t *testing.T) {
	seed := setting.Seed(t, "SHOAL_FAULT_SEED")
	for i, bus := range buses {
		t.Run(bus, func(t *testing.T) {
			c := newReplicated(t, bus, 3)
			c.synchronize(t)
			course := newCourse(t, c, seed+uint64(i))
			late := course.round(t, fault{name: "PostgreSQL fails over to its standby", lasts: time.Second, strike: c.fail, end: c.takeOver})
			t.Logf("answered at most %v after the servers were ready", late.Round(time.Millisecond))
			if course.crowd.Check(t, false) {
				course.finish(t)
			}
			checkPositions(t, c.standby.Server)
			course.report(t)
		})
	}
}

// The standby lacks the last changes when it takes over. They are lost, and nobody goes on as
// if they were not: a reader gets a snapshot in which they are missing, an acknowledgement of
// them acknowledges nothing, and the messages that take their places reach everybody.
func TestFailoverThatLosesChanges(t *testing.T) {
	for _, bus := range buses {
		t.Run(bus, func(t *testing.T) {
			c := newReplicated(t, bus, 3)
			ann, bob := c.newKey(t, "ann", shoal.Human), c.newKey(t, "bob", shoal.Agent)
			c.space(t, "quay", "ann", "bob")
			reader := c.nodes[1].replica(t, *ann.Secret, "quay")
			post := func(text string) (shoal.Message, error) {
				return c.nodes[0].session(t, *ann.Secret).Post(t.Context(), "quay", say(text, "bob"))
			}
			var cursor string
			receives := func(text, want string) {
				t.Helper()
				m, err := post(text)
				if err != nil {
					t.Fatal(err)
				}
				speaker := crowd.RestSpeaker{Caller: &crowd.Caller{HTTP: http.DefaultClient, URL: c.nodes[2].URL(), Key: *bob.Secret, As: "bob"}}
				got, err := speaker.Wait(t.Context(), crowd.Waiting{Kind: shoal.WaitMentions, TimeoutMs: patience.Milliseconds(), Ack: cursor})
				if err != nil || texts(got) != want {
					t.Fatalf("after the post of %q bob's wait returned %q (%v), want %q", text, texts(got), err, want)
				}
				cursor = *got.Cursor
				until(t, fmt.Sprintf("the reader has %q", text), hintLimit, func() bool { return reader.last() == text })
				t.Logf("%q is message %d", text, m.Seq)
			}
			receives("kept", "kept")
			c.replicated(t)
			c.standby.line.Harm(silent, silent)
			receives("lost", "lost")
			receives("lost, too", "lost, too")
			before := reader.snapshots()
			c.fail(t)
			c.takeOver(t)

			receives("after", "keptafter") // that bob has acknowledged "kept" is lost, too
			if got, want := reader.texts(), []string{"kept", "after"}; !slices.Equal(got, want) {
				t.Errorf("after the failover the reader has %q, want %q", got, want)
			}
			if reader.snapshots() == before {
				t.Error("the reader got no snapshot after the failover")
			}
			receives("and on", "and on")
			c.untilBusIsUp(t)
		})
	}
}

// replica is what one reader of a space has of it.
type replica struct {
	mu       sync.Mutex
	messages []shoal.Message
	began    int // how many snapshots came
}

// replica starts to follow a space on a server, until the test ends, and returns when it has
// the snapshot.
func (n *node) replica(t *testing.T, key string, space shoal.SpaceID) *replica {
	t.Helper()
	r := new(replica)
	n.events(t, key, space, func(ev shoal.Event, err error) {
		if err == nil {
			err = r.take(ev)
		}
		if err != nil {
			t.Errorf("a reader of %s on %s: %v", space, n.name, err)
		}
	})
	until(t, "a stream begins on "+n.name, patience, func() bool { return r.snapshots() > 0 })
	return r
}

func (r *replica) take(ev shoal.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var d struct {
		Messages []shoal.Message
		Message  shoal.Message
	}
	if err := json.Unmarshal(ev.Data, &d); err != nil {
		return err
	}
	switch ev.Type {
	case shoal.EventSnapshot:
		r.messages = d.Messages
		r.began++
	case shoal.EventMessageCreated:
		r.messages = append(r.messages, d.Message)
	}
	return nil
}

// snapshots returns how many snapshots came.
func (r *replica) snapshots() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.began
}

// texts returns the texts of the messages, the oldest first.
func (r *replica) texts() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.messages {
		all = append(all, m.Text())
	}
	return all
}

// last returns the text of the newest message.
func (r *replica) last() string {
	all := r.texts()
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}
