package cluster

import (
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
)

// While no server reaches the bus, a mention that is posted on one server still wakes a wait
// on another, and once the bus is back, wake-ups are fast again.
func mentionsWithoutBus(t *testing.T, c *cluster) {
	dan, eve := c.newKey(t, "dan", shoal.Human), c.newKey(t, "eve", shoal.Agent)
	c.space(t, "loft", "dan", "eve")
	wait := overREST(t, c.nodes[1], *eve.Secret, "eve")
	for i := range 3 {
		done := c.nodes[1].open(t.Context(), t, wait, 0)
		if i == 0 {
			c.each((*node).cutBus)
		}
		t.Logf("without the bus: %v from a post on a to the response of the wait on b", c.wakes(t, done, c.nodes[0], *dan.Secret, "loft", "eve", fmt.Sprintf("cut %d", i)))
	}
	for _, n := range c.nodes {
		if status, body, err := n.get(t, "/readyz"); err != nil || status != 200 {
			t.Errorf("%s without the bus: /readyz returns %d %s (%v), want 200", n.name, status, body, err)
		}
	}
	c.each((*node).healBus)
	t.Logf("the bus is up again after %v", c.untilBusIsUp(t))
	for i := range 3 {
		done := c.nodes[1].open(t.Context(), t, wait, 0)
		t.Logf("with the bus: %v", c.wakes(t, done, c.nodes[0], *dan.Secret, "loft", "eve", fmt.Sprintf("whole %d", i)))
	}
}

// The broker is killed and starts again; with the bus postgres, its connections are killed.
func busRestarts(t *testing.T, c *cluster) {
	gil, hal := c.newKey(t, "gil", shoal.Human), c.newKey(t, "hal", shoal.Agent)
	c.space(t, "quay", "gil", "hal")
	wait := overREST(t, c.nodes[2], *hal.Secret, "hal")
	done := c.nodes[2].open(t.Context(), t, wait, 0)
	if c.nats != nil {
		c.nats.Kill()
	} else if n := c.postgres.Exec(t, "shoal", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shoal bus'`); n == 0 {
		t.Fatal("no connection of the bus to kill")
	}
	t.Logf("right after the end of the bus: %v from a post on a to the response of the wait on c", c.wakes(t, done, c.nodes[0], *gil.Secret, "quay", "hal", "killed"))
	if c.nats != nil {
		c.nats.Start(t)
	}
	t.Logf("the bus is up again after %v", c.untilBusIsUp(t))
	done = c.nodes[2].open(t.Context(), t, wait, 0)
	t.Logf("with the bus: %v", c.wakes(t, done, c.nodes[0], *gil.Secret, "quay", "hal", "back"))
}
