package cluster

import (
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// A run streams on one server while no server reaches the bus for two seconds: followers on
// the others go on, and have every text as it is stored.
func streamsWithoutBus(t *testing.T, c *cluster) {
	fay := c.newKey(t, "fay", shoal.Human)
	c.hire(t, "writer", "pier", 60*time.Millisecond, longText)
	c.space(t, "pier", "fay", "writer")
	var followers []*follower
	for _, n := range c.nodes {
		followers = append(followers, n.follow(t, *fay.Secret, "pier"))
	}
	if _, err := c.nodes[0].session(t, *fay.Secret).Post(t.Context(), "pier", say("Write, please.", "writer")); err != nil {
		t.Fatal(err)
	}
	until(t, "the run waits", patience, func() bool { return followers[1].saw(shoal.EventRunWaitingTool) > 0 })
	c.answer(t, c.nodes[0], *fay.Secret)
	at := c.executing(t)
	before := followers[at].saw(shoal.EventTextDelta)
	until(t, "the long text streams", patience, func() bool { return followers[at].saw(shoal.EventTextDelta) > before+10 })

	cut := time.Now()
	c.each((*node).cutBus)
	until(t, "two seconds pass", patience, func() bool { return time.Since(cut) > 2*time.Second })
	for i, f := range followers {
		if i != at {
			t.Logf("without the bus for %s: the last delta on %s is %s old, on %s, which executes the run, %s", since(cut), f.node.name, since(f.lastDelta()), c.nodes[at].name, since(followers[at].lastDelta()))
		}
	}
	c.each((*node).healBus)
	healed := time.Now()
	for i, f := range followers {
		if i != at {
			until(t, "a delta arrives on "+f.node.name, streamLimit, func() bool { return f.lastDelta().After(healed) })
			t.Logf("%s got a delta %v after the bus was back", f.node.name, f.lastDelta().Sub(healed))
		}
	}
	for _, f := range followers {
		until(t, "the run ends on "+f.node.name, patience, func() bool { return f.saw(shoal.EventRunCompleted) > 0 })
	}
	page, err := c.admin(t, 0).Messages(t.Context(), "pier", client.MessagesOptions{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	checkRun(t, page, firstText, longText)
	for _, f := range followers {
		f.agrees(t, page)
	}
	c.untilBusIsUp(t)
}
