package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

const (
	firstText  = "I have found two boats, one with a sail and one with oars, and I am writing down what I know about them."
	secondText = "The boat is yours from Monday on, and this is a long sentence about the harbour, the key, the weather and the way back home."
)

// longText takes eight seconds to write with a pause of 60 ms.
var longText = strings.Repeat("The tide comes and the tide goes, and somebody writes it down. ", 15)

// hire creates an agent that writes a text, asks for a choice, and writes another text,
// a piece of 7 or 8 bytes in each pause.
func (c *cluster) hire(t *testing.T, agent shoal.EntityID, space shoal.SpaceID, pause time.Duration, second string) {
	t.Helper()
	script := fmt.Sprintf(`pause %[1]v
call sendSpaceMessage {"spaceId":%[2]q,"text":%[3]q}
---
call choose {"targetSpaceId":%[2]q,"boat":"sail"}
---
pause %[1]v
call sendSpaceMessage {"spaceId":%[2]q,"text":%[4]q}
---
say That is all.
`, pause, space, firstText, second)
	config, err := json.Marshal(map[string]any{
		"version": "1.0", "agent": map[string]any{"id": agent, "system": "You rent boats."},
		"model": map[string]any{"provider": "script", "name": "boats", "providerOptions": map[string]any{"script": script}},
		"tools": []any{map[string]any{
			"name": "choose", "displayTool": true,
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"boat": map[string]any{"type": "string"}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.admin(t, 0).PutAgent(t.Context(), agent, client.ConfigJSON, config); err != nil {
		t.Fatal(err)
	}
}

// executing returns the server that executes runs, as soon as one does, other than those
// that cannot answer.
func (c *cluster) executing(t *testing.T, but ...int) (at int) {
	t.Helper()
	until(t, "a server executes the run", takeoverLimit, func() bool {
		for at = range c.nodes {
			if n := c.nodes[at]; n.alive() && !slices.Contains(but, at) && n.metric(t, "shoal_runs_executing") > 0 {
				return true
			}
		}
		return false
	})
	return at
}

// untilNoRun waits until no server executes a run, and returns how long that took.
func (c *cluster) untilNoRun(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	for _, n := range c.nodes {
		until(t, n.name+" executes nothing", patience, func() bool { return n.metric(t, "shoal_runs_executing") == 0 })
	}
	return time.Since(began)
}

// A run streams on one server, followers on all servers see its text, its choice is answered
// on another server, the server that continues it is killed, and one of the others finishes
// it: one message, and each text once.
func runCrossesServers(t *testing.T, c *cluster) {
	c.untilNoRun(t)
	cid := c.newKey(t, "cid", shoal.Human)
	c.hire(t, "helper", "shop", 60*time.Millisecond, longText)
	c.space(t, "shop", "cid", "helper")
	var followers []*follower
	for _, n := range c.nodes {
		followers = append(followers, n.follow(t, *cid.Secret, "shop"))
	}
	if _, err := c.nodes[0].session(t, *cid.Secret).Post(t.Context(), "shop", say("A boat, please.", "helper")); err != nil {
		t.Fatal(err)
	}
	first := c.executing(t)
	for _, f := range followers {
		until(t, "the run waits on "+f.node.name, patience, func() bool { return f.saw(shoal.EventRunWaitingTool) > 0 })
	}
	for i, f := range followers {
		if !f.has(firstText) {
			t.Errorf("the follower on %s has not got the text after %d deltas", f.node.name, f.saw(shoal.EventTextDelta))
		}
		if i == first {
			continue
		}
		if by := f.later(followers[first]); len(by) > 0 {
			t.Logf("deltas of %s on %s: %d, p50 %v, slowest %v later than on %s", c.nodes[first].name, f.node.name, len(by), by[len(by)/2], by[len(by)-1], c.nodes[first].name)
		}
	}

	answering := c.nodes[(first+2)%3]
	c.answer(t, answering, *cid.Secret)
	for _, f := range followers {
		until(t, "the second text begins on "+f.node.name, patience, func() bool { return f.has(longText[:100]) })
	}
	killed := c.executing(t)
	c.nodes[killed].Signal(syscall.SIGKILL)
	<-c.nodes[killed].Ended
	began := time.Now()
	next := c.executing(t)
	t.Logf("%s executes the run %s after the kill of %s", c.nodes[next].name, since(began), c.nodes[killed].name)
	for i, f := range followers {
		if i != killed {
			until(t, "the run ends on "+f.node.name, takeoverLimit+patience, func() bool { return f.saw(shoal.EventRunCompleted) > 0 })
		}
	}
	t.Logf("the run was executed by %s, answered on %s, killed on %s and completed %s after the kill", c.nodes[first].name, answering.name, c.nodes[killed].name, since(began))

	page, err := c.admin(t, (killed+1)%3).Messages(t.Context(), "shop", client.MessagesOptions{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	checkRun(t, page, firstText, longText)
	for i, f := range followers {
		if i != killed {
			f.agrees(t, page)
		}
	}
	c.nodes[killed].Start(t)
}

// answer answers the only open pending action, on a server.
func (c *cluster) answer(t *testing.T, n *node, key string) {
	t.Helper()
	s := n.session(t, key)
	var open []shoal.PendingAction
	for p, err := range s.PendingActions(t.Context(), client.PendingOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, p)
	}
	if len(open) != 1 {
		t.Fatalf("%d pending actions are open on %s, want 1", len(open), n.name)
	}
	if _, err := s.AnswerPending(t.Context(), open[0].ID, shoal.PendingAnswer{Result: json.RawMessage(`{"taken":true}`)}); err != nil {
		t.Fatal(err)
	}
}

// checkRun checks that a run has one complete message, with each of its texts once.
func checkRun(t *testing.T, page []shoal.Message, want ...string) {
	t.Helper()
	var texts []string
	n := 0
	for _, m := range page {
		if m.RunID == nil {
			continue
		}
		n++
		if m.Status != shoal.MessageCompleted {
			t.Errorf("the message of the run is %s", m.Status)
		}
		for _, p := range m.Parts {
			if p.Type == shoal.TextPart {
				texts = append(texts, p.Text)
			}
		}
	}
	if n != 1 || !slices.Equal(texts, want) {
		t.Errorf("the run has %d messages with the texts\n%s", n, strings.Join(texts, "\n"))
	}
}
