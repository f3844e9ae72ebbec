package cluster

import (
	"context"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// A program whose calls reach all servers in turn executes a run: it writes a text word by
// word, asks for a permission, which is given on one server while another is dead, and
// writes another text. Followers on all servers see every word: one message, each text once.
func programCrossesServers(t *testing.T, c *cluster) {
	dan := c.newKey(t, "dan", shoal.Human)
	clerk := c.newKey(t, "clerk", shoal.Agent)
	if _, err := c.admin(t, 0).PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(`{"version": "1.0", "agent": {"name": "Clerk"}, "remote": {}}`)); err != nil {
		t.Fatal(err)
	}
	c.space(t, "harbour", "dan", "clerk")
	var followers []*follower
	for _, n := range c.nodes {
		followers = append(followers, n.follow(t, *dan.Secret, "harbour"))
	}
	verdict := make(chan client.Verdict, 1)
	stop := c.serveClerk(t, *clerk.Secret, func(_ context.Context, w *client.Work) error {
		if err := speak(w, firstText); err != nil {
			return err
		}
		v, err := w.Permission("hire", "hire", "Hire a boat", map[string]string{"boat": "sail"})
		if err != nil {
			return err
		}
		verdict <- v
		return speak(w, secondText)
	})
	defer stop()
	if _, err := c.nodes[1].session(t, *dan.Secret).Post(t.Context(), "harbour", say("A boat, please.", "clerk")); err != nil {
		t.Fatal(err)
	}
	for _, f := range followers {
		until(t, "the permission is asked on "+f.node.name, patience, func() bool { return f.saw(shoal.EventPendingOpened) > 0 })
		if f.saw(shoal.EventTextDelta) < 5 {
			t.Errorf("the follower on %s got %d deltas", f.node.name, f.saw(shoal.EventTextDelta))
		}
	}
	const killed = 0
	c.balancer.out[killed].Store(true)
	c.nodes[killed].Signal(syscall.SIGKILL)
	<-c.nodes[killed].Ended
	c.approve(t, c.nodes[2], *dan.Secret)
	if v := <-verdict; !v.Approved || v.By != "dan" {
		t.Errorf("the verdict is %+v", v)
	}
	for i, f := range followers {
		if i != killed {
			until(t, "the message is complete on "+f.node.name, patience, func() bool { return f.saw(shoal.EventMessageCompleted) > 0 })
		}
	}
	page, err := c.admin(t, 1).Messages(t.Context(), "harbour", client.MessagesOptions{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	checkRun(t, page, firstText, secondText)
	for i, f := range followers {
		if i != killed {
			f.agrees(t, page)
		}
	}
	c.nodes[killed].Start(t)
	c.balancer.out[killed].Store(false)
}

// speak writes a text word by word.
func speak(w *client.Work, text string) error {
	for word := range strings.SplitAfterSeq(text, " ") {
		if err := w.Text(word); err != nil {
			return err
		}
		<-time.After(10 * time.Millisecond) // so that the words come in several reports
	}
	return nil
}

// serveClerk executes the runs of clerk through all servers in turn.
func (c *cluster) serveClerk(t *testing.T, key string, handle client.Handler) (stop func()) {
	t.Helper()
	reach, err := client.New(client.Options{URL: "http://" + balanced, Key: key, HTTP: c.balancer.client()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := reach.Session(shoal.DefaultSession).Serve(ctx, "clerk", client.ServeOptions{Log: func(err error) { t.Logf("the program: %v", err) }}, handle); err != nil {
			t.Errorf("the program: %v", err)
		}
	})
	return func() { cancel(); running.Wait() }
}

// approve approves the only open pending action, on a server.
func (c *cluster) approve(t *testing.T, n *node, key string) {
	t.Helper()
	s := n.session(t, key)
	yes, approved := true, 0
	for p, err := range s.PendingActions(t.Context(), client.PendingOptions{Space: "harbour"}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.AnswerPending(t.Context(), p.ID, shoal.PendingAnswer{Approved: &yes}); err != nil {
			t.Fatal(err)
		}
		approved++
	}
	if approved != 1 {
		t.Fatalf("%d pending actions are open on %s, want 1", approved, n.name)
	}
}
